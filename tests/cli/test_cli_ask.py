"""``ask`` as a user runs it, with the small models."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any

import pytest

from voice_agent.audio.format import read_recording
from voice_agent.cli.ask import question_from

ROOT = Path(__file__).parent.parent.parent
MODEL = "qwen2.5-coder-0.5b-instruct"
QUESTION = "Which colour is the guest room painted?"
DOCUMENT = (
    "# Guest room\n\nThe guest room is painted green. The bed was bought in 2019.\n\n"
    "## Heating\n\nThe heater in the guest room must be off when the window is open.\n"
)
ENDINGS = ("answer", "cancelled", "error")
Env = dict[str, str]
Rows = list[dict[str, Any]]


def ask(
    env: Env, *args: str, text: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the program; new files are open to all, unless it closes them."""
    command = [sys.executable, "-m", "voice_agent", *args]
    return subprocess.run(
        command, env=env, input=text, cwd=cwd, capture_output=True, text=True, check=False, umask=0
    )


def rows(text: str) -> Rows:
    return [json.loads(line) for line in text.splitlines()]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def home_in(folder: Path) -> Env:
    places = {
        f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "DATA", "CACHE")
    }
    return (
        os.environ
        | places
        | {
            "XDG_RUNTIME_DIR": str(folder),
            "VOICE_AGENT_LLM__MODEL": MODEL,
            "VOICE_AGENT_RESEARCH__MAX_STEPS": "2",
            "VOICE_AGENT_STT__MODEL": "whisper-tiny.en",
            "PULSE_SERVER": "unix:/nonexistent",
            "VOICE_AGENT_AUDIO__OUTPUT_DEVICE": "not connected",
        }
    )


@pytest.fixture
def empty(tmp_path: Path) -> Env:
    """A user who has just begun, on a machine without a loudspeaker."""
    return home_in(tmp_path)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Env:
    """A user with one document, on a machine without a loudspeaker."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "documents").mkdir()
    (folder / "documents" / "room.md").write_text(DOCUMENT)
    env = home_in(folder)
    assert ask(env, "library", "add", str(folder / "documents")).returncode == 0
    return env


@pytest.fixture(scope="module")
def spoken(home: Env, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The question as a recording."""
    file = tmp_path_factory.mktemp("spoken") / "question.wav"
    assert ask(home, "say", QUESTION, "--out", str(file)).returncode == 0
    return file


@pytest.fixture(scope="module")
def answered(home: Env, spoken: Path) -> tuple[Rows, str, Path]:
    """The events of a recorded question, what stood on stderr, and the spoken answer."""
    out = spoken.with_name("answer.wav")
    done = ask(home, "ask", "--audio", str(spoken), "--out", str(out), "--json")
    assert done.returncode == 0, done.stderr
    return rows(done.stdout), done.stderr, out


def test_a_recorded_question_is_looked_up_and_answered(
    answered: tuple[Rows, str, Path], spoken: Path
) -> None:
    events, _, _ = answered
    transcript = next(e for e in events if e["event"] == "transcript")
    assert "guest room" in transcript["text"] and transcript["file"] == str(spoken)
    found = next(e for e in events if e["event"] == "tool_result")
    assert (found["status"], events[-1]["event"]) == ("ok", "answer")
    assert events[-1]["text"] and events[-1]["spoken"]


def test_it_is_told_event_by_event_and_ends_once(answered: tuple[Rows, str, Path]) -> None:
    events, _, _ = answered
    names = [e["event"] for e in events]
    assert names[0] == "transcript" and names[-1] == "answer"
    assert {"round", "tool_call", "tool_result", "sentence", "playback_ended"} <= set(names)
    assert sum(name in ENDINGS for name in names) == 1
    assert {e["turn"] for e in events} == {events[-1]["turn"]}
    assert [e["t_s"] for e in events] == sorted(e["t_s"] for e in events)


