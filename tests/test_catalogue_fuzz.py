"""No catalogue of models, however damaged, gives anything but models or a clear error."""

from importlib import resources
from pathlib import Path

from fuzzing import PIECES, damaged_inputs

from voice_agent.catalogue import Catalogue
from voice_agent.errors import CatalogueError

TOML = (b"[[model]]", b"[[model.file]]", b"[model]\n", b"nan", b"-5", b"../", b"{}", b"[]", b"true")


def test_no_catalogue_does_harm(tmp_path: Path) -> None:
    whole = (resources.files("voice_agent.catalogue") / "catalogue.toml").read_bytes()
    rows = [b"[[model]]" + row for row in whole.split(b"[[model]]")[1:]]
    file, refused = tmp_path / "catalogue.toml", 0
    for content in damaged_inputs([*rows, b"".join(rows[:3])], usual=300, pieces=PIECES + TOML):
        file.write_bytes(content)
        try:
            models = Catalogue.load(file).models
        except CatalogueError as error:
            assert error.mend
            refused += 1
            continue
        assert all(".." not in part.path.split("/") for model in models for part in model.files)
    assert refused
