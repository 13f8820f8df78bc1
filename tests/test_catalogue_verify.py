"""Whether the models on disk are the catalogue's."""

import os
from pathlib import Path

import pytest
from local_models import hub_model

from voice_agent.catalogue import Catalogue, Model, examine, locate, overall, verify
from voice_agent.errors import ModelMismatch, ModelMissing

CONTENT = b"weights" * 1000
MODEL = hub_model(CONTENT)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "tiny" / "weights.bin"
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    return path


@pytest.mark.parametrize(
    "name",
    ["whisper-base", "whisper-tiny.en", "en_US-joe-medium", "qwen2.5-coder-0.5b-instruct"],
)
def test_the_models_on_disk_are_the_catalogues(models_dir: Path, name: str) -> None:
    assert verify(Catalogue.load().model(name), models_dir) == models_dir / name


def test_a_right_file_is_located(weights: Path, tmp_path: Path) -> None:
    assert locate(MODEL, tmp_path) == weights.parent
    assert MODEL.weights(tmp_path) == weights


def test_a_missing_model_names_the_command_that_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=f"models pull tiny --folder {tmp_path}") as caught:
        locate(MODEL, tmp_path)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("content", [b"", CONTENT[:-1], CONTENT + b"s", CONTENT[::-1]])
def test_a_spoilt_file_is_a_mismatch(weights: Path, tmp_path: Path, content: bytes) -> None:
    weights.write_bytes(content)
    with pytest.raises(ModelMismatch, match=r"weights.bin has .* instead of"):
        locate(MODEL, tmp_path)


def test_a_change_after_the_first_look_is_seen(weights: Path, tmp_path: Path) -> None:
    locate(MODEL, tmp_path)
    weights.write_bytes(CONTENT[::-1])
    os.utime(weights, ns=(0, 0))
    with pytest.raises(ModelMismatch):
        locate(MODEL, tmp_path)


def test_only_verify_reads_again_what_was_hashed_before(weights: Path, tmp_path: Path) -> None:
    locate(MODEL, tmp_path)
    status = weights.stat()
    weights.write_bytes(CONTENT[::-1])
    os.utime(weights, ns=(status.st_atime_ns, status.st_mtime_ns))
    locate(MODEL, tmp_path)
    with pytest.raises(ModelMismatch, match="sha256"):
        verify(MODEL, tmp_path)


def test_a_broken_note_of_hashes_is_made_anew(weights: Path, tmp_path: Path) -> None:
    (weights.parent / ".verified.json").write_text("{broken")
    assert locate(MODEL, tmp_path) == weights.parent


def test_a_wake_word_is_found_in_its_library(tmp_path: Path) -> None:
    path = locate(Catalogue.load().model("hey_jarvis"), tmp_path)
    assert path.name == "hey_jarvis.tflite"
    assert path.is_file()


def test_a_library_that_is_not_installed_is_named(tmp_path: Path) -> None:
    model = Model.model_validate(
        {
            "name": "word",
            "title": "A wake word",
            "role": "wake",
            "choice": "optional",
            "licence": "MIT",
            "memory_mb": 1,
            "ships_in": "not-installed-here:word.tflite",
        }
    )
    assert overall(examine(model, tmp_path)) == "missing"
    with pytest.raises(ModelMissing, match="Install the package not-installed-here"):
        locate(model, tmp_path)
