"""An answer spoken while it is written, and the words that were really heard."""

import asyncio

import pytest
from fakes import WORD_SAMPLES, FakeSpeaker, FakeVoice, a_while

from voice_agent.engine import StopFlag
from voice_agent.errors import DeviceError
from voice_agent.events import Event, PlaybackEnded, PlaybackStarted, Sentence, name_of
from voice_agent.speaking import AHEAD, Speaking


class Talk:
    """Someone speaking, and the events that this gave."""

    def __init__(
        self,
        speaker: FakeSpeaker | None = None,
        voice: FakeVoice | None = None,
        *,
        first_clause_chars: int = 0,
    ) -> None:
        self.speaker = speaker or FakeSpeaker()
        self.voice = voice or FakeVoice()
        self.stop = StopFlag()
        self.events: list[Event] = []
        self.speaking = Speaking(
            self.voice,
            self.speaker,
            turn=1,
            stop=self.stop,
            emit=self.events.append,
            first_clause_chars=first_clause_chars,
        )
        self.task = asyncio.create_task(self.speaking.run())

    async def write(self, text: str, *, end: bool = True) -> None:
        self.speaking.feed(text)
        if end:
            self.speaking.end()
        await a_while()

    async def hear(self, words: int) -> None:
        self.speaker.advance(words * WORD_SAMPLES)
        await a_while()

    def cancel(self) -> None:
        """Do what a turn does when it is cancelled."""
        self.speaker.abort()
        self.stop.set()
        self.task.cancel()

    @property
    def names(self) -> list[str]:
        return [name_of(event) for event in self.events]


async def test_a_sentence_is_spoken_while_the_next_one_is_written() -> None:
    talk = Talk()
    await talk.write("It is red. And", end=False)
    assert talk.voice.texts == ["It is red."]
    assert talk.names == ["sentence", "playback_started"]
    talk.cancel()
    await asyncio.wait([talk.task])


async def test_the_first_clause_is_spoken_while_its_sentence_is_written() -> None:
    talk = Talk(first_clause_chars=20)
    await talk.write("If the alarm rings at night, call the caretaker of", end=False)
    assert talk.voice.texts == ["If the alarm rings at night,"]
    assert talk.names == ["sentence", "playback_started"]
    await talk.write(" the house.")
    await talk.hear(8)
    talk.cancel()
    await asyncio.wait([talk.task])
    assert talk.speaking.heard_text == "If the alarm rings at night, call the"
    assert talk.speaking.spoken_text == (
        "If the alarm rings at night, call the caretaker of the house."
    )


async def test_the_whole_answer_is_heard() -> None:
    talk = Talk(FakeSpeaker(instant=True))
    await talk.write("It is red. It is big.")
    await talk.task
    assert [e.text for e in talk.events if isinstance(e, Sentence)] == ["It is red.", "It is big."]
    assert [e.n for e in talk.events if isinstance(e, Sentence)] == [1, 2]
    assert talk.events[-1] == PlaybackEnded(turn=1, heard_text="It is red. It is big.")
    assert talk.speaking.spoken_text == "It is red. It is big."


async def test_it_ends_when_the_last_word_was_heard_not_before() -> None:
    talk = Talk()
    await talk.write("It is red.")
    await talk.hear(2)
    assert not talk.task.done()
    await talk.hear(1)
    assert talk.task.done() and talk.speaking.heard_text == "It is red."


async def test_playback_starts_and_ends_once() -> None:
    talk = Talk(FakeSpeaker(instant=True))
    await talk.write("One. Two. Three. Four. Five.")
    await talk.task
    kinds = (PlaybackStarted, PlaybackEnded)
    assert sum(isinstance(event, kinds) for event in talk.events) == 2


async def test_speech_is_not_made_long_before_it_is_heard() -> None:
    talk = Talk()
    await talk.write("It is one. It is two. It is three. It is four. It is five.")
    assert len(talk.speaker.sounds) == AHEAD + 1
    await talk.hear(3)
    assert len(talk.speaker.sounds) == AHEAD + 2
    talk.cancel()
    await asyncio.wait([talk.task])


