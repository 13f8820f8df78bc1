"""A real OpenAI-compatible server: llama-cpp-python's own, in a process of its own."""

from contextlib import AbstractContextManager
from pathlib import Path

from voice_agent.bench.servers import ModelServer, llama_cpp_server

NAME = "small"
KEY = "a-key-for-tests"

__all__ = ["KEY", "NAME", "ModelServer", "model_server"]


def model_server(gguf: Path, log: Path) -> AbstractContextManager[ModelServer]:
    """Serve the model in ``gguf`` until the block ends."""
    return llama_cpp_server(gguf, log, name=NAME, key=KEY)