def test_the_answer_event_is_complete(answered: tuple[Rows, str, Path]) -> None:
    answer = answered[0][-1]
    assert answer["basis"] in ("complete", "forced") and answer["answer_tokens"] > 0
    timings = answer["timings"]
    assert timings["endpoint"] is None
    assert all(timings[name] > 0 for name in ("transcript", "first_token", "first_sound"))


def test_the_answer_is_spoken_into_the_file(answered: tuple[Rows, str, Path], home: Env) -> None:
    heard = set(words(ask(home, "transcribe", str(answered[2])).stdout))
    said = words(answered[0][-1]["spoken"])
    assert sum(word in heard for word in said) > 0.6 * len(said)


def test_a_missing_loudspeaker_is_said_once(answered: tuple[Rows, str, Path]) -> None:
    said = answered[1].splitlines()
    assert len(said) == 1 and "not spoken" in said[0]


def test_a_question_from_a_pipe_gives_the_answer_and_its_sources_only(home: Env) -> None:
    done = ask(home, "ask", "--quiet", text=f"{QUESTION}\n")
    answer, *sources = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert words(answer) and all("room.md" in source for source in sources)


def test_what_it_keeps_is_closed_to_others(home: Env, answered: tuple[Rows, str, Path]) -> None:
    assert ask(home, "settings", "set", "tts.rate", "1").returncode == 0
    kept = [Path(home[f"XDG_{name}_HOME"]) / "voice-agent" for name in ("CONFIG", "DATA", "CACHE")]
    found = [each for folder in kept for each in (folder, *folder.rglob("*"))]
    assert {".toml", ".sqlite3", ".prefix", ".sha256"} <= {each.suffix for each in found}
    assert not [each for each in found if each.stat().st_mode & 0o077]


