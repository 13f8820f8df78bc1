import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from voice_agent.engine import StopFlag
from voice_agent.errors import ModelMismatch, ModelMissing
from voice_agent.phrases import phrase
from voice_agent.speaking import in_sentences
from voice_agent.speech_models import prepare_remarks
from voice_agent.tts import PiperVoice, heard
from voice_agent.tts.piper import portions, with_lengths

NAME = "en_US-joe-medium"
SENTENCE = "The price of the ticket is twenty-five euros, and it's for the two of you."


@pytest.fixture(scope="module")
def network(models_dir: Path) -> Path:
    return models_dir / NAME / f"{NAME}.onnx"


@pytest.fixture(scope="module")
def voice(network: Path) -> Iterator[PiperVoice]:
    voice = PiperVoice.load(network)
    yield voice
    voice.close()


async def test_every_word_has_its_samples_in_order(voice: PiperVoice) -> None:
    speech = await voice.synthesize(SENTENCE)
    edges = [edge for w in speech.words for edge in (w.start_samples, w.end_samples)]
    assert [w.text for w in speech.words] == SENTENCE.split()
    assert edges == sorted(edges)
    assert all(w.end_samples > w.start_samples for w in speech.words)
    assert edges[-1] <= len(speech.sound.samples)


async def test_a_words_samples_hold_its_sound(voice: PiperVoice) -> None:
    speech = await voice.synthesize("One, two, three, four.")
    samples = speech.sound.samples
    inside = [np.abs(samples[w.start_samples : w.end_samples]).mean() for w in speech.words]
    pairs = zip(speech.words, speech.words[1:], strict=False)
    between = [np.abs(samples[a.end_samples : b.start_samples]).mean() for a, b in pairs]
    assert min(inside) > 2 * max(between)


async def test_all_is_heard_at_the_end(voice: PiperVoice) -> None:
    speech = await voice.synthesize(SENTENCE)
    assert heard(speech, len(speech.sound.samples)) == SENTENCE


async def test_sound_is_float32_at_the_voices_rate(voice: PiperVoice) -> None:
    sound = (await voice.synthesize("Hello.")).sound
    assert (sound.samples.dtype, sound.samples.ndim, sound.rate_hz) == (np.float32, 1, 22_050)
    assert 0.2 < sound.seconds < 2
    assert np.abs(sound.samples).max() <= 1


async def test_what_was_prepared_is_not_made_again(network: Path) -> None:
    with PiperVoice.load(network) as voice:
        await prepare_remarks(voice)
        (fallback,) = in_sentences(phrase("fallback", "en"), "en")
        voice._voice = None  # type: ignore[assignment]  # the network is not needed any more
        speech = await voice.synthesize(fallback)
        assert [word.text for word in speech.words] == fallback.split()
        for sentence in in_sentences(phrase("failed", "en"), "en"):  # as `say_after` says it
            assert (await voice.synthesize(sentence)).words


async def test_a_fallback_that_begins_an_answer_was_prepared_by_its_clauses(network: Path) -> None:
    with PiperVoice.load(network) as voice:
        await prepare_remarks(voice, first_clause_chars=25)
        clauses = in_sentences(phrase("fallback", "en"), "en", first_clause_chars=25)
        voice._voice = None  # type: ignore[assignment]  # the network is not needed any more
        assert len(clauses) == 2
        for clause in clauses:
            assert (await voice.synthesize(clause)).words


async def test_between_a_clause_and_its_rest_it_pauses_as_at_a_comma(voice: PiperVoice) -> None:
    text = "If the alarm rings at night, call the caretaker on the ground floor first."
    first, rest = in_sentences(text, "en", first_clause_chars=20)
    alone, after, whole = [await voice.synthesize(each) for each in (first, rest, text)]
    ends = len(alone.sound.samples) - alone.words[-1].end_samples
    apart_s = (ends + after.words[0].start_samples) / voice.rate_hz
    night, call = whole.words[5:7]
    inside_s = (call.start_samples - night.end_samples) / voice.rate_hz
    assert night.text == "night,"
    assert 0.1 < apart_s < inside_s + 0.2


async def test_what_was_prepared_follows_another_rate(network: Path) -> None:
    with PiperVoice.load(network) as voice:
        await voice.prepare(["One, two, three."])
        slow = await voice.synthesize("One, two, three.")
        voice.tune(rate=2, volume=1)
        fast = await voice.synthesize("One, two, three.")
    assert len(fast.sound.samples) < 0.8 * len(slow.sound.samples)


@pytest.mark.parametrize("text", ["", "...", " \n", "\x00", "?!", "😀"])
async def test_nothing_to_say_is_empty_speech(voice: PiperVoice, text: str) -> None:
    speech = await voice.synthesize(text)
    assert (len(speech.sound.samples), speech.words) == (0, ())


@pytest.mark.parametrize(
    "text", ["你好，世界", "a\x00b", "\udc80 odd", "[[nonsense]] here", "ñ ß ø ﷺ"]
)
async def test_odd_text_does_not_fail(voice: PiperVoice, text: str) -> None:
    assert (await voice.synthesize(text)).sound.seconds < 20


async def test_a_stopped_turn_gets_no_sound(voice: PiperVoice) -> None:
    stop = StopFlag()
    stop.set()
    assert (await voice.synthesize(SENTENCE, stop)).words == ()


async def test_rate_and_volume(network: Path) -> None:
    plain, fast = PiperVoice.load(network), PiperVoice.load(network, rate=2.0, volume=0.1)
    text = "The shop is open from nine to five."
    slow_sound, fast_sound = [(await v.synthesize(text)).sound for v in (plain, fast)]
    plain.close()
    fast.close()
    assert fast_sound.seconds < 0.7 * slow_sound.seconds
    assert np.abs(fast_sound.samples).max() < 0.11


def test_long_text_goes_in_portions_and_loses_nothing() -> None:
    text = ("word " * 70 + "end. ") * 30
    cut = portions(text)
    assert max(map(len, cut)) <= 301
    assert " ".join(cut).split() == text.split()
    assert "".join(portions("x" * 10_000)) == "x" * 10_000


@pytest.mark.parametrize("keep", [0, 1000, -10])
def test_a_damaged_voice_names_the_command_that_mends_it(
    network: Path, tmp_path: Path, keep: int
) -> None:
    damaged = tmp_path / network.name
    damaged.write_bytes(network.read_bytes()[:keep] if keep else b"")
    shutil.copy(f"{network}.json", tmp_path)
    with pytest.raises(ModelMismatch, match=f"voice-agent models pull {NAME}"):
        PiperVoice.load(damaged)


@pytest.mark.parametrize("content", ["", "{}", "[]", "no json"])
def test_a_damaged_description_is_a_mismatch(network: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / network.name).write_bytes(b"")
    (tmp_path / f"{network.name}.json").write_text(content)
    with pytest.raises(ModelMismatch):
        PiperVoice.load(tmp_path / network.name)


def test_a_missing_voice_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="models pull voice"):
        PiperVoice.load(tmp_path / "voice.onnx")


def test_a_network_without_lengths_stays_as_it_is() -> None:
    assert with_lengths(b"nothing") == b"nothing"
