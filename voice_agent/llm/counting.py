"""What prompts cost on a server whose tokenizer is not known here.

A prompt counts a third of its UTF-8 bytes, scaled by what the server itself has counted so far;
of the prefix that it shares with the prompt before, as much is free as the server's figures of
cached tokens bear out.
"""

from dataclasses import dataclass

from voice_agent.llm.model import Size
from voice_agent.llm.wire import Prompt

BYTES_PER_TOKEN = 3


@dataclass(frozen=True)
class Usage:
    """A server's own figures for one request, None where it gives none."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None


def plain_tokens(size_bytes: int) -> int:
    """Return the uncorrected estimate: bytes divided by three, rounded up."""
    return -(-size_bytes // BYTES_PER_TOKEN)


class PromptCounts:
    """Estimates prompts and learns from a server's usage figures."""

    def __init__(self) -> None:
        self._held = Prompt(())
        self._estimated = self._counted = 0
        self._expected = self._cached = 0

    def tokens(self, size_bytes: int) -> int:
        """Return the estimate, scaled by the running ratio of counted to estimated tokens."""
        plain = plain_tokens(size_bytes)
        if not self._counted:
            return plain
        return -(-plain * self._counted // self._estimated)

    def size(self, prompt: Prompt) -> Size:
        """Return what ``prompt`` would cost now."""
        tokens = self.tokens(prompt.size_bytes)
        reused = self._shared(prompt)
        if self._expected:
            reused = reused * min(self._cached, self._expected) // self._expected
        return Size(tokens, max(min(reused, tokens - 1), 0))

    def settle(self, prompt: Prompt, usage: Usage, *, processed: bool) -> Size:
        """Return what ``prompt`` did cost, by the server's figures where it gave them.

        ``processed``: the server was seen to have read it, so it is now what its cache holds.
        """
        size = self.size(prompt)
        tokens = usage.prompt_tokens or size.prompt_tokens
        reused = size.reused_tokens
        if usage.cached_tokens is not None:
            reused = usage.cached_tokens
            self._learn_cached(prompt, reused)
        if usage.prompt_tokens:
            self._counted += usage.prompt_tokens
            self._estimated += plain_tokens(prompt.size_bytes)
        if processed:
            self._held = prompt
        return Size(tokens, max(min(reused, tokens), 0))

    def _shared(self, prompt: Prompt) -> int:
        shared_bytes = prompt.shared_bytes(self._held)
        return self.tokens(shared_bytes) if shared_bytes else 0

    def _learn_cached(self, prompt: Prompt, cached: int) -> None:
        """Note how much of a shared prefix the server really did not process again."""
        shared = self._shared(prompt)
        self._expected += shared
        self._cached += min(cached, shared)
