"""Says the wake word and a question into the default sound server's microphone, and looks on.

    python tests/system/ask_by_voice.py MICROPHONE QUESTION

Run beside the service, as its user. Prints what the service told, as lines name=value.
"""

import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from voice_agent.bench.clips import Clips, wake_sound
from voice_agent.control.client import connected
from voice_agent.places import places
from voice_agent.settings import load_settings
from voice_agent.speech_models import load_voice

ENDINGS = ("answer", "cancelled", "error")
ATTEMPTS = 3
HEARD_S = 20.0
ANSWERED_S = 120.0


async def clip_of(question: str, folder: Path) -> Path:
    """Say the wake word and ``question`` into a file."""
    settings = load_settings().settings
    with load_voice(settings.tts.voice, places().models) as voice:
        clips = Clips(folder, voice, await wake_sound(settings, voice, None))
        return (await clips.question("question", question)).file


class Followed:
    """The service's events, collected on a thread of their own."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        with connected(places().control_socket) as following:
            following.request("follow")
            for event in following.events():
                self.events.append(event)

    def first(self, *names: str, limit_s: float = 0.0) -> dict[str, Any] | None:
        """Return the first event so named, waiting at most ``limit_s`` for it."""
        for _ in range(round(limit_s / 0.1) + 1):
            for event in list(self.events):
                if event["event"] in names:
                    return event
            time.sleep(0.1)
        return None


def main(microphone: str, question: str) -> None:
    """Ask, again if the wake word is not heard, and print what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        clip = asyncio.run(clip_of(question, Path(folder)))
        followed = Followed()
        time.sleep(1)
        for _ in range(ATTEMPTS):
            subprocess.run(["paplay", f"--device={microphone}", str(clip)], check=True)
            if followed.first("utterance", limit_s=HEARD_S):
                break
        ending = followed.first(*ENDINGS, limit_s=ANSWERED_S) or {"event": "none"}
    told = {
        "wake": (followed.first("wake") or {}).get("word"),
        "transcript": (followed.first("transcript") or {}).get("text"),
        "heard": (followed.first("playback_ended") or {}).get("heard_text"),
        "ending": ending["event"],
        "sources": " ".join(Path(each["path"]).name for each in ending.get("sources", [])),
        "first_sound_s": ending.get("timings", {}).get("first_sound"),
    }
    for name, value in told.items():
        sys.stdout.write(f"voice_{name}={' '.join(str(value or '').split())}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
