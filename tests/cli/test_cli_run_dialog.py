"""``run`` on recordings, with the real models: partial transcripts, stop phrases, cues, bounds."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from spoken import Samples, noise, say, silence

from voice_agent.audio.format import read_recording

RATE_HZ = 16_000
WAKE, QUESTION = "Hey Jarvis.", "What is the colour of the car?"
RADIO = "The committee has decided today that the trains to the coast will be late, and so on."
Events = list[dict[str, Any]]


class Desk:
    """The program with the small model, no documents, and files for the devices."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("DATA", "CONFIG", "CACHE")}
        self.env = os.environ | homes
        self.env |= {
            "VOICE_AGENT_LLM__MODEL": "qwen2.5-coder-0.5b-instruct",
            "VOICE_AGENT_RESEARCH__MAX_STEPS": "2",
            "VOICE_AGENT_RESEARCH__TIMEOUT_S": "10",
        }

    def hears(self, *parts: Samples) -> Events:
        """Return the events of a run on the sound of ``parts``."""
        sound = np.concatenate([silence(1.5), *parts])
        sound = sound + noise(1, 0.0003)[np.arange(len(sound)) % RATE_HZ]
        soundfile.write(self.folder / "in.wav", sound, RATE_HZ)
        files = ["--input-wav", str(self.folder / "in.wav"), "--output-wav", str(self.out)]
        command = [sys.executable, "-m", "voice_agent", "run", "--json", *files]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    @property
    def out(self) -> Path:
        """What the loudspeaker played."""
        return self.folder / "out.wav"

    def loud_between(self, start_s: float, end_s: float) -> bool:
        """Whether the loudspeaker played then."""
        heard = read_recording(self.out).samples[int(start_s * RATE_HZ) : int(end_s * RATE_HZ)]
        return bool(np.abs(heard).max(initial=0) > 0.02)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def the(events: Events, name: str) -> dict[str, Any]:
    found = [event for event in events if event["event"] == name]
    assert len(found) == 1, (name, events)
    return found[0]


def test_the_text_of_the_pause_is_the_transcript_and_cues_are_heard(desk: Desk) -> None:
    events = desk.hears(say(WAKE), silence(0.4), say(QUESTION), silence(2))
    partials = [event for event in events if event["event"] == "partial"]
    transcript = the(events, "transcript")
    assert "car" in transcript["text"]
    assert [(p["text"], p["stt_s"]) for p in partials[-1:]] == [
        (transcript["text"], transcript["stt_s"])
    ]
    wake_s = the(events, "wake")["t_s"]
    assert not desk.loud_between(0, wake_s - 0.05)
    assert desk.loud_between(wake_s, wake_s + 0.5)
    timings = the(events, "answer")["timings"]
    assert 0 < timings["endpoint"] <= timings["transcript"] < timings["first_sound"]


def test_never_mind_is_no_question_and_silence_none_either(desk: Desk) -> None:
    asked = [say(WAKE), silence(0.4), say("Never mind."), silence(8)]
    events = desk.hears(*asked, say(WAKE), silence(7))
    assert the(events, "cancelled")["cause"] == "stop phrase"
    names = [event["event"] for event in events]
    assert (names.count("wake"), names[-1]) == (2, "wake")
    assert not {"answer", "tool_call", "playback_started"} & set(names)
    last_s = events[-1]["t_s"]
    assert desk.loud_between(last_s + 3, last_s + 7)


def test_of_a_radio_that_talks_on_one_question_of_bounded_length_counts(desk: Desk) -> None:
    desk.env["VOICE_AGENT_LISTEN__MAX_QUESTION_S"] = "4"
    events = desk.hears(say(WAKE), silence(0.3), *[say(RADIO)] * 6)
    utterance = the(events, "utterance")
    assert utterance["end_s"] - utterance["start_s"] <= 4.1
    assert the(events, "answer")["turn"] == 1
