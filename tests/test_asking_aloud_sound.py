"""Asked back at a virtual desk whose microphone hears the loudspeaker: its own voice is no yes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import soundfile
from spoken import say

from voice_agent.audio.format import SAMPLE_RATE_HZ
from voice_agent.bench.sound_server import sound_server

DESK = """
import asyncio, json, subprocess, sys
from pathlib import Path
sys.path.insert(0, "tests")
from live_room import Room
from scripted_research import asking_back
from spoken import MODELS, VOICE
from voice_agent.audio.capture import DeviceMicrophone
from voice_agent.audio.playback import DeviceSpeaker
from voice_agent.audio.reference import PlayedSound
from voice_agent.events import Answer, PlaybackEnded, to_json
from voice_agent.ledger import Ledger
from voice_agent.live import Live
from voice_agent.llm.model import Call
from voice_agent.research.toolbox.notes import AddNote
from voice_agent.stt import WhisperTranscriber
from voice_agent.tts import PiperVoice
from voice_agent.turns.endpointing import EndpointRules
from voice_agent.turns.front_end import FrontEnd

folder, answer = Path(sys.argv[1]), sys.argv[2]
note = Call("c1", "add_note", {"text": "milk", "title": "shopping list"}, raw="add_note(milk)")

async def main():
    with (
        Ledger.open(folder / "ledger.sqlite3") as ledger,
        await WhisperTranscriber.load(MODELS / "whisper-tiny.en", threads=1) as transcriber,
        DeviceSpeaker() as speaker,
        DeviceMicrophone("") as microphone,
    ):
        voice = PiperVoice.load(MODELS / VOICE / f"{VOICE}.onnx")
        room = Room(ledger, [note], ["It is done."], voice=voice, speaker=speaker,
                    transcriber=transcriber, tools=(AddNote(folder / "notes"),),
                    confirm_writes=True)
        room.desk.ears = FrontEnd.load([], EndpointRules())
        room.desk.microphone = microphone
        speaker.tap = room.desk.reference = PlayedSound(speaker.device.rate_hz)
        room.desk.answer_s = 4.0
        answered = asyncio.Event()

        def tell(event):
            print(json.dumps(to_json(event)))
            if isinstance(event, PlaybackEnded) and answer and "May I" in event.heard_text:
                command = ["paplay", "--device=microphone", "--latency-msec=20", answer]
                asyncio.get_running_loop().call_later(0.7, subprocess.Popen, command)
            if isinstance(event, Answer):
                answered.set()

        live = Live(room.desk, tell)
        running = asyncio.create_task(live.run())
        await asyncio.sleep(1)
        live.ask("Add milk to my shopping list.", lambda turn: None)
        await answered.wait()
        live.stop("test")
        await running
        voice.close()

asyncio.run(main())
"""


def desk(folder: Path, said: str) -> list[dict[str, Any]]:
    """Return the events of an order at the desk; ``said`` answers the question, if it is asked."""
    clip = str(folder / "said.wav") if said else ""
    if said:
        soundfile.write(clip, say(said), SAMPLE_RATE_HZ)
    with sound_server(folder, echo=True) as server:
        command = [sys.executable, "-c", DESK, str(folder), clip]
        done = subprocess.run(command, env=server.env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("said", "transcripts", "written"), [("Yes, please.", 1, True), ("", 0, False)]
)
def test_only_the_users_own_yes_writes_a_note(
    tmp_path: Path, said: str, transcripts: int, written: bool
) -> None:
    events = desk(tmp_path, said)
    names = [event["event"] for event in events]
    assert names.count("transcript") == transcripts, events
    assert (tmp_path / "notes" / "shopping list.md").exists() is written, events
