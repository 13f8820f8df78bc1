"""``ask`` and ``bench`` with a model on a server, over the example documents."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from model_server import KEY, NAME, ModelServer
from scripted_server import Answer, call_part, chunk, cut, refused, said, scripted_server

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples" / "documents"
QUESTION = "How often must I clean the pump filter of our own washing machine?"
Env = dict[str, str]
SEARCHES = Answer(
    call_part(id="a", name="search_documents", arguments='{"query": "pump filter cleaning"}'),
    chunk({}, "tool_calls"),
)


def program(env: Env, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "voice_agent", *args]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Env:
    """A user with the example documents, the server's key in a file, and no local model named."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "key").write_text(KEY)
    (folder / "key").chmod(0o600)
    places = {f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "CACHE")}
    settings = {
        "PROVIDER": "openai",
        "REMOTE_MODEL": NAME,
        "API_KEY_FILE": str(folder / "key"),
        "CONTEXT_TOKENS": "4096",
    }
    chosen = {f"VOICE_AGENT_LLM__{key}": value for key, value in settings.items()}
    env = os.environ | places | chosen | {"XDG_RUNTIME_DIR": str(folder)}
    assert program(env, "library", "add", str(EXAMPLES)).returncode == 0
    return env


def served_by(env: Env, address: str, **more: str) -> Env:
    return env | {"VOICE_AGENT_LLM__BASE_URL": address} | more


async def told(env: Env, *args: str) -> tuple[int, list[dict[str, Any]], str]:
    """Run a verb in a process of its own, while the scripted server answers in this one."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "voice_agent", *args, "--json"),
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    assert KEY not in out.decode() + err.decode()
    return process.returncode, rows(out.decode()), err.decode()


async def asked(env: Env) -> tuple[int, list[dict[str, Any]], str]:
    return await told(env, "ask", QUESTION, "--quiet")


def test_a_real_server_answers_from_the_documents(home: Env, served: ModelServer) -> None:
    steps = {"VOICE_AGENT_RESEARCH__MAX_STEPS": "2", "VOICE_AGENT_ANSWER__COMPOSE": "evidence"}
    done = program(served_by(home, served.address, **steps), "ask", QUESTION, "--quiet", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = rows(done.stdout)[-1]
    assert answer["event"] == "answer" and answer["basis"] in ("complete", "forced")
    assert answer["text"] and answer["sources"]
    assert answer["charged_tokens"] > 0


async def test_a_benchmark_names_the_model_on_the_server(home: Env) -> None:
    async with scripted_server(said("Every 3 months.")) as server:
        env = served_by(home, server.address)
        code, (answered, benchmark), err = await told(env, "bench", "--typed", "--ids", "q01")
    assert (code, answered["right"], benchmark["model"], err) == (0, True, NAME, "")


async def test_a_final_answer_keeps_the_exchange_and_repeats_the_question(home: Env) -> None:
    async with scripted_server(SEARCHES, said("Every 3 months.")) as server:
        env = served_by(home, server.address, VOICE_AGENT_RESEARCH__MAX_STEPS="2")
        code, events, _err = await asked(env)
    answer = events[-1]
    assert (code, answer["text"], answer["basis"]) == (0, "Every 3 months.", "forced")
    final = server.asked[-1]
    assert final["tool_choice"] == "none" and final["tools"] == server.asked[0]["tools"]
    assert [m["role"] for m in final["messages"]] == ["system", "user", "assistant", "tool", "user"]
    assert QUESTION in final["messages"][-1]["content"]


async def test_a_server_that_fails_at_the_end_leaves_an_excerpt(home: Env) -> None:
    async with scripted_server(SEARCHES, cut("Every 3")) as server:
        env = served_by(home, server.address, VOICE_AGENT_RESEARCH__MAX_STEPS="2")
        code, events, err = await asked(env)
    answer = events[-1]
    assert (code, answer["basis"], answer["reason"]) == (0, "fallback", "provider")
    assert answer["text"].startswith("Every 3\n") and "pump filter" in answer["text"]
    assert "broke off in mid-answer" in err


async def test_a_server_that_fails_in_research_is_one_clear_line(home: Env) -> None:
    async with scripted_server(refused(401, f"Incorrect API key provided: {KEY}")) as server:
        code, events, err = await asked(served_by(home, server.address))
    assert (code, events[-1]["event"], events[-1]["stage"]) == (1, "error", "llm")
    assert "refused the key (401)" in err and len(err.splitlines()) == 1


def test_a_server_that_is_not_named_is_asked_for(home: Env) -> None:
    done = program(home, "ask", QUESTION, "--quiet")
    assert done.returncode == 2 and "llm.base_url is empty" in done.stderr


async def test_without_a_loudspeaker_a_file_asked_for_is_not_advised(
    home: Env, tmp_path: Path
) -> None:
    silent = {
        "VOICE_AGENT_RESEARCH__MAX_STEPS": "2",
        "PULSE_SERVER": "unix:/nonexistent",
        "VOICE_AGENT_AUDIO__OUTPUT_DEVICE": "not connected",
    }
    file = tmp_path / "answer.wav"
    async with scripted_server(SEARCHES, said("Twice a year.")) as server:
        env = served_by(home, server.address, **silent)
        _, _, err = await told(env, "ask", QUESTION, "--out", str(file))
    assert f"not spoken aloud, only into {file}: " in err
    assert "--out" not in err
