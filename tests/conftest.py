"""What all tests share."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from model_server import ModelServer

    from voice_agent.engine import Engine
    from voice_agent.ledger import Ledger
    from voice_agent.library import Library
    from voice_agent.llm.llama import Llama


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Let programs be interrupted: what a shell starts in the background ignores Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The folder of the models that set-up has put there."""
    return Path(__file__).parent.parent / "models"


@pytest.fixture
def ledger(tmp_path: Path) -> "Iterator[Ledger]":
    """An empty ledger."""
    from voice_agent.ledger import Ledger

    with Ledger.open(tmp_path / "ledger.sqlite3") as ledger:
        yield ledger


@pytest.fixture(scope="session")
def small_llama(models_dir: Path) -> "Iterator[Llama]":
    """The small language model, loaded once; who uses it forgets its sequences 0 and 1 first."""
    from voice_agent.llm.llama import Llama

    (file,) = (models_dir / "qwen2.5-coder-0.5b-instruct").glob("*.gguf")
    llama = Llama(file, context_tokens=3072, threads=2, sequences=2)
    yield llama
    llama.close()


@pytest.fixture
def llm_engine(small_llama: "Llama") -> "Iterator[Engine]":
    """A thread for the small language model, which has forgotten what it read before."""
    from voice_agent.engine import Engine

    small_llama.forget(0)
    small_llama.forget(1)
    engine = Engine("llm")
    yield engine
    engine.close()


@pytest.fixture
def guest_room(tmp_path: Path) -> "Iterator[Library]":
    """A library of one document, which tells the colour of the guest room: green."""
    from voice_agent.library import Library

    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "room.md").write_text(
        "# Guest room\n\nThe guest room is painted green. The bed was bought in 2019.\n"
    )
    with Library.open(tmp_path / "library.sqlite3") as library:
        library.add(documents)
        yield library


@pytest.fixture(scope="session")
def served(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> "Iterator[ModelServer]":
    """The small language model behind a real OpenAI-compatible server."""
    from model_server import model_server

    (file,) = (models_dir / "qwen2.5-coder-0.5b-instruct").glob("*.gguf")
    with model_server(file, tmp_path_factory.mktemp("server") / "log") as server:
        yield server
