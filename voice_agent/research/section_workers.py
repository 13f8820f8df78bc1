"""Section workers: short requests of their own that read a long source part by part.

A worker gets one section and the question, and names the statements that bear on it by number: so
what is kept is the source's own words, whatever the section says and however small the model is.
Workers run in the lane of final requests, and the conversation's processed prefix stays as it is.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from voice_agent.llm.model import Message, Model, Request
from voice_agent.research import prompts
from voice_agent.research.answer import Streamed, stream_text
from voice_agent.research.evidence import Finding
from voice_agent.research.reply import Run
from voice_agent.research.sections import Section
from voice_agent.research.spending import Spending
from voice_agent.research.tools import Result

MAX_WORKERS = 4
"""Sections that workers read in one reply."""

WORKER_TOKENS = 24
"""Room for the numbers of some statements."""

_MOST_PICKED = 8
_MOST_NAMED = 12
_NUMBER = re.compile(r"\d+")


class SectionWorkers:
    """Reads the sections of a result that is too long to be shown whole."""

    def __init__(self, model: Model, spending: Spending) -> None:
        self._model = model
        self._spending = spending

    async def read(self, run: Run, result: Result) -> Result:
        """Return ``result`` with what the workers picked first, and a note on what is unread.

        The sections that share most with the question come first, as many as the budgets and
        `MAX_WORKERS` allow; what this reply has read before is not read again.
        """
        todo = [section for section in result.sections if section.key not in run.sections_read]
        question = run.inquiry.question
        picked: list[Finding] = []
        for section in sorted(todo, key=lambda s: -run.evidence.relevance(s.text, question)):
            found = await self._work(run, section)
            if found is None:
                break
            run.sections_read.add(section.key)
            picked += found
        rest = [finding for finding in result.findings if finding not in picked]
        return replace(result, findings=(*picked, *rest), note=_note(run, result.sections))

    async def _work(self, run: Run, section: Section) -> list[Finding] | None:
        """Let a worker read ``section``; None where the budgets do not allow it."""
        if len(run.sections_read) >= MAX_WORKERS:
            return None
        request = _request(run, section)
        reserved, reason = await self._spending.reserve(run, request)
        if reason is not None:
            return None
        said = Streamed()
        try:
            await stream_text(self._model, request, run.inquiry.stop, _unsaid, into=said)
        finally:
            self._spending.settle(run, reserved, said.finished)
        if said.finished is None or said.finished.reason == "deadline":
            return None
        numbers = dict.fromkeys(int(number) for number in _NUMBER.findall(said.text))
        named = [n for n in numbers if 1 <= n <= len(section.statements)]
        return [section.statements[n - 1] for n in named[:_MOST_PICKED]]


def _request(run: Run, section: Section) -> Request:
    content = prompts.numbered_section(
        section.name, [finding.text for finding in section.statements], run.inquiry.question
    )
    return Request(
        messages=(Message("system", prompts.PERSONA), Message("user", content)),
        max_tokens=WORKER_TOKENS,
        stop=run.inquiry.stop.child(),
        deadline=run.time.deadline,
        lane="answer",
        calls_allowed=False,
    )


def _note(run: Run, sections: Sequence[Section]) -> str:
    """Return which sections were read, which were not, and how to read those."""
    read = [section.name for section in sections if section.key in run.sections_read]
    unread = [section.name for section in sections if section.key not in run.sections_read]
    parts = [f"Sections read: {_listed(read)}."] if read else []
    if unread:
        parts.append(f"Left unread: {_listed(unread)}. To read one, name it as the heading.")
    return " ".join(parts)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return "; ".join(names[:_MOST_NAMED]) + more


def _unsaid(text: str) -> None:
    """A worker's text is for the program: nobody reads or hears it."""
