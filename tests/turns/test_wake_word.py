import json
import shutil
from pathlib import Path

import numpy as np
import pymicro_wakeword
import pytest
from spoken import say, silence

from voice_agent.errors import ModelMismatch, ModelMissing
from voice_agent.turns.wake_word import BUILT_IN, WakeWords

LIBRARY = Path(pymicro_wakeword.__file__).parent / "models"


def words_in(words: WakeWords, *sounds: np.ndarray) -> list[str]:
    words.feed(silence(1))
    return [found.word for found in words.feed(np.concatenate([*sounds, silence(2)]))]


@pytest.mark.parametrize("word", BUILT_IN)
def test_each_word_is_heard_once_and_no_other(word: str) -> None:
    said = say(word.replace("_", " ").title())
    assert words_in(WakeWords.load(BUILT_IN), said) == [word]


def test_a_word_that_is_not_listened_for_is_not_heard() -> None:
    assert words_in(WakeWords.load(["hey_jarvis"]), say("Alexa")) == []


def test_nothing_is_reset_between_words() -> None:
    sounds = [say("Alexa"), silence(1.5), say("Hey Jarvis"), silence(1.5), say("Alexa")]
    found = words_in(WakeWords.load(["hey_jarvis", "alexa"]), *sounds)
    assert found == ["alexa", "hey_jarvis", "alexa"]


def test_the_same_word_is_not_heard_again_within_the_refractory_time() -> None:
    sounds = [say("Alexa"), silence(1.5), say("Alexa")]
    assert words_in(WakeWords.load(["alexa"], refractory_s=5), *sounds) == ["alexa"]


def test_a_detection_stands_soon_after_the_word() -> None:
    words = WakeWords.load(["alexa"])
    word = say("Alexa")
    found = words.feed(np.concatenate([silence(1), word, silence(1)]))[0]
    assert 0 <= found.at - (16_000 + len(word)) < 0.3 * 16_000
    assert found.score > 0.9


def test_a_lower_threshold_counts_for_as_long_as_it_is_given() -> None:
    words = WakeWords.load(["alexa"], threshold=1.0)
    sound = np.concatenate([silence(1), say("Alexa"), silence(2)])
    found = [words.feed(sound, threshold=threshold) for threshold in (0.7, 1.0)]
    assert [len(some) for some in found] == [1, 0]


def test_a_threshold_that_is_never_reached_hears_nothing() -> None:
    assert words_in(WakeWords.load(["alexa"], threshold=1.0), say("Alexa")) == []


def test_block_sizes_make_no_difference() -> None:
    sound = np.concatenate([silence(1), say("Alexa"), silence(1)])
    whole = WakeWords.load(["alexa"]).feed(sound)
    in_parts = WakeWords.load(["alexa"])
    parts = [
        found
        for part in np.split(sound, range(480, len(sound), 480))
        for found in in_parts.feed(part)
    ]
    assert parts == whole


def test_a_model_of_ones_own_goes_by_its_networks_name(tmp_path: Path) -> None:
    shutil.copy(LIBRARY / "alexa.tflite", tmp_path / "ziggy.tflite")
    content = json.loads((LIBRARY / "alexa.json").read_text()) | {"model": "ziggy.tflite"}
    (tmp_path / "mine.json").write_text(json.dumps(content))
    assert words_in(WakeWords.load([str(tmp_path / "mine.json")]), say("Alexa")) == ["ziggy"]


def test_a_description_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="none.json cannot be read: no such file"):
        WakeWords.load([str(tmp_path / "none.json")])


@pytest.mark.parametrize("text", ["", "[]", '{"model": "x.tflite"}', "\x00"])
def test_a_description_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(ModelMismatch, match="does not describe a microWakeWord model"):
        WakeWords.load([str(tmp_path / "odd.json")])


def described(folder: Path, network: bytes | None) -> str:
    shutil.copy(LIBRARY / "alexa.json", folder / "alexa.json")
    if network is not None:
        (folder / "alexa.tflite").write_bytes(network)
    return str(folder / "alexa.json")


def test_a_network_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="alexa.tflite does not exist"):
        WakeWords.load([described(tmp_path, None)])


@pytest.mark.parametrize("size", [0, 8, 1_000])
def test_a_network_that_is_not_whole_is_refused(tmp_path: Path, size: int) -> None:
    part = (LIBRARY / "alexa.tflite").read_bytes()[:size]
    with pytest.raises(ModelMismatch, match="no TensorFlow Lite model, or not a whole one"):
        WakeWords.load([described(tmp_path, part)])
