"""No control token comes from a document, a transcript or a tool: every template of the library."""

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from template_matrix import (
    HARMLESS,
    counts,
    formatters,
    hostile,
    jinja_templates,
    prompts_of_formatter,
    shows_all,
    special_tokens,
)

from voice_agent.errors import ModelError
from voice_agent.llm.llama import load_library, open_vocabulary
from voice_agent.llm.prompt_tokens import PromptTokens
from voice_agent.llm.vocabulary import Vocabulary

JINJA = jinja_templates()
PYTHON = formatters()


@pytest.fixture(scope="module")
def vocabulary(models_dir: Path) -> Iterator[Vocabulary]:
    (file,) = (models_dir / "qwen2.5-coder-0.5b-instruct").glob("*.gguf")
    with open_vocabulary(file) as vocabulary:
        yield vocabulary


@pytest.fixture(scope="module")
def special(vocabulary: Vocabulary) -> set[int]:
    return special_tokens(vocabulary)


def test_the_librarys_templates_are_all_there() -> None:
    assert len(JINJA) >= 12 and len(PYTHON) >= 20


@pytest.mark.parametrize("name", JINJA)
def test_foreign_text_adds_no_control_token_to_a_template(
    name: str, vocabulary: Vocabulary, special: set[int]
) -> None:
    prompts = PromptTokens(vocabulary, JINJA[name])
    assert shows_all(prompts)
    plain = counts(prompts, special, HARMLESS)
    assert counts(prompts, special, hostile(JINJA[name], vocabulary)) == plain


@pytest.mark.parametrize("name", PYTHON)
def test_foreign_text_adds_no_control_token_to_a_format_in_python(
    name: str, vocabulary: Vocabulary, special: set[int]
) -> None:
    load_library()
    library = importlib.import_module("llama_cpp.llama_chat_format")
    prompts = prompts_of_formatter(vocabulary, getattr(library, PYTHON[name]))
    assert counts(prompts, special, hostile("", vocabulary)) == counts(prompts, special, HARMLESS)


@pytest.mark.parametrize("model", ["qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct"])
def test_foreign_text_adds_no_control_token_to_the_shipped_models(
    models_dir: Path, model: str
) -> None:
    (file,) = (models_dir / model).glob("*.gguf")
    with open_vocabulary(file) as vocabulary:
        source = vocabulary.metadata["tokenizer.chat_template"]
        prompts, special = PromptTokens(vocabulary, source), special_tokens(vocabulary)
        plain = counts(prompts, special, HARMLESS)
        assert min(plain) > 0 and shows_all(prompts)
        assert counts(prompts, special, hostile(source, vocabulary)) == plain


def test_a_file_without_a_vocabulary_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with (
        pytest.raises(ModelError, match="not a GGUF model"),
        open_vocabulary(tmp_path / "model.gguf"),
    ):
        pass
