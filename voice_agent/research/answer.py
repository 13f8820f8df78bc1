"""The end of a reply: the forced answer from the evidence, and the fallback when that fails.

With a small model a fresh short request beats a long transcript with a closing instruction
(measured, see the design), so the final request holds only the persona, the evidence that fits and
the question, and runs in a lane of its own. A server's model, which has room and speed, may keep
the whole exchange instead. A call proposed here is dropped, never executed.
"""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from voice_agent.engine import StopFlag
from voice_agent.errors import Cancelled, ModelError, ProviderError
from voice_agent.events import Basis, Reason
from voice_agent.llm.model import Call, Finished, Message, Model, Request, Text
from voice_agent.phrases import phrase
from voice_agent.research import prompts
from voice_agent.research.budget import fits_context
from voice_agent.research.evidence import Evidence, Finding

log = logging.getLogger(__name__)

RELEVANCE_FLOOR = 0.2
"""Share of the question's term weight that a finding must hold to count as evidence."""

_LEAST_EVIDENCE_CHARS = 1_300
"""One whole portion with its labels: below that a busy machine would pay with wrong answers."""

_HISTORY_SHARE = 0.33
"""How much of the room earlier exchanges may take: what was found matters more."""

_LEAST_HISTORY_CHARS = 300
_MOST_QUERIES = 5

_CLAUSE = re.compile(r"[.!?;:,\n]+")
_WORDS = re.compile(r"\w")
_REPEATED_CLAUSES = 4
_CLAUSE_CHARS = 12
_TAIL_CHARS = 400
_LOOP_CHARS = 24


@dataclass(frozen=True)
class AnswerLimits:
    """The bounds of the final request (the settings ``answer.*``)."""

    max_tokens: int = 512
    timeout_s: float = 120.0
    first_word_s: float = 6.0
    excerpt_chars: int = 1_200
    compose: Literal["evidence", "transcript"] = "evidence"


@dataclass
class Ending:
    """How a reply ended: its text, basis and reason, and what the final request cost."""

    text: str
    basis: Basis
    reason: Reason
    answer_tokens: int = 0
    finished: Finished | None = None


@dataclass
class Streamed:
    """What a streamed request said: text that was passed on, calls, and its cost."""

    text: str = ""
    calls: list[Call] = field(default_factory=list)
    finished: Finished | None = None
    repeated: bool = False

    @property
    def cut(self) -> bool:
        """Whether the text did not come to an end of its own."""
        return self.repeated or self.finished is None or self.finished.reason != "end"


def sayable(text: str) -> bool:
    """Whether there is anything in ``text`` that can be said."""
    return _WORDS.search(text) is not None


def repeats(text: str) -> bool:
    """Whether ``text`` has begun to go round: one clause, or one run of characters, over again."""
    tail = text[-_TAIL_CHARS:]
    clauses = [c.strip().casefold() for c in _CLAUSE.split(tail)]
    last = next((c for c in reversed(clauses) if len(c) >= _CLAUSE_CHARS), "")
    if last and clauses.count(last) >= _REPEATED_CLAUSES:
        return True
    return len(tail) == _TAIL_CHARS and tail.count(tail[-_LOOP_CHARS:]) > _REPEATED_CLAUSES


def close_cut(text: str, language: str) -> str:
    """Return what ends a cut answer: its last sentence closed, and that it is incomplete."""
    stop = "" if text.rstrip().endswith((".", "!", "?", "…")) else "…"
    return f"{stop} {phrase('incomplete', language)}"


def excerpt(findings: Sequence[Finding], limit_chars: int, language: str) -> str:
    """Return a labelled, bounded excerpt of the evidence: never presented as an answer."""
    body = prompts.passages(findings)
    if len(body) > limit_chars:
        body = body[:limit_chars].rsplit(" ", 1)[0] + " …"
    return f"{phrase('excerpt', language)}\n{body}" if body else ""


