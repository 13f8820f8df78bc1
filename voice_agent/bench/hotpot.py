"""Questions of HotpotQA (Yang and others 2018): each is answered by two documents together."""

import json
from pathlib import Path

from voice_agent.bench.questions import Question
from voice_agent.bench.squad import Paragraph, bad_form, text_of

BRIDGE = "bridge"
"""The type of a question whose first document names what the second one tells about."""


def load_hotpot(file: Path) -> tuple[list[Paragraph], list[Question]]:
    """Return the paragraphs of all questions, and those questions that lead over a bridge.

    ``file`` holds JSON lines with ``id``, ``type``, ``question``, ``answer`` and ``context`` (lists
    ``title`` and ``sentences``). Raises UsageError.
    """
    try:
        rows = [json.loads(line) for line in text_of(file).split("\n") if line.strip()]
        paragraphs = dict.fromkeys(
            (title, "".join(sentences).strip())
            for row in rows
            for title, sentences in zip(
                row["context"]["title"], row["context"]["sentences"], strict=True
            )
        )
        questions = [
            Question(
                id=row["id"],
                text=row["question"].strip(),
                kind="two_places",
                accept=((row["answer"],),),
            )
            for row in rows
            if row["type"] == BRIDGE
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise bad_form(file, error) from error
    return list(paragraphs), questions
