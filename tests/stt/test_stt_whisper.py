"""Real models on real speech, and on what is none."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from voice_agent.audio.format import Sound, read_recording
from voice_agent.engine import StopFlag
from voice_agent.errors import Cancelled, ModelMismatch, ModelMissing, TranscriptionError
from voice_agent.stt import WhisperTranscriber

ENGLISH = Path("/usr/share/pocketsphinx/test/data/librivox")
FRENCH = Path("/usr/share/asterisk/sounds/fr_CA_f_June")
MUSIC = Path("/usr/share/asterisk/moh")
SENTENCES = {
    "0870": "leisure to consider how much there might be prudently in his power to do for them",
    "0890": "unless to be rather cold-hearted and rather selfish is to be ill-disposed",
    "0930": "he might even have been made amiable himself",
}


@pytest.fixture(scope="module")
def base(models_dir: Path) -> Iterator[WhisperTranscriber]:
    with asyncio.run(WhisperTranscriber.load(models_dir / "whisper-base", threads=2)) as whisper:
        yield whisper


@pytest.fixture(scope="module")
def tiny(models_dir: Path) -> Iterator[WhisperTranscriber]:
    with asyncio.run(WhisperTranscriber.load(models_dir / "whisper-tiny.en", threads=2)) as whisper:
        yield whisper


def english(number: str) -> Sound:
    return read_recording(ENGLISH / f"sense_and_sensibility_01_austen_64kb-{number}.wav")


def with_pauses(*sounds: Sound, pause_s: float) -> Sound:
    pause = np.zeros(int(pause_s * 16_000), np.float32)
    return Sound(np.concatenate([part for s in sounds for part in (pause, s.samples)]), 16_000)


def silence(seconds: float) -> Sound:
    return Sound(np.zeros(int(seconds * 16_000), np.float32), 16_000)


def beep() -> Sound:
    sound = silence(3)
    sound.samples[8_000:16_000] = 0.5 * np.sin(2 * np.pi * 1_000 * np.arange(8_000) / 16_000)
    return sound


def noise() -> Sound:
    return Sound(np.random.default_rng(0).normal(0, 0.1, 480_000).astype(np.float32), 16_000)


def music() -> Sound:
    return read_recording(MUSIC / "manolo_camp-morning_coffee.wav")


@pytest.mark.parametrize("number", SENTENCES)
async def test_read_english_is_written_down(base: WhisperTranscriber, number: str) -> None:
    heard = await base.transcribe(english(number))
    assert SENTENCES[number] in heard.text.lower()
    assert heard.language == "en"
    assert heard.avg_logprob > -0.5


async def test_any_rate_is_understood(base: WhisperTranscriber) -> None:
    heard = await base.transcribe(english("0930").at(44_100))
    assert SENTENCES["0930"] in heard.text.lower()


async def test_another_language_is_written_in_it(base: WhisperTranscriber) -> None:
    heard = await base.transcribe(read_recording(FRENCH / "vm-goodbye.wav"), language="fr")
    assert heard.text.lower().strip(".!") == "au revoir"


async def test_the_language_is_recognised(base: WhisperTranscriber) -> None:
    heard = await base.transcribe(read_recording(FRENCH / "demo-congrats.wav"), language="auto")
    assert heard.language == "fr"
    assert "félicitations" in heard.text.lower()
    assert "simuler les actions d'un téléphone standard" in heard.text.lower()


async def test_a_long_recording_is_written_down_to_its_end(base: WhisperTranscriber) -> None:
    sounds = [english(number) for number in SENTENCES]
    heard = await base.transcribe(with_pauses(*sounds, *sounds, pause_s=8))
    for sentence in SENTENCES.values():
        assert heard.text.lower().count(sentence) == 2


async def test_a_very_quiet_recording_is_understood(base: WhisperTranscriber) -> None:
    quiet = Sound(english("0930").samples * np.float32(0.005), 16_000)
    assert SENTENCES["0930"] in (await base.transcribe(quiet)).text.lower()


@pytest.mark.parametrize(
    "sound", [silence(600), silence(0), beep(), noise(), music()], ids=lambda s: f"{s.seconds:.0f}s"
)
async def test_what_is_no_speech_yields_no_text(base: WhisperTranscriber, sound: Sound) -> None:
    heard = await base.transcribe(sound, language="auto")
    assert (heard.text, heard.language) == ("", "und")


async def test_the_loop_stays_free_while_the_model_works(base: WhisperTranscriber) -> None:
    work = asyncio.create_task(base.transcribe(english("0870")))
    turns = 0
    while not work.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert turns > 3


async def test_a_set_flag_ends_the_work(base: WhisperTranscriber) -> None:
    stop = StopFlag()
    stop.set()
    with pytest.raises(Cancelled):
        await base.transcribe(english("0870"), stop=stop)


async def test_a_cancelled_caller_ends_the_work_and_leaves_the_turn_alone(
    base: WhisperTranscriber,
) -> None:
    stop = StopFlag()
    work = asyncio.create_task(base.transcribe(silence(3000), stop=stop))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not stop.is_set()
    assert SENTENCES["0930"] in (await base.transcribe(english("0930"))).text.lower()


async def test_an_unknown_language_is_named(base: WhisperTranscriber) -> None:
    with pytest.raises(TranscriptionError, match="'xx'.* auto or one of: af, am, .*de"):
        await base.transcribe(silence(1), language="xx")


async def test_an_english_model_refuses_other_languages(tiny: WhisperTranscriber) -> None:
    with pytest.raises(TranscriptionError, match="knows English only, not 'de'"):
        await tiny.transcribe(silence(1), language="de")


async def test_an_english_model_writes_english_down(tiny: WhisperTranscriber) -> None:
    heard = await tiny.transcribe(english("0930"), language="auto")
    assert SENTENCES["0930"] in heard.text.lower()
    assert heard.language == "en"


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("model.bin", 0),
        ("model.bin", 1_000),
        ("model.bin", 20_000_000),
        ("tokenizer.json", 1_000),
        ("config.json", 100),
    ],
)
async def test_a_spoilt_model_says_how_to_fetch_it(
    models_dir: Path, tmp_path: Path, name: str, size: int
) -> None:
    folder = tmp_path / "whisper-tiny.en"
    shutil.copytree(models_dir / "whisper-tiny.en", folder)
    (folder / name).write_bytes((folder / name).read_bytes()[:size])
    with pytest.raises(ModelMismatch, match="voice-agent models pull whisper-tiny.en"):
        await WhisperTranscriber.load(folder, threads=1)


async def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="voice-agent models pull whisper-base"):
        await WhisperTranscriber.load(tmp_path / "whisper-base", threads=1)
