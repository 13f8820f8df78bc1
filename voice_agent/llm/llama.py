"""llama.cpp behind a thin edge: the only module that imports ``llama_cpp``.

Works on the low-level interface: several sequences on one context, exact counts of what was
evaluated, and an abort callback that also stops a prompt while it is processed. Not thread safe:
every call belongs on one engine's thread.
"""

import ctypes
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from voice_agent.errors import Cancelled, ModelError
from voice_agent.llm import prefix
from voice_agent.llm.vocabulary import Vocabulary

log = logging.getLogger(__name__)

BATCH_TOKENS = 256
"""Tokens evaluated in one call: bounds the memory for logits, not the time until a stop."""

_ABORTED = 2  # llama_decode's code for a computation that the abort callback ended


@dataclass(frozen=True)
class Evaluation:
    """How a prompt was processed: tokens kept from before, tokens evaluated, and whether all."""

    reused_tokens: int
    evaluated_tokens: int
    complete: bool


class Llama(Vocabulary):
    """A GGUF model with a context that holds ``sequences`` independent token sequences.

    Raises ModelError where the file is no model that llama.cpp can load, and Cancelled soon after
    ``stopped`` becomes true while it is loaded.
    """

    def __init__(
        self,
        path: Path,
        *,
        context_tokens: int,
        threads: int,
        sequences: int,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        c = load_library()
        self._aborted: Callable[[], bool] = _never
        self._model = _load(c, path, stopped)
        super().__init__(c, self._model)
        self._abort_callback = self._c.ggml_abort_callback(lambda _data: self._aborted())
        self._context = self._open_context(context_tokens, threads, sequences)
        self._memory = self._c.llama_get_memory(self._context)
        self._batch = self._c.llama_batch_init(BATCH_TOKENS, 0, 1)
        recurrent = self._c.llama_model_is_recurrent, self._c.llama_model_is_hybrid
        self._can_be_cut = not any(is_so(self._model) for is_so in recurrent)
        self._held: list[list[int]] = [[] for _ in range(sequences)]
        self.fingerprint = _fingerprint(path, self._c)

    def _open_context(self, context_tokens: int, threads: int, sequences: int) -> Any:
        params = self._c.llama_context_default_params()
        params.n_ctx = context_tokens
        params.n_batch = params.n_ubatch = BATCH_TOKENS
        params.n_seq_max = sequences
        params.kv_unified = True  # a sequence may use what the others leave free
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = 1  # always on: halves the attention's cost on long prompts
        params.abort_callback = self._abort_callback
        context = self._c.llama_init_from_model(self._model, params)
        if not context:
            raise ModelError(
                f"There is not enough memory for a context of {context_tokens} tokens.",
                mend="Lower it: voice-agent settings set llm.context_tokens 4096",
            )
        return context

    def reusable(self, sequence: int, tokens: Sequence[int]) -> int:
        """How many of ``tokens`` the sequence already holds; the last is always evaluated."""
        return prefix.reusable(self._held[sequence], tokens, can_be_cut=self._can_be_cut)

    def evaluate(
        self, sequence: int, tokens: Sequence[int], aborted: Callable[[], bool]
    ) -> Evaluation:
        """Make ``sequence`` hold exactly ``tokens``, keeping the prefix that it shares with them.

        ``aborted`` is read all the time; once true, the evaluation ends within milliseconds and
        the sequence holds what was finished.
        """
        reused = self._cut(sequence, self.reusable(sequence, tokens))
        held = self._held[sequence]
        try:
            self._aborted = aborted
            while len(held) < len(tokens):
                if aborted():
                    break
                chunk = tokens[len(held) : len(held) + BATCH_TOKENS]
                if not self._decode(sequence, chunk, last=len(held) + len(chunk) == len(tokens)):
                    break
        finally:
            self._aborted = _never
        return Evaluation(reused, len(held) - reused, complete=len(held) == len(tokens))

    def _cut(self, sequence: int, keep: int) -> int:
        """Drop what the sequence holds past ``keep`` tokens; return how many it kept."""
        if keep == len(self._held[sequence]):
            return keep
        if not self._c.llama_memory_seq_rm(self._memory, sequence, keep, -1):
            keep = 0  # a recurrent memory cannot be cut back: start again
            self._c.llama_memory_seq_rm(self._memory, sequence, -1, -1)
        del self._held[sequence][keep:]
        return keep

    def _decode(self, sequence: int, chunk: Sequence[int], *, last: bool) -> bool:
        """Evaluate ``chunk`` at the sequence's end; False if it was aborted."""
        held, batch = self._held[sequence], self._batch
        batch.n_tokens = len(chunk)
        for i, token in enumerate(chunk):
            batch.token[i] = token
            batch.pos[i] = len(held) + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = last and i == len(chunk) - 1
        code = self._c.llama_decode(self._context, batch)
        if code == 0:
            held.extend(chunk)
            return True
        done = self._c.llama_memory_seq_pos_max(self._memory, sequence) + 1 - len(held)
        held.extend(chunk[: max(done, 0)])
        if code == _ABORTED:
            return False
        self.forget(sequence)
        raise ModelError(f"llama.cpp could not evaluate {len(chunk)} tokens (code {code}).")

    def append(self, sequence: int, token: int, aborted: Callable[[], bool]) -> bool:
        """Evaluate one generated token; False if it was aborted."""
        try:
            self._aborted = aborted
            return self._decode(sequence, [token], last=True)
        finally:
            self._aborted = _never

    def counted_tokens(self) -> int:
        """How many tokens llama.cpp itself has counted as evaluated, aborted ones too."""
        self._c.llama_synchronize(self._context)  # what is queued is counted then
        counted = self._c.llama_perf_context(self._context)
        return int(counted.n_p_eval + counted.n_eval)

    def forget(self, sequence: int) -> None:
        """Empty the sequence."""
        self._c.llama_memory_seq_rm(self._memory, sequence, -1, -1)
        self._held[sequence].clear()

    def greedy(self, banned: Iterable[int] = ()) -> "Sampler":
        """Return a sampler that takes the likeliest token which is not banned."""
        return Sampler(self._c, self._context, list(banned), self.vocabulary_tokens)

    def shares(self, tokens: Sequence[int]) -> list[float]:
        """Return how likely each of ``tokens`` comes next, after what was evaluated last."""
        row = self._c.llama_get_logits_ith(self._context, -1)
        logits = np.ctypeslib.as_array(row, shape=(self.vocabulary_tokens,)).astype(np.float64)
        weights = np.exp(logits - logits.max())
        return [float(weights[token] / weights.sum()) for token in tokens]

    def save(self, sequence: int, file: Path) -> None:
        """Write what the sequence holds to ``file``."""
        held = self._held[sequence]
        tokens = (self._c.llama_token * len(held))(*held)
        name = os.fsencode(file)
        size = self._c.llama_state_seq_save_file(self._context, name, sequence, tokens, len(held))
        if not size:
            raise OSError(f"{file} could not be written")

    def restore(self, sequence: int, file: Path, tokens: Sequence[int]) -> bool:
        """Take the sequence from ``file`` if that holds exactly ``tokens``."""
        room = (self._c.llama_token * len(tokens))()
        count = ctypes.c_size_t(0)
        name = os.fsencode(file)
        self.forget(sequence)
        size = self._c.llama_state_seq_load_file(
            self._context, name, sequence, room, len(tokens), ctypes.byref(count)
        )
        if not size or list(room[: count.value]) != list(tokens):
            self.forget(sequence)
            return False
        self._held[sequence] = list(tokens)
        return True

    def close(self) -> None:
        """Free context and model."""
        self._c.llama_batch_free(self._batch)
        self._c.llama_free(self._context)
        self._c.llama_model_free(self._model)


class Sampler:
    """Draws the next token from the logits of the last evaluated one."""

    def __init__(self, c: ModuleType, context: Any, banned: list[int], vocabulary: int) -> None:
        self._c = c
        self._context = context
        self._chain = c.llama_sampler_chain_init(c.llama_sampler_chain_default_params())
        if banned:
            bias = (c.llama_logit_bias * len(banned))()
            for entry, token in zip(bias, banned, strict=True):
                entry.token, entry.bias = token, float("-inf")
            c.llama_sampler_chain_add(
                self._chain, c.llama_sampler_init_logit_bias(vocabulary, len(banned), bias)
            )
        c.llama_sampler_chain_add(self._chain, c.llama_sampler_init_greedy())

    def next(self) -> int:
        """Return the next token."""
        return int(self._c.llama_sampler_sample(self._chain, self._context, -1))

    def close(self) -> None:
        """Free the sampler."""
        self._c.llama_sampler_free(self._chain)


def _never() -> bool:
    return False


def load_library() -> ModuleType:
    """Load llama.cpp, and return its functions; before any other library that uses OpenMP.

    That stalls every thread for a moment, so it is done before a microphone opens. Raises
    ModelError where it is not there.
    """
    # A waiting OpenMP thread that spins takes the core from the microphone: 20 times slower
    # generation was measured with one other busy process. libgomp reads this when it loads.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        from llama_cpp import llama_cpp
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelError(
            f"llama-cpp-python cannot be loaded: {error}.", mend="Build it: make setup"
        ) from error
    if not getattr(load_library, "ready", False):
        load_library.log = llama_cpp.llama_log_callback(_to_log)  # type: ignore[attr-defined]
        llama_cpp.llama_log_set(load_library.log, ctypes.c_void_p(0))  # type: ignore[attr-defined]
        llama_cpp.llama_backend_init()
        load_library.ready = True  # type: ignore[attr-defined]
    return llama_cpp


def _to_log(_level: int, text: bytes, _data: Any) -> None:
    if not sys.is_finalizing():
        log.debug("%s", text.decode("utf-8", "replace").rstrip())


@contextmanager
def open_vocabulary(path: Path) -> Iterator[Vocabulary]:
    """Open the vocabulary of a GGUF file alone, without the model's weights. Raises ModelError."""
    c = load_library()
    model = _load(c, path, _never, vocabulary_only=True)
    try:
        yield Vocabulary(c, model)
    finally:
        c.llama_model_free(model)


def _load(
    c: ModuleType, path: Path, stopped: Callable[[], bool], *, vocabulary_only: bool = False
) -> Any:
    params = c.llama_model_default_params()
    params.vocab_only = vocabulary_only
    params.progress_callback = c.llama_progress_callback(lambda _share, _data: not stopped())
    model = c.llama_model_load_from_file(os.fsencode(path), params) if path.is_file() else None
    if not model and stopped():
        raise Cancelled("The language model is not wanted any more.")
    if not model:
        raise ModelError(
            f"{path} is not a GGUF model that can be loaded.",
            mend=f"Check and fetch it again: voice-agent models pull {path.parent.name}",
            file=path,
        )
    return model


def _fingerprint(path: Path, c: ModuleType) -> str:
    """What a saved sequence depends on: the model's file and the library."""
    facts = path.stat()
    return f"{path.name} {facts.st_size} {facts.st_mtime_ns} {c.llama_print_system_info()!r}"
