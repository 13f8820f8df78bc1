"""Questions through a session: one result each, typed and spoken, until cancelled."""

from pathlib import Path

import numpy as np
import pytest
from fakes import FakeVoice, Script, ScriptedTranscriber, doing
from scripted_research import Research

from voice_agent.audio.format import Sound
from voice_agent.bench.questions import Question
from voice_agent.bench.run import Bench, SilentSpeaker, open_bench
from voice_agent.catalogue import Catalogue
from voice_agent.daemon import Wanted
from voice_agent.errors import ModelError, UsageError
from voice_agent.ledger import Ledger
from voice_agent.places import places
from voice_agent.session import Stages
from voice_agent.settings import Settings

COLOUR = Question(id="q1", text="Which colour?", accept=(("red",),))
SIZE = Question(id="q2", text="Which size?", accept=(("big",),))


def stages(ledger: Ledger, *replies: Script) -> Stages:
    loop = Research(*replies).loop
    return Stages(loop, ledger, voice=FakeVoice(), speaker=SilentSpeaker())


async def test_each_typed_question_has_a_result_with_its_verdict(ledger: Ledger) -> None:
    bench = Bench(stages(ledger, ["It is red."], ["It is small."]))
    results = [result async for result in bench.results([COLOUR, SIZE], ["typed"])]
    assert [(r.id, r.right, r.text) for r in results] == [
        ("q1", True, "It is red."),
        ("q2", False, "It is small."),
    ]
    assert results[0].timings.first_sound is not None
    assert results[0].heard is None


async def test_a_spoken_question_is_said_heard_and_answered(ledger: Ledger) -> None:
    desk = stages(ledger, ["It is red."])
    desk.transcriber = ScriptedTranscriber("Which color?")
    [result] = [result async for result in Bench(desk).results([COLOUR], ["spoken"])]
    assert (result.mode, result.heard, result.right) == ("spoken", "Which color?", True)
    assert result.timings.transcript is not None
    assert isinstance(desk.voice, FakeVoice)
    assert desk.voice.texts[0] == "Which colour?"


async def test_a_failed_turn_is_wrong_and_the_next_question_is_asked(ledger: Ledger) -> None:
    desk = stages(ledger, ["It is red."])
    desk.transcriber = ScriptedTranscriber(ModelError("It broke."), "Which colour?")
    results = [r async for r in Bench(desk).results([SIZE, COLOUR], ["spoken"])]
    assert [(r.right, r.basis, r.why) for r in results] == [
        (False, None, "It broke."),
        (True, "complete", ""),
    ]


async def test_a_cancelled_question_has_no_result_and_no_other_is_asked(ledger: Ledger) -> None:
    desk = stages(ledger)
    bench = Bench(desk)
    desk.research = Research(["It is red."], [doing(lambda: bench.cancel("SIGINT")), "x"]).loop
    results = [r async for r in bench.results([COLOUR, SIZE, COLOUR], ["typed"])]
    assert [r.id for r in results] == ["q1"]
    assert bench.interrupted


async def test_the_silent_speaker_has_heard_everything_at_once() -> None:
    speaker = SilentSpeaker()
    assert await speaker.play(Sound(np.zeros(30, np.float32), 1_000)) == 30
    assert speaker.played_samples == 30


async def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no documents"):
        async with open_bench(Settings(), places(), tmp_path, Wanted()):
            pass


async def test_the_users_own_library_and_ledger_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "note.md").write_text("# Door\n\nThe door is red.\n")
    small = next(m.name for m in Catalogue.load().models if "0.5b" in m.name)
    settings = Settings.model_validate({"llm": {"model": small}})
    async with open_bench(settings, places(), documents, Wanted()) as opened:
        assert opened.documents == 1
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "config").exists()