def fit(findings: Sequence[Finding], room_chars: int) -> list[Finding]:
    """Return the findings, best first, that fit ``room_chars``; the first is cut, not dropped.

    A source's label is written once for all that one portion has of it.
    """
    chosen: list[Finding] = []
    labelled: set[tuple[int, str]] = set()
    for finding in findings:
        label = (finding.portion, finding.label)
        size = len(finding.text) + 1 + (0 if label in labelled else len(finding.label) + 3)
        if size <= room_chars:
            chosen.append(finding)
            labelled.add(label)
            room_chars -= size
        elif not chosen and room_chars > len(finding.label) + 40:
            cut = finding.text[: room_chars - len(finding.label) - 4]
            return [replace(finding, text=cut)]
    return chosen


def latest(history: Sequence[Message], room_chars: int) -> tuple[Message, ...]:
    """Return the last exchanges, question and answer, that fit ``room_chars`` together.

    The very last one is cut rather than left out: the question may go on from it.
    """
    kept: list[Message] = []
    for end in range(len(history), 1, -2):
        question, answer = history[end - 2 : end]
        left = room_chars - len(question.content)
        if len(answer.content) > left and not kept:
            shortened = replace(answer, content=f"{answer.content[: max(left, 0)].rstrip()} …")
            return (question, shortened)
        room_chars = left - len(answer.content)
        if room_chars < 0:
            break
        kept = [question, answer, *kept]
    return tuple(kept)


async def stream_text(
    model: Model,
    request: Request,
    stop: StopFlag,
    on_text: Callable[[str], None],
    *,
    into: Streamed | None = None,
) -> Streamed:
    """Stream one request: text goes to ``on_text``, calls are collected.

    ``request.stop`` must be a child of ``stop``: it ends the request alone once the text repeats.
    ``into`` holds what was said also where the model fails. Raises Cancelled when ``stop`` was
    set.
    """
    said = Streamed() if into is None else into
    async for piece in model.stream(request):
        if stop.is_set():
            request.stop.set()
        elif isinstance(piece, Text) and not said.repeated:
            said.text += piece.text
            on_text(piece.text)
            if repeats(said.text):
                said.repeated = True
                request.stop.set()
        elif isinstance(piece, Call):
            said.calls.append(piece)
        elif isinstance(piece, Finished):
            said.finished = piece
    if stop.is_set():
        raise Cancelled("The turn was cancelled.")
    return said


@dataclass(frozen=True)
class Look:
    """What to answer from, best first; ``linked`` statements answer only together."""

    findings: Sequence[Finding]
    linked: bool = False


@dataclass(frozen=True)
class Unfinished:
    """A reply whose research has ended: what the final request is made from.

    ``exchange`` is the request with which research would have gone on.
    """

    question: str
    evidence: Evidence
    reason: Reason
    history: Sequence[Message]
    language: str
    stop: StopFlag
    on_text: Callable[[str], None]
    account: tuple[str, ...] = ()
    """What the reply did besides reading: no line of it is ever left out."""
    exchange: Request | None = None
    look: Look | None = None
    """What to answer from, in place of all the evidence that bears on the question."""
    deadline: float = float("inf")
    """When the request must end, if that is before the time for an answer is over."""

    def findings(self) -> list[Finding]:
        """Return what the answer may be written from, best first."""
        if self.look is not None:
            return list(self.look.findings)
        return self.evidence.ranked(self.question, RELEVANCE_FLOOR)


