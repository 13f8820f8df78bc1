"""The verbs ``models list``, ``pull`` and ``verify``."""

import argparse
import io
import json
from pathlib import Path

import pytest
from local_models import hub_model

from voice_agent.catalogue.sources import Part
from voice_agent.cli import models
from voice_agent.cli.progress import Bars, Lines, size_text
from voice_agent.errors import CatalogueError, ModelMismatch, ModelMissing, UsageError


def run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    models.add(parser.add_subparsers())
    args = parser.parse_args(["models", *argv])
    code: int = args.run(args)
    return code


def rows(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {line["name"]: line for line in lines}


def test_list_shows_what_is_here_and_what_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "smart-turn-v3.2").mkdir()
    (tmp_path / "smart-turn-v3.2" / "smart-turn-v3.2-cpu.onnx").touch()
    assert run("list", "--json", "--folder", str(tmp_path)) == 0
    listed = rows(capsys)
    assert listed["whisper-base"]["state"] == "missing"
    assert listed["smart-turn-v3.2"]["state"] == "mismatch"
    assert listed["hey_jarvis"]["state"] == "present"


def test_list_is_a_line_for_each_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "--folder", str(tmp_path)) == 0
    out = capsys.readouterr().out
    assert "whisper-base                 stt       default       147.9 MB  MIT" in out


def test_verify_of_good_models_is_quiet_success(
    models_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("verify", "en_US-joe-medium", "--json", "--folder", str(models_dir)) == 0
    assert rows(capsys)["en_US-joe-medium"]["state"] == "present"


def test_verify_names_every_model_that_is_not_right(tmp_path: Path) -> None:
    for name in ("whisper-base", "smart-turn-v3.2"):
        (tmp_path / name).mkdir()
    with pytest.raises(ModelMissing, match="models pull whisper-base smart-turn-v3.2 --folder"):
        run("verify", "--folder", str(tmp_path))


def test_verify_of_a_spoilt_model_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "smart-turn-v3.2" / "smart-turn-v3.2-cpu.onnx"
    file.parent.mkdir()
    file.touch()
    with pytest.raises(ModelMismatch, match="smart-turn-v3.2-cpu.onnx has 0 bytes"):
        run("verify", "--folder", str(tmp_path))


def test_verify_without_any_model_says_how_to_get_some(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="models pull --folder"):
        run("verify", "--folder", str(tmp_path))


def test_pull_of_what_is_here_fetches_nothing(
    models_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("pull", "--small", "--folder", str(models_dir)) == 0
    assert "en_US-joe-medium" in capsys.readouterr().out


def test_pull_of_an_unknown_model_fails_before_it_fetches(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="no model 'nonsense'"):
        run("pull", "whisper-base", "nonsense", "--folder", str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_pull_takes_one_way_to_choose(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        run("pull", "whisper-base", "--all", "--folder", str(tmp_path))


def part_of(tmp_path: Path, have_bytes: int) -> Part:
    path = tmp_path / "weights.bin.part"
    path.write_bytes(bytes(have_bytes))
    return Part(path, 1000)


def test_without_a_terminal_each_tenth_is_a_line(tmp_path: Path) -> None:
    stream, seconds = io.StringIO(), iter([0.0, 1.0, 2.0])
    with Lines(stream, clock=lambda: next(seconds)).file("w", part_of(tmp_path, 100)) as moved:
        for now_bytes in (150, 300, 299, 1000):
            moved(now_bytes)
    assert stream.getvalue().splitlines() == [
        "w: 1.0 kB, going on at 10 %",
        "w: 30 %, 200 bytes/s",
        "w: 100 %, 450 bytes/s",
    ]


def test_a_bar_starts_where_the_last_pull_ended(tmp_path: Path) -> None:
    stream = io.StringIO()
    with Bars(stream).file("weights.bin", part_of(tmp_path, 500)) as moved:
        moved(1000)
        moved(900)
    assert "weights.bin:  50%" in stream.getvalue()
    assert "100%" in stream.getvalue().splitlines()[-1]


def test_sizes_are_read_as_people_say_them() -> None:
    assert [size_text(n) for n in (12, 4794, 63_206_088, 2.5e9)] == [
        "12 bytes",
        "4.8 kB",
        "63.2 MB",
        "2.5 GB",
    ]


def test_a_models_size_is_that_of_its_files() -> None:
    assert hub_model(b"12345").size_bytes == 5
