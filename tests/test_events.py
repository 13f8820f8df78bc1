"""The JSON form of every event: the names and fields that programs read."""

import json

import pytest

from voice_agent import events

FIELDS = {
    "wake": "word score",
    "speech_started": "start_s end_s",
    "speech_ended": "start_s end_s",
    "utterance": "start_s end_s",
    "partial": "text language audio_s stt_s file",
    "asked": "text",
    "asked_back": "text",
    "transcript": "text language audio_s stt_s file",
    "round": "n prompt_tokens reused_tokens output_tokens reserved charged",
    "tool_call": "id name arguments",
    "write_begun": "id name arguments",
    "tool_result": "id status chars new_evidence text",
    "finishing": "reason",
    "answer_text": "text",
    "sentence": "n text",
    "playback_started": "",
    "playback_ended": "heard_text",
    "answer": "text spoken basis reason sources rounds charged_tokens answer_tokens timings",
    "cancelled": "cause silence_s stopped_s heard_text",
    "error": "stage message mend file",
    "unspoken": "message mend",
    "hears_again": "gone_s",
    "sound_lost": "overruns dropped_blocks underruns",
}
EXAMPLES: dict[str, events.Event] = {
    "wake": events.Wake(word="alexa", score=0.9),
    "speech_started": events.SpeechStarted(start_s=1),
    "speech_ended": events.SpeechEnded(start_s=1, end_s=2),
    "utterance": events.Utterance(start_s=1, end_s=2),
    "partial": events.Partial(text="a", language="en", audio_s=1, stt_s=1),
    "asked": events.Asked(text="a"),
    "asked_back": events.AskedBack(text="a"),
    "transcript": events.Transcript(text="a", language="en", audio_s=1, stt_s=1),
    "round": events.Round(n=1),
    "tool_call": events.ToolCall(id="1", name="search", arguments={"query": "a"}),
    "write_begun": events.WriteBegun(id="1", name="note", arguments={"text": "a"}),
    "tool_result": events.ToolResult(id="1", status="ok", chars=3, new_evidence=1),
    "finishing": events.Finishing(reason="time"),
    "answer_text": events.AnswerText(text="a"),
    "sentence": events.Sentence(n=1, text="a"),
    "playback_started": events.PlaybackStarted(),
    "playback_ended": events.PlaybackEnded(heard_text="a"),
    "answer": events.Answer(
        text="a",
        spoken="a",
        basis="complete",
        reason="none",
        sources=(events.Source("a.md", "A", page=3),),
        rounds=0,
        charged_tokens=1,
        answer_tokens=0,
        timings=events.Timings(first_sound=0.5),
    ),
    "cancelled": events.Cancelled(cause="wake", silence_s=0, stopped_s=0, heard_text=""),
    "error": events.Error(stage="llm", message="a"),
    "unspoken": events.Unspoken(message="It is gone."),
    "unrecorded": events.Unrecorded(message="It is full."),
    "hears_again": events.HearsAgain(gone_s=2.5),
    "sound_lost": events.SoundLost(overruns=0, dropped_blocks=1, underruns=2),
}


def test_every_event_is_listed() -> None:
    shared = [kind for kind in vars(events).values() if isinstance(kind, type)]
    kinds = {kind for kind in shared if issubclass(kind, events.Event)} - {events.Event}
    assert {type(event) for event in EXAMPLES.values()} == kinds


@pytest.mark.parametrize("name", FIELDS)
def test_an_event_has_its_documented_name_and_fields(name: str) -> None:
    plain = events.to_json(EXAMPLES[name])
    assert plain["event"] == name
    assert list(plain)[:3] == ["event", "t_s", "turn"]
    assert set(plain) - {"event", "t_s", "turn"} == set(FIELDS[name].split())


@pytest.mark.parametrize("name", FIELDS)
def test_an_event_survives_json(name: str) -> None:
    plain = events.to_json(EXAMPLES[name])
    assert json.loads(json.dumps(plain)) == plain
    assert events.from_json(plain) == EXAMPLES[name]


def test_an_event_of_a_later_version_is_none() -> None:
    assert events.from_json({"event": "dream", "t_s": 1, "turn": None}) is None


def test_sources_and_timings_are_objects() -> None:
    plain = events.to_json(EXAMPLES["answer"])
    assert plain["sources"] == [{"path": "a.md", "title": "A", "heading": None, "page": 3}]
    assert plain["timings"] == {
        "endpoint": None,
        "transcript": None,
        "first_token": None,
        "first_sentence": None,
        "first_sound": 0.5,
        "answer_end": None,
    }


def test_events_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        EXAMPLES["wake"].turn = 1  # type: ignore[misc]  # that is the point