class FinalAnswer:
    """Writes the forced answer of a reply, or its fallback."""

    def __init__(self, model: Model, limits: AnswerLimits, clock: Callable[[], float]) -> None:
        self._model = model
        self._limits = limits
        self._clock = clock

    async def write(self, reply: Unfinished) -> Ending:
        """Answer the question from the evidence; raises nothing but Cancelled."""
        findings = reply.findings()
        if not (findings or reply.account) or reply.reason == "nothing_found":
            return _nothing_found(reply)
        reply = replace(reply, look=reply.look or Look(findings))  # ranked once
        said = Streamed()
        try:
            request = await self._composed(reply)
            await stream_text(self._model, request, reply.stop, reply.on_text, into=said)
        except ProviderError as error:
            log.warning("The final answer failed: %s", error)
            return self._fallback(replace(reply, reason="provider"), said, findings)
        except ModelError:
            return self._fallback(reply, said, findings)
        if said.calls or not sayable(said.text) or said.finished is None:
            return self._fallback(reply, said, findings)
        text = said.text
        if said.cut:
            rest = close_cut(text, reply.language)
            reply.on_text(rest)
            text += rest
        basis: Basis = "complete" if reply.reason == "none" else "forced"
        return Ending(
            text.strip(), basis, reply.reason, said.finished.charged_tokens, said.finished
        )

    async def _composed(self, reply: Unfinished) -> Request:
        """Return the final request: the whole exchange where that is wanted and fits."""
        if self._limits.compose == "transcript" and reply.exchange is not None:
            whole = replace(
                reply.exchange,
                messages=prompts.closed_exchange(
                    reply.exchange.messages, reply.question, reply.account
                ),
                max_tokens=self._limits.max_tokens,
                stop=reply.stop.child(),
                deadline=self._clock() + self._limits.timeout_s,
                calls_allowed=False,
            )
            if await self._fits(whole):
                return whole
        return self.request(reply)

    async def _fits(self, whole: Request) -> bool:
        """Whether the model can take ``whole``; some chat templates refuse an exchange."""
        try:
            size = await self._model.measure(whole)
        except ModelError as error:
            log.warning("The exchange is left out of the final request: %s", error)
            return False
        return fits_context(size, whole.max_tokens, self._model.context_tokens)

    def shown(self, reply: Unfinished) -> list[Finding]:
        """Return the findings that fit the final request, best first."""
        room_chars = self._room_chars() - sum(map(len, reply.account))
        room_chars -= sum(len(message.content) for message in self._history(reply))
        room_chars -= sum(map(len, _fruitless(reply)))
        return fit(reply.findings(), max(room_chars, _LEAST_EVIDENCE_CHARS))

    def _room_chars(self) -> int:
        """What can be read before the user loses patience, at about four characters a token."""
        room_tokens = self._model.prompt_tokens_per_s * self._limits.first_word_s
        return int(4 * min(room_tokens, self._model.context_tokens / 4))

    def _history(self, reply: Unfinished) -> tuple[Message, ...]:
        room_chars = max(_HISTORY_SHARE * self._room_chars(), _LEAST_HISTORY_CHARS)
        return latest(reply.history, int(room_chars))

    def request(self, reply: Unfinished) -> Request:
        """Return the short fresh request: the evidence that fits, and the question."""
        return Request(
            messages=prompts.final_request(
                reply.question,
                self.shown(reply),
                fruitless=_fruitless(reply),
                history=self._history(reply),
                language=reply.language,
                account=reply.account,
                forced=reply.reason != "none",
            ),
            max_tokens=self._limits.max_tokens,
            stop=reply.stop.child(),
            deadline=min(reply.deadline, self._clock() + self._limits.timeout_s),
            lane="verdict" if reply.look and reply.look.linked else "answer",
            calls_allowed=False,
        )

    def _fallback(self, reply: Unfinished, said: Streamed, findings: Sequence[Finding]) -> Ending:
        sentence = phrase("fallback", reply.language)
        reply.on_text("\n".join(("", sentence, *reply.account)))
        kept = excerpt(findings, self._limits.excerpt_chars, reply.language)
        parts = [part for part in (said.text.strip(), sentence, *reply.account, kept) if part]
        spent = said.finished.charged_tokens if said.finished else 0
        return Ending("\n".join(parts), "fallback", reply.reason, spent)


def _fruitless(reply: Unfinished) -> list[str]:
    """What was looked for last, besides the question itself."""
    return [q for q in reply.evidence.searched if q != reply.question][-_MOST_QUERIES:]


def _nothing_found(reply: Unfinished) -> Ending:
    """Say in the program's own words that nothing was found: a small model would invent."""
    text = phrase("nothing_found", reply.language)
    if reply.evidence.searched:
        looked = ", ".join(f"“{query.rstrip('?. ')}”" for query in reply.evidence.searched[:3])
        text += " " + phrase("looked_for", reply.language, queries=looked)
    reply.on_text(text)
    return Ending(text, "forced", "nothing_found")