def test_an_interrupt_while_the_prompt_is_read_ends_it_and_the_next_works(home: Env) -> None:
    command = [sys.executable, "-m", "voice_agent", "ask", "--quiet", "--json", "When is it off?"]
    with subprocess.Popen(
        command, env=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        while '"round"' not in (line := child.stdout.readline()):
            assert line, "it ended before it was interrupted"
        child.send_signal(signal.SIGINT)
        rest, said = child.communicate()
    assert (child.returncode, said) == (130, "")
    (last,) = rows(rest)
    assert (last["event"], last["cause"]) == ("cancelled", "SIGINT")
    listed = rows(ask(home, "history", "--json", "--limit", "1").stdout)
    assert listed[0]["state"] == "cancelled"
    assert ask(home, "ask", "--quiet", QUESTION).returncode == 0


def test_an_interrupt_while_it_starts_is_quiet(home: Env) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "voice_agent", "ask", "--quiet", "Hello?"]
    with subprocess.Popen(
        command, env=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stderr is not None
        while "voice_agent.llm.local" not in child.stderr.readline():
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        out, said = child.communicate()
    assert (child.returncode, out) == (130, "")
    assert "unexpected" not in said and "Traceback" not in said


def test_silence_is_told_from_a_question(home: Env, tmp_path: Path) -> None:
    file = tmp_path / "silence.wav"
    with wave.open(str(file), "wb") as recording:
        recording.setnchannels(1)
        recording.setsampwidth(2)
        recording.setframerate(16_000)
        recording.writeframes(bytes(2 * 16_000 * 60))
    done = ask(home, "ask", "--quiet", "--json", "--audio", str(file))
    *_, event = rows(done.stdout)
    assert (done.returncode, event["event"], event["file"]) == (1, "error", str(file))
    assert "Nothing was said" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "content", [b"", b"This is no sound.\n" * 20, b"RIFF\0\0\0\0WAVE"], ids=["empty", "text", "cut"]
)
def test_a_file_that_is_no_recording_is_named(empty: Env, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "question.wav"
    file.write_bytes(content)
    done = ask(empty, "ask", "--audio", str(file))
    assert (done.returncode, done.stdout) == (1, "")
    assert str(file) in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_recording_that_is_not_there_is_named(empty: Env) -> None:
    done = ask(empty, "ask", "--audio", "missing.wav", "--json")
    assert (done.returncode, rows(done.stdout)[0]["file"]) == (1, "missing.wav")


@pytest.mark.parametrize("text", ["", " \n", "x" * 2_001])
def test_a_question_that_is_none_is_wrong_usage(empty: Env, text: str) -> None:
    done = ask(empty, "ask", "--quiet", text=text)
    assert (done.returncode, done.stdout) == (2, "")


def test_bytes_that_are_no_text_do_not_spoil_a_question() -> None:
    assert question_from(" Where is the caf\udce9? \n") == "Where is the caf??"


def test_text_and_a_recording_are_one_too_many(empty: Env) -> None:
    assert ask(empty, "ask", "Hello?", "--audio", "a.wav").returncode == 2


def test_a_folder_for_the_answer_that_is_missing_is_named_before_any_work(
    empty: Env, tmp_path: Path
) -> None:
    out = tmp_path / "missing" / "answer.wav"
    done = ask(empty, "ask", "--quiet", "--json", "--out", str(out), QUESTION)
    (event,) = rows(done.stdout)
    assert (done.returncode, event["event"], event["file"]) == (1, "error", str(out))


def test_data_that_cannot_be_written_are_named_with_what_to_do(empty: Env) -> None:
    Path(empty["XDG_DATA_HOME"]).write_text("a file is in the way")
    done = ask(empty, "ask", "--quiet", "Hello?")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert f"mv '{empty['XDG_DATA_HOME']}'" in done.stderr and "unexpected" not in done.stderr


def test_an_answer_that_cannot_be_written_is_one_clear_line(home: Env) -> None:
    command = [sys.executable, "-m", "voice_agent", "ask", "--quiet", QUESTION]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, env=home, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == (
        "voice-agent: The output cannot be written: No space left on device. "
        "Make room where it goes, or send it elsewhere.\n"
    )
    listed = rows(ask(home, "history", "--json", "--limit", "1").stdout)
    assert listed[0]["state"] == "cancelled"


def test_a_reader_that_leaves_after_the_first_line_is_no_fault(home: Env) -> None:
    line = f"set -o pipefail; '{sys.executable}' -m voice_agent ask --quiet --json '{QUESTION}'"
    done = subprocess.run(
        ["bash", "-c", f"{line} | head -n 1"], env=home, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "") and len(rows(done.stdout)) == 1
    listed = rows(ask(home, "history", "--json", "--limit", "1").stdout)
    assert listed[0]["state"] == "cancelled"


def test_an_unknown_model_is_answered_with_those_there_are(empty: Env) -> None:
    done = ask(empty | {"VOICE_AGENT_LLM__MODEL": "gpt-9"}, "ask", "--quiet", "Hello?")
    assert done.returncode == 2 and MODEL in done.stderr


@pytest.mark.parametrize("size", [None, 0, 1 << 20], ids=["missing", "empty", "cut"])
def test_a_model_that_is_not_whole_is_3_with_the_command_that_mends_it(
    empty: Env, tmp_path: Path, size: int | None
) -> None:
    shutil.copytree(ROOT / "voice_agent", tmp_path / "voice_agent")  # with no checkout around it
    file = Path(empty["XDG_DATA_HOME"]) / "voice-agent" / "models" / MODEL / f"{MODEL}-q4_k_m.gguf"
    file.parent.mkdir(parents=True)
    if size is not None:
        with (ROOT / "models" / MODEL / file.name).open("rb") as whole:
            file.write_bytes(whole.read(size))
    done = ask(empty, "ask", "--quiet", "Hello?", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert f"voice-agent models pull {MODEL}" in done.stderr and str(file) in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_spoken_answer_is_a_recording(answered: tuple[Rows, str, Path]) -> None:
    assert read_recording(answered[2]).seconds > 0.3
