"""All that a model may do in the final turn: one spoken reply, one record with a true reason."""

from collections.abc import Sequence

import pytest
from fakes import FakeSpeaker, FakeVoice, Script, ended
from scripted_research import FACTS, Research, call

from voice_agent.errors import ContextOverflow, ModelError
from voice_agent.events import Answer, AnswerText
from voice_agent.ledger import Ledger
from voice_agent.llm.model import Piece
from voice_agent.phrases import phrase
from voice_agent.research.markup import MarkupParser
from voice_agent.session import Session, Stages

JSON = '{"name": "note", "arguments": {"query": "milk"}}'


def parsed(text: str) -> Sequence[Piece]:
    """What the real parser makes of a reply that is ``text``."""
    parser = MarkupParser(["search", "note"])
    return [*parser.feed(text), *parser.flush()]


ZOO: dict[str, Script] = {
    "call": parsed(f"<tool_call>\n{JSON}\n</tool_call>"),
    "call after prose": parsed(f"It is high.\n<tool_call>\n{JSON}\n</tool_call>"),
    "fenced json": parsed(f"```json\n{JSON}\n```"),
    "bare json": parsed(JSON),
    "thinking only": parsed("<think>The pressure is somewhere.</think>"),
    "thinking without end": [*parsed("<think>The pressure is"), ended("length")],
    "white space": parsed(" \n\t\n"),
    "end at once": [],
    "template exception": [ModelError("The model's chat template refuses the exchange.")],
    "one token too many": [ContextOverflow("8193 tokens do not fit 8192.")],
    "decode error": ["It is", ModelError("llama.cpp could not evaluate 12 tokens (code 1).")],
    "broken stream": ["It is", ModelError("The server broke off in mid-answer.")],
}


async def told(
    ledger: Ledger, script: Script
) -> tuple[Answer, Research, FakeVoice, FakeSpeaker, int]:
    """Let ``script`` be the final turn; return what came of it."""
    research = Research([call("boiler")], script, max_steps=2)
    voice, speaker = FakeVoice(), FakeSpeaker(instant=True)
    session = Session(
        Stages(research.loop, ledger, voice=voice, speaker=speaker), research.events.append
    )
    ending = await session.ask("how high is the boiler pressure")
    assert isinstance(ending, Answer)
    (kept,) = ledger.turns()
    assert (kept.state, kept.basis, kept.reason) == ("answered", ending.basis, ending.reason)
    assert kept.text == ending.text
    return ending, research, voice, speaker, len([e for e in research.events if e == ending])


@pytest.mark.parametrize("name", ZOO)
async def test_what_is_no_answer_ends_in_one_excerpt(ledger: Ledger, name: str) -> None:
    ending, research, voice, _speaker, endings = await told(ledger, ZOO[name])
    assert (ending.basis, ending.reason, endings) == ("fallback", "steps", 1)
    assert FACTS["boiler"] in ending.text and research.note.asked == []
    spoken = " ".join(voice.texts)
    assert spoken.count(phrase("fallback", "en")) == 1
    assert not any(sign in spoken for sign in ("{", "<", "`", "note", "somewhere"))


async def test_chanting_is_ended_and_said_to_be_incomplete(ledger: Ledger) -> None:
    ending, research, voice, _speaker, endings = await told(
        ledger, ["boiler pressure is high, "] * 16
    )
    assert (ending.basis, ending.reason, endings) == ("forced", "steps", 1)
    assert ending.text.count("is high") < 10
    assert phrase("incomplete", "en") in " ".join(voice.texts)
    assert "".join(event.text for event in research.of(AnswerText)).strip() == ending.text
