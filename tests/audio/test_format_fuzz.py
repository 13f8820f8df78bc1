"""No recording, however damaged, gives anything but sound or a clear error."""

import io
from pathlib import Path

import numpy as np
import soundfile
from fuzzing import damaged_inputs

from voice_agent.audio.format import SAMPLE_RATE_HZ, read_recording
from voice_agent.errors import RecordingError

KINDS = (
    ("WAV", "PCM_16", 16_000, 1),
    ("WAV", "FLOAT", 44_100, 2),
    ("WAV", "IMA_ADPCM", 8_000, 1),
    ("WAVEX", "PCM_24", 48_000, 2),
    ("FLAC", "PCM_16", 16_000, 1),
    ("FLAC", "PCM_24", 48_000, 2),
    ("OGG", "VORBIS", 16_000, 1),
)
HEADER_BYTES = 120
PIECES = (
    b"RIFF",
    b"data",
    b"fmt ",
    b"fLaC",
    b"OggS",
    b"\xff" * 4,
    b"\x00" * 4,
    b"\x7f\xff",
    b"\x80",
)


def recording(kind: str, coding: str, rate_hz: int, channels: int) -> bytes:
    """A tenth of a second of a tone."""
    tone = 0.5 * np.sin(np.arange(rate_hz // 10) / 9)
    coded = io.BytesIO()
    sound = np.column_stack([tone] * channels)
    soundfile.write(coded, sound, rate_hz, format=kind, subtype=coding)
    return coded.getvalue()


def test_no_recording_does_harm(tmp_path: Path) -> None:
    file = tmp_path / "damaged"
    seeds = [recording(*kind) for kind in KINDS]
    read = refused = 0
    for content in damaged_inputs(seeds, usual=300, pieces=PIECES, head=HEADER_BYTES):
        file.write_bytes(content)
        try:
            sound = read_recording(file)
        except RecordingError as error:
            assert error.mend
            refused += 1
            continue
        read += 1
        assert sound.rate_hz == SAMPLE_RATE_HZ
        assert np.isfinite(sound.samples).all()
        assert np.abs(sound.samples).max() <= 1
    assert read
    assert refused