@pytest.mark.parametrize("text", ["", " \n", "...", "```"])
async def test_where_nothing_can_be_said_nothing_is_played(text: str) -> None:
    talk = Talk()
    await talk.write(text)
    await talk.task
    assert (talk.events, talk.speaker.sounds, talk.speaking.heard_text) == ([], [], "")


@pytest.mark.parametrize("whole_text", [True, False])
@pytest.mark.parametrize(
    ("words", "heard"),
    [(0, ""), (1, "It"), (3, "It is red."), (4, "It is red. And"), (5, "It is red. And it")],
)
async def test_exactly_the_words_that_were_heard_are_known(
    words: int, heard: str, whole_text: bool
) -> None:
    talk = Talk()
    await talk.write("It is red. And it is big. So it", end=whole_text)
    await talk.hear(words)
    talk.cancel()
    await asyncio.wait([talk.task])
    assert talk.speaking.heard_text == heard
    assert talk.events[-1] == PlaybackEnded(turn=1, heard_text=heard)


async def test_half_a_word_was_not_heard() -> None:
    talk = Talk()
    await talk.write("It is red.")
    talk.speaker.advance(WORD_SAMPLES + WORD_SAMPLES // 2)
    talk.cancel()
    await asyncio.wait([talk.task])
    assert talk.speaking.heard_text == "It"


async def test_who_waits_for_it_and_is_cancelled_learns_what_was_heard_too() -> None:
    talk = Talk()

    async def wait() -> None:
        await talk.task

    waiting = asyncio.create_task(wait())
    await talk.write("It is red.")
    await talk.hear(2)
    talk.speaker.abort()
    talk.stop.set()
    waiting.cancel()
    await asyncio.wait([waiting, talk.task])
    assert talk.speaking.heard_text == "It is"


async def test_speech_made_too_late_is_never_played() -> None:
    voice = FakeVoice(lambda text: talk.stop.set())
    talk = Talk(voice=voice)
    await talk.write("It is red.")
    assert (talk.speaker.sounds, talk.events) == ([], [])
    await talk.task


async def test_a_stop_between_making_and_playing_is_silent() -> None:
    def stop() -> None:
        talk.speaker.abort()
        talk.stop.set()

    loop = asyncio.get_running_loop()
    talk = Talk(voice=FakeVoice(lambda text: loop.call_soon(stop)))
    await talk.write("It is red.")
    assert talk.speaker.sounds == []
    await talk.task


async def test_a_loudspeaker_that_fails_is_an_error() -> None:
    talk = Talk(FakeSpeaker(fault=DeviceError("It is gone.")))
    await talk.write("It is red.")
    with pytest.raises(DeviceError, match="gone"):
        await talk.task


async def test_the_first_sentence_and_the_first_sound_are_told_once() -> None:
    talk, told = Talk(FakeSpeaker(instant=True)), list[str]()
    talk.speaking.on_first_sentence = lambda: told.append("sentence")
    talk.speaking.on_first_sound = lambda: told.append("sound")
    await talk.write("It is red. It is big.")
    await talk.task
    assert told == ["sentence", "sound"]


async def test_a_question_in_between_is_heard_apart_from_the_answer() -> None:
    talk = Talk(FakeSpeaker(instant=True))
    await talk.write("Let me see", end=False)
    assert await talk.speaking.put("May I? It is new.")
    await talk.write("Done.")
    await talk.task
    heard = [event.heard_text for event in talk.events if isinstance(event, PlaybackEnded)]
    assert heard == ["Let me see May I? It is new.", "Done."]
    assert talk.speaking.spoken_text == "Let me see Done."
    assert talk.speaking.heard_text == " ".join(heard)


async def test_a_question_in_between_is_waited_for_until_its_last_word() -> None:
    talk = Talk()
    asking = asyncio.create_task(talk.speaking.put("May I?"))
    await a_while()
    await talk.hear(1)
    assert not asking.done()
    await talk.hear(1)
    assert await asking
    talk.cancel()
    await asyncio.wait([talk.task])


async def test_a_question_that_no_loudspeaker_plays_is_not_heard() -> None:
    talk = Talk(FakeSpeaker(fault=DeviceError("gone")))
    assert not await talk.speaking.put("May I?")
    assert not await talk.speaking.put("May I now?")
    with pytest.raises(DeviceError):
        await talk.task
