"""What the catalogue lists, and what it says of a broken one."""

from pathlib import Path

import pytest

from voice_agent.catalogue import Catalogue
from voice_agent.errors import CatalogueError

SHIPPED = Path(__file__).parent.parent / "models" / "catalogue.toml"


def test_the_catalogue_is_the_one_in_the_folder_of_models() -> None:
    assert Catalogue.load() == Catalogue.load(SHIPPED)


@pytest.mark.parametrize(
    ("role", "default", "small"),
    [
        ("stt", "whisper-base", "whisper-tiny.en"),
        ("tts", "en_US-joe-medium", "en_US-joe-medium"),
        ("llm", "qwen2.5-coder-1.5b-instruct", "qwen2.5-coder-0.5b-instruct"),
        ("wake", "hey_jarvis", "hey_jarvis"),
    ],
)
def test_each_role_has_its_default(role: str, default: str, small: str) -> None:
    catalogue = Catalogue.load()
    assert catalogue.default(role).name == default  # type: ignore[arg-type]
    assert catalogue.default(role, small=True).name == small  # type: ignore[arg-type]


def test_a_role_without_a_default_says_so() -> None:
    with pytest.raises(CatalogueError, match="turn_end"):
        Catalogue.load().default("turn_end")


def test_an_unknown_model_is_answered_with_the_known_ones() -> None:
    with pytest.raises(CatalogueError, match="no model 'whisper-huge'.*whisper-base.*alexa"):
        Catalogue.load().model("whisper-huge")


@pytest.mark.parametrize(
    ("was", "becomes", "complaint"),
    [
        ("[[model]]", "[[model", "is not TOML.*line 8"),
        ('sha256 = "d01c', 'sha256 = "D', "model 'whisper-base' file 'model.bin' sha256"),
        ("size_bytes = 2309", "size_bytes = 0", "file 'config.json' size_bytes: .*greater than 0"),
        ("licence", "license", "model 'whisper-base' licence: Field required"),
        ("{ hub", "{ hob", "file 'model.bin' sources number 1: is neither"),
        ("sources = [", "sources = [[], ", "file 'model.bin' sources number 1: is neither"),
        ("72608766", "72608765", "file 'model.bin': the pieces of 'packages' do not add up"),
        ('"config.json"', '"../config.json"', "not a path inside the model's folder"),
        ('name = "alexa"', "", "model number 10 name: Field required"),
        ('name = "alexa"', 'name = "okay_nabu"', "lists 'okay_nabu' twice"),
        ('"small"', '"default"', "several default models for stt"),
        ("ships_in", "#", "model 'hey_jarvis': needs either files or 'ships_in'"),
    ],
)
def test_a_broken_row_is_named(tmp_path: Path, was: str, becomes: str, complaint: str) -> None:
    broken = tmp_path / "catalogue.toml"
    broken.write_text(SHIPPED.read_text().replace(was, becomes, 1))
    with pytest.raises(CatalogueError, match=complaint):
        Catalogue.load(broken)


def test_a_catalogue_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="nowhere.toml.*No such file"):
        Catalogue.load(tmp_path / "nowhere.toml")
