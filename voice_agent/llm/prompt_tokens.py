"""A request as the tokens of a local model's prompt, what is not ours without control tokens."""

import re
from collections.abc import Sequence
from functools import lru_cache

from voice_agent.llm.arrangement import Arrangement
from voice_agent.llm.model import Request
from voice_agent.llm.template import ChatTemplate, Content, Generated
from voice_agent.llm.vocabulary import Vocabulary

_KEPT_PARTS = 512


class PromptTokens:
    """Renders requests with ``source``, a chat template in Jinja, and tokenizes each part of them.

    Raises ModelError where the template cannot be used.
    """

    def __init__(self, vocabulary: Vocabulary, source: str) -> None:
        self._vocabulary = vocabulary
        self._start = vocabulary.start_token()
        start_text = "" if self._start is None else vocabulary.piece(self._start).decode()
        self._template = ChatTemplate(source, bos=start_text)
        self._special = _special_pattern(vocabulary.special_texts())
        # an exchange only grows: of each request most has been tokenized for the one before
        self._of_content = lru_cache(_KEPT_PARTS)(self._cut_content)
        self._of_scaffold = lru_cache(_KEPT_PARTS)(self._scaffold)

    @property
    def arrangement(self) -> Arrangement:
        """How an exchange is put to the template."""
        return self._template.arrangement

    def of(self, request: Request, *, open_reply: bool = True) -> list[int]:
        """Return the tokens of the request's prompt; with ``open_reply`` the model speaks next."""
        tokens: list[int] = []
        for part in self._template.render(request.messages, request.tools, open_reply=open_reply):
            if isinstance(part, Generated):
                tokens.extend(part.tokens)
            elif isinstance(part, Content):
                tokens.extend(self.of_content(part.text))
            else:
                tokens.extend(self._of_scaffold(part.text))
        if self._start is not None and tokens[:1] != [self._start]:
            tokens.insert(0, self._start)
        return tokens

    def of_content(self, text: str) -> Sequence[int]:
        """Tokenize text that is not ours: what looks like a control token is cut in two.

        llama.cpp recognises tokens of the type "user defined" (Qwen's ``<tool_call>``) even where
        control tokens are off, so leaving those off is not enough.
        """
        return self._of_content(text)

    def _cut_content(self, text: str) -> tuple[int, ...]:
        tokens: list[int] = []
        begin, cut = 0, self._special.search(text)
        while cut is not None:
            head = text[begin : cut.start() + 1]
            tokens.extend(self._vocabulary.tokenize(head, special=False))
            begin = cut.start() + 1
            cut = self._special.search(text, begin)
        tokens.extend(self._vocabulary.tokenize(text[begin:], special=False))
        return tuple(tokens)

    def _scaffold(self, text: str) -> tuple[int, ...]:
        return tuple(self._vocabulary.tokenize(text, special=True))


def _special_pattern(texts: Sequence[str]) -> re.Pattern[str]:
    """Match every token text that a document could imitate (runs of blanks are none)."""
    marks = sorted((t for t in texts if len(t) > 2 and not t.isspace()), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, marks)) or "(?!)")
