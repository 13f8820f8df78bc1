import io
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from voice_agent.audio.format import (
    LONGEST_S,
    SAMPLE_RATE_HZ,
    Sound,
    read_recording,
    resample,
    write_wav,
)
from voice_agent.errors import RecordingError


def tone(rate_hz: int, seconds: float = 1.0, *, hz: float = 440.0) -> np.ndarray:
    t = np.arange(int(rate_hz * seconds)) / rate_hz
    return (0.5 * np.sin(2 * np.pi * hz * t)).astype(np.float32)


def pitch_hz(sound: Sound) -> float:
    spectrum = np.abs(np.fft.rfft(sound.samples))
    return float(spectrum.argmax() * sound.rate_hz / len(sound.samples))


def wav_bytes(samples: np.ndarray, rate_hz: int = 16_000) -> bytearray:
    coded = io.BytesIO()
    soundfile.write(coded, samples, rate_hz, format="WAV", subtype="PCM_16")
    return bytearray(coded.getvalue())


def refused(path: Path) -> str:
    with pytest.raises(RecordingError) as caught:
        read_recording(path)
    assert caught.value.file == str(path)
    assert caught.value.mend
    return caught.value.message


@pytest.mark.parametrize("ending", ["wav", "flac", "ogg"])
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100, 48_000])
def test_any_rate_and_container_becomes_16_khz(tmp_path: Path, ending: str, rate_hz: int) -> None:
    path = tmp_path / f"tone.{ending}"
    soundfile.write(path, tone(rate_hz), rate_hz)
    sound = read_recording(path)
    assert sound.rate_hz == SAMPLE_RATE_HZ
    assert sound.samples.dtype == np.float32
    assert abs(len(sound.samples) - 16_000) <= 2
    assert abs(pitch_hz(sound) - 440) < 2


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"])
def test_any_sample_format_is_read(tmp_path: Path, subtype: str) -> None:
    path = tmp_path / "tone.wav"
    soundfile.write(path, tone(16_000), 16_000, subtype=subtype)
    assert np.allclose(read_recording(path).samples, tone(16_000), atol=0.02)


def test_channels_are_averaged(tmp_path: Path) -> None:
    path = tmp_path / "three.flac"
    soundfile.write(path, np.stack([tone(16_000)] * 2 + [np.zeros(16_000)], axis=1), 16_000)
    assert np.allclose(read_recording(path).samples, tone(16_000) * 2 / 3, atol=0.001)


def test_channels_that_cancel_each_other_are_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "antiphase.wav"
    soundfile.write(path, np.stack([tone(16_000), -tone(16_000)], axis=1), 16_000)
    assert np.allclose(np.abs(read_recording(path).samples).max(), 0.5, atol=0.01)


def test_sound_over_full_scale_is_scaled_down(tmp_path: Path) -> None:
    path = tmp_path / "loud.wav"
    soundfile.write(path, tone(16_000) * 32_768, 16_000, subtype="FLOAT")
    assert np.abs(read_recording(path).samples).max() == pytest.approx(1.0)


def test_resampling_in_blocks_leaves_no_seam(tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    soundfile.write(path, tone(48_000, 60, hz=100), 48_000)
    samples = read_recording(path).samples[100:-100]
    assert np.abs(np.diff(samples)).max() < 0.5 * 2 * np.pi * 100 / 16_000 * 1.02


@pytest.mark.parametrize("size", [0x7FFF_F000, 0x8000_0000, 0xFFFF_FFFF])
def test_a_wav_whose_header_does_not_know_its_size_is_read(tmp_path: Path, size: int) -> None:
    content = wav_bytes(tone(16_000))
    content[40:44] = struct.pack("<I", size)
    path = tmp_path / "piped.wav"
    path.write_bytes(content)
    assert read_recording(path).seconds == 1


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "nothing.wav")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is a folder" in refused(tmp_path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.wav").touch()
    assert "0 bytes" in refused(tmp_path / "empty.wav")


def test_a_device_is_refused() -> None:
    assert "not a regular file" in refused(Path("/dev/null"))


@pytest.mark.parametrize("name", ["note.wav", "note.flac", "note.raw", "note"])
def test_text_is_no_recording(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("Dear diary, " * 1000)
    assert "not a recording" in refused(tmp_path / name)


def test_a_wav_without_samples_is_refused(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "none.wav", np.zeros(0), 16_000)
    assert "no samples" in refused(tmp_path / "none.wav")


def test_a_wav_that_ends_early_says_how_much_is_missing(tmp_path: Path) -> None:
    content = wav_bytes(tone(16_000, 3))
    (tmp_path / "cut.wav").write_bytes(content[: len(content) // 3])
    assert "2.0 s of 3.0 s are missing" in refused(tmp_path / "cut.wav")


@pytest.mark.parametrize("share", [0.001, 0.01, 0.5])
def test_a_flac_that_ends_early_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "cut.flac"
    noise = np.random.default_rng(0).normal(0, 0.1, 160_000)
    soundfile.write(path, noise, 16_000)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    refused(path)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_samples_that_are_no_numbers_are_refused(tmp_path: Path, value: float) -> None:
    samples = tone(16_000)
    samples[500] = value
    soundfile.write(tmp_path / "odd.wav", samples, 16_000, subtype="FLOAT")
    assert "not numbers" in refused(tmp_path / "odd.wav")


def test_an_endless_recording_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "days.wav"
    seconds = LONGEST_S + 60
    header = wav_bytes(tone(16_000))[:44]
    header[40:44] = struct.pack("<I", seconds * 32_000)
    with path.open("wb") as file:
        file.write(header)
        file.truncate(44 + seconds * 32_000)
    assert "longer than 2 hours" in refused(path)


def test_an_impossible_rate_is_refused(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "slow.wav", tone(16_000), 7)
    assert "7 Hz" in refused(tmp_path / "slow.wav")


def test_resample_keeps_length_in_seconds() -> None:
    assert Sound(tone(22_050), 22_050).at(48_000).seconds == pytest.approx(1, abs=0.001)


def test_resample_of_nothing_is_nothing() -> None:
    assert len(resample(np.zeros(0, np.float32), 48_000, 16_000)) == 0


def test_what_is_written_is_16_bit_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    write_wav(path, Sound(tone(16_000), 16_000))
    assert soundfile.info(path).subtype == "PCM_16"
    assert np.allclose(read_recording(path).samples, tone(16_000), atol=1e-4)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.wav"]


def test_full_scale_does_not_wrap(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    write_wav(path, Sound(np.full(100, 1.5, np.float32), 16_000))
    assert read_recording(path).samples.min() > 0.99


def test_writing_through_a_link_replaces_its_target(tmp_path: Path) -> None:
    link = tmp_path / "link.wav"
    link.symlink_to(tmp_path / "target.wav")
    write_wav(link, Sound(tone(16_000), 16_000))
    assert link.is_symlink()
    assert read_recording(tmp_path / "target.wav").seconds == 1


def test_writing_to_a_device_leaves_the_device() -> None:
    write_wav("/dev/null", Sound(tone(16_000), 16_000))
    assert Path("/dev/null").is_char_device()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="cannot be written: no such file"):
        write_wav(tmp_path / "no" / "out.wav", Sound(tone(16_000), 16_000))


def test_a_full_disk_is_said() -> None:
    with pytest.raises(RecordingError, match="no space left"):
        write_wav("/dev/full", Sound(tone(16_000), 16_000))
