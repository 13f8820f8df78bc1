"""The tokens of a GGUF model: text to tokens and back, and which of them are special."""

import ctypes
from collections.abc import Callable
from types import ModuleType
from typing import Any

from voice_agent.errors import ModelError


class Vocabulary:
    """The vocabulary of ``model``, an open model of the library ``c``; it lives as long as that.

    ``metadata`` is what the file says of itself, the chat template too.
    """

    def __init__(self, c: ModuleType, model: Any) -> None:
        self._c = c
        self._vocab = c.llama_model_get_vocab(model)
        self._pieces: dict[int, bytes] = {}
        self.metadata = _metadata(c, model)
        self.vocabulary_tokens = int(c.llama_vocab_n_tokens(self._vocab))

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Return the tokens of ``text``; with ``special`` its control tokens are recognised."""
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        tokens = (self._c.llama_token * room)()
        count = self._c.llama_tokenize(self._vocab, data, len(data), tokens, room, False, special)
        if count < 0:
            raise ModelError(f"The tokenizer failed on a text of {len(data)} bytes.")
        return list(tokens[:count])

    def piece(self, token: int) -> bytes:
        """Return the bytes that ``token`` stands for, control tokens included."""
        known = self._pieces.get(token)
        if known is None:
            size = 64
            buffer = ctypes.create_string_buffer(size)
            count = self._c.llama_token_to_piece(self._vocab, token, buffer, size, 0, True)
            if count < 0:
                buffer = ctypes.create_string_buffer(-count)
                count = self._c.llama_token_to_piece(self._vocab, token, buffer, -count, 0, True)
            known = self._pieces[token] = buffer.raw[:count]
        return known

    def is_end(self, token: int) -> bool:
        """Whether the model ends its reply with ``token``."""
        return bool(self._c.llama_vocab_is_eog(self._vocab, token))

    def start_token(self) -> int | None:
        """The token that a prompt must begin with, if the model wants one."""
        if not self._c.llama_vocab_get_add_bos(self._vocab):
            return None
        return int(self._c.llama_vocab_bos(self._vocab))

    def special_texts(self) -> list[str]:
        """The texts of all tokens that the tokenizer matches before it looks at words."""
        wanted = self._c.LLAMA_TOKEN_ATTR_CONTROL | self._c.LLAMA_TOKEN_ATTR_USER_DEFINED
        attributes, vocab = self._c.llama_vocab_get_attr, self._vocab
        tokens = [t for t in range(self.vocabulary_tokens) if attributes(vocab, t) & wanted]
        return [self.piece(token).decode("utf-8", "replace") for token in tokens]


def _metadata(c: ModuleType, model: Any) -> dict[str, str]:
    texts: dict[str, str] = {}
    for i in range(c.llama_model_meta_count(model)):
        key = _meta(c.llama_model_meta_key_by_index, model, i)
        texts[key] = _meta(c.llama_model_meta_val_str_by_index, model, i)
    return texts


def _meta(read: Callable[..., int], model: Any, index: int) -> str:
    buffer = ctypes.create_string_buffer(256)
    size = read(model, index, buffer, len(buffer))
    if size >= len(buffer):  # it tells how long the text is: ask again with room for all of it
        buffer = ctypes.create_string_buffer(size + 1)
        read(model, index, buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")
