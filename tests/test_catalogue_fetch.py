"""Fetching from a hub on the loopback interface, and everything that can go wrong with it."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from local_hub import LocalHub, closed_address, local_hub
from local_models import HUB_PATH, Watcher, file_row, hub_model, model_of

from voice_agent.catalogue import Hub, Model, fetch, locate
from voice_agent.errors import DownloadFailed

CONTENT = random.Random(1).randbytes(300_000)


@pytest.fixture
def server() -> Iterator[LocalHub]:
    with local_hub() as hub:
        hub.files[HUB_PATH] = CONTENT
        yield hub


def pull(server: LocalHub, models: Path, model: Model, watcher: Watcher | None = None) -> Path:
    watcher = watcher or Watcher()
    hub = Hub(server.address, note=watcher.note)
    return fetch(model, models, progress=watcher, hub=hub) / "weights.bin"


def leftovers(models: Path) -> list[str]:
    return sorted(path.name for path in models.rglob("*") if not path.name.startswith("."))


def test_a_file_takes_its_name_when_its_hash_matches(server: LocalHub, tmp_path: Path) -> None:
    assert pull(server, tmp_path, hub_model(CONTENT)).read_bytes() == CONTENT
    assert leftovers(tmp_path) == ["tiny", "weights.bin"]


def test_a_models_folder_is_closed_to_others(server: LocalHub, tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir(mode=0o755)
    assert pull(server, tmp_path, hub_model(CONTENT)).parent.stat().st_mode & 0o777 == 0o700


def test_what_is_there_is_not_fetched_again(server: LocalHub, tmp_path: Path) -> None:
    pull(server, tmp_path, hub_model(CONTENT))
    pull(server, tmp_path, hub_model(CONTENT))
    assert server.starts == [0]


def test_a_connection_that_is_cut_is_taken_up_again(server: LocalHub, tmp_path: Path) -> None:
    server.cuts_bytes = [100_000, 50_000]
    assert pull(server, tmp_path, hub_model(CONTENT)).read_bytes() == CONTENT
    assert server.starts == [0, 100_000, 150_000]


def test_a_lost_connection_says_how_to_go_on_and_the_next_pull_does(
    server: LocalHub, tmp_path: Path
) -> None:
    server.cuts_bytes = [100_000, 0]
    with pytest.raises(DownloadFailed, match="was lost.*again to continue.*models pull tiny"):
        pull(server, tmp_path, hub_model(CONTENT))
    assert leftovers(tmp_path) == ["tiny", "weights.bin.part"]
    assert pull(server, tmp_path, hub_model(CONTENT)).read_bytes() == CONTENT
    assert server.starts == [0, 100_000, 100_000]


def test_ctrl_c_keeps_what_came_for_the_next_pull(server: LocalHub, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        pull(server, tmp_path, hub_model(CONTENT), Watcher(stop_at=1))
    assert pull(server, tmp_path, hub_model(CONTENT)).read_bytes() == CONTENT
    assert server.starts[1] > 0


def test_a_hub_that_knows_no_ranges_sends_all_again(server: LocalHub, tmp_path: Path) -> None:
    server.knows_range = False
    server.cuts_bytes = [100_000]
    assert pull(server, tmp_path, hub_model(CONTENT)).read_bytes() == CONTENT


def test_a_wrong_hash_is_an_error_and_leaves_nothing(server: LocalHub, tmp_path: Path) -> None:
    server.files[HUB_PATH] = bytes(len(CONTENT))
    with pytest.raises(DownloadFailed, match="sent sha256 [0-9a-f]{64} instead of [0-9a-f]{64}"):
        pull(server, tmp_path, hub_model(CONTENT))
    assert leftovers(tmp_path) == ["tiny"]


def test_a_file_that_is_too_long_is_refused(server: LocalHub, tmp_path: Path) -> None:
    server.files[HUB_PATH] = CONTENT + b"more"
    with pytest.raises(DownloadFailed, match="more than 300,000 bytes"):
        pull(server, tmp_path, hub_model(CONTENT))


def test_a_beginning_that_was_spoilt_is_fetched_again(server: LocalHub, tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "weights.bin.part").write_bytes(bytes(1000))
    assert pull(server, tmp_path, hub_model(CONTENT)).read_bytes() == CONTENT
    assert server.starts == [1000, 0]


def test_a_wrong_file_in_place_is_named_and_replaced(server: LocalHub, tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "weights.bin").write_bytes(b"half")
    watcher = Watcher()
    assert pull(server, tmp_path, hub_model(CONTENT), watcher).read_bytes() == CONTENT
    assert "has 4 bytes instead of 300,000; it will be replaced" in watcher.notes[0]


def test_a_wrong_file_stays_until_the_right_one_is_there(server: LocalHub, tmp_path: Path) -> None:
    server.files.clear()
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "weights.bin").write_bytes(b"half")
    with pytest.raises(DownloadFailed, match="404"):
        pull(server, tmp_path, hub_model(CONTENT))
    assert (tmp_path / "tiny" / "weights.bin").read_bytes() == b"half"


def test_a_full_disk_is_named_and_freeing_it_goes_on(server: LocalHub, tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    part = tmp_path / "tiny" / "weights.bin.part"
    part.symlink_to("/dev/full")
    with pytest.raises(DownloadFailed, match="No space left on device.*to continue"):
        pull(server, tmp_path, hub_model(CONTENT))
    assert not (tmp_path / "tiny" / "weights.bin").exists()
    part.unlink()
    assert pull(server, tmp_path, hub_model(CONTENT)).read_bytes() == CONTENT


def test_a_file_that_cannot_fit_is_not_begun(server: LocalHub, tmp_path: Path) -> None:
    row = file_row(CONTENT, {"hub": "owner/repo@abc:weights.bin"}) | {"size_bytes": 10**15}
    with pytest.raises(DownloadFailed, match="needs 1,000,000,000 MB more and .* MB are free"):
        pull(server, tmp_path, model_of(row))
    assert server.starts == []


def test_a_folder_that_cannot_be_written_is_named(server: LocalHub, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DownloadFailed, match="cannot write to .*file/tiny"):
        pull(server, tmp_path / "file", hub_model(CONTENT))


def test_a_hub_out_of_reach_is_tried_and_named_once(tmp_path: Path) -> None:
    watcher = Watcher()
    hub = Hub(closed_address(), note=watcher.note)
    for name in ("one", "two"):
        with pytest.raises(DownloadFailed, match="cannot be reached"):
            fetch(hub_model(CONTENT, name), tmp_path, progress=watcher, hub=hub)
    assert len(watcher.notes) == 1


def test_two_pulls_at_once_fetch_the_file_once(server: LocalHub, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        paths = [pool.submit(pull, server, tmp_path, hub_model(CONTENT)) for _ in range(4)]
    assert {path.result().read_bytes() for path in paths} == {CONTENT}
    assert server.starts == [0]


def test_what_a_killed_pull_left_is_cleared(server: LocalHub, tmp_path: Path) -> None:
    (tmp_path / "tiny" / ".pull-killed" / "deep").mkdir(parents=True)
    pull(server, tmp_path, hub_model(CONTENT))
    assert not (tmp_path / "tiny" / ".pull-killed").exists()


def test_a_model_just_fetched_is_located(server: LocalHub, tmp_path: Path) -> None:
    path = pull(server, tmp_path, hub_model(CONTENT))
    assert locate(hub_model(CONTENT), tmp_path) == path.parent
