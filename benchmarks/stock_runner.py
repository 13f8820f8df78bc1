"""A stock voice pipeline, as it is commonly put together; `stock.py` starts it at a virtual desk.

    PYTHONPATH=. python benchmarks/stock_runner.py --whisper DIR --gguf FILE --voice FILE
        --library FILE [--threads 2] [--language en]

One step after the other: WebRTC's VAD and 0.8 s of silence; faster-whisper's ``transcribe``; the
library's search; llama-cpp-python's ``create_chat_completion`` with the whole prompt processed
anew; the whole answer awaited; Piper; then the loudspeaker. Each line on stdin asks it to listen to
one question; lines on stdout are JSON objects: ``ready``, ``listening``, and ``answer`` with what
was understood and written, and when each stage was done, in seconds after the last frame that was
taken for speech.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sounddevice
import webrtcvad
from faster_whisper import WhisperModel
from llama_cpp import Llama
from numpy.typing import NDArray
from piper import PiperVoice

from voice_agent.engine import StopFlag
from voice_agent.library import Library
from voice_agent.research import prompts
from voice_agent.research.excerpts import fitting
from voice_agent.research.reading import PORTION_CHARS
from voice_agent.research.toolbox.library import SearchDocuments

RATE_HZ = 16_000
FRAME_SAMPLES = 480  # 30 ms, the longest that WebRTC's VAD takes
AGGRESSIVENESS = 2
SILENCE_S = 0.8
PRE_ROLL_FRAMES = 10
GIVE_UP_S = 40.0
CONTEXT_TOKENS = 4096
ANSWER_TOKENS = 256
PLAYBACK_LATENCY_S = 0.1  # with less, PulseAudio through ALSA was seen to lose the beginning


@dataclass(frozen=True)
class Asked:
    """A question as it was heard: float32 of shape (n,) at 16 kHz, and when (`time.monotonic`)."""

    samples: NDArray[np.float32]
    last_speech_s: float
    ended_s: float


@dataclass(frozen=True)
class Written:
    """An answer, when its first token and its end were there, and how long the prompt was."""

    text: str
    first_token_s: float
    ended_s: float
    prompt_tokens: int


class Stock:
    """The loaded models, each used as its own documentation shows."""

    def __init__(self, args: argparse.Namespace, library: Library) -> None:
        self._language = None if args.language == "auto" else args.language
        self._vad = webrtcvad.Vad(AGGRESSIVENESS)
        self._whisper = WhisperModel(
            str(args.whisper), device="cpu", compute_type="int8", cpu_threads=args.threads
        )
        self._llama = Llama(
            str(args.gguf),
            n_ctx=CONTEXT_TOKENS,
            n_threads=args.threads,
            n_threads_batch=args.threads,
            verbose=False,
        )
        self._voice = PiperVoice.load(args.voice)
        self._search = SearchDocuments(library)

    def warm_up(self) -> None:
        """Use each model once, so that the first question does not pay for it."""
        self._transcribed(np.zeros(RATE_HZ, np.float32))
        self._written("Is it ready?", "")
        self._said("Ready.")

    def turn(self) -> dict[str, Any]:
        """Listen to a question and answer it; return what came of it."""
        asked = self._listen()
        if asked is None:
            return {"failure": "heard no question"}
        understood = self._transcribed(asked.samples)
        transcript_s = time.monotonic()
        written = self._written(understood, self._found(understood))
        samples = self._said(written.text)
        first_sound_s = time.monotonic()
        if len(samples):
            rate_hz = self._voice.config.sample_rate
            sounddevice.play(samples, rate_hz, device="default", latency=PLAYBACK_LATENCY_S)
            sounddevice.wait()
        done = {
            "endpoint": asked.ended_s,
            "transcript": transcript_s,
            "first_token": written.first_token_s,
            "first_sentence": written.ended_s,
            "first_sound": first_sound_s,
            "answer_end": time.monotonic(),
        }
        return {
            "understood": understood,
            "text": written.text,
            "prompt_tokens": written.prompt_tokens,
            "timings": {name: round(at_s - asked.last_speech_s, 4) for name, at_s in done.items()},
        }

    def _listen(self) -> Asked | None:
        """Return the next question; None when nothing is said."""
        frames: list[bytes] = []
        last_speech_s = None
        with sounddevice.RawInputStream(
            samplerate=RATE_HZ,
            channels=1,
            dtype="int16",
            blocksize=FRAME_SAMPLES,
            device="default",
        ) as microphone:
            microphone.read(FRAME_SAMPLES)
            tell("listening")
            until_s = time.monotonic() + GIVE_UP_S
            while (now_s := time.monotonic()) < until_s:
                if last_speech_s is not None and now_s - last_speech_s >= SILENCE_S:
                    sound = np.frombuffer(b"".join(frames), "<i2").astype(np.float32) / 32768
                    return Asked(sound, last_speech_s, now_s)
                frame = bytes(microphone.read(FRAME_SAMPLES)[0])
                frames.append(frame)
                if self._vad.is_speech(frame, RATE_HZ):
                    last_speech_s = time.monotonic()
                elif last_speech_s is None:
                    del frames[:-PRE_ROLL_FRAMES]
        return None

    def _transcribed(self, samples: NDArray[np.float32]) -> str:
        segments, _ = self._whisper.transcribe(samples, language=self._language)
        return "".join(segment.text for segment in segments).strip()

    def _found(self, question: str) -> str:
        """Return the evidence as the assistant's own first request shows it."""
        asked = {"query": question}
        found = asyncio.run(self._search.run(asked, question=question, stop=StopFlag()))
        return prompts.passages(fitting(found.findings, PORTION_CHARS))

    def _written(self, question: str, evidence: str) -> Written:
        self._llama.reset()  # no prefix of the last prompt is kept
        stream = self._llama.create_chat_completion(
            [
                {"role": "system", "content": prompts.PERSONA},
                {"role": "user", "content": prompts.evidence_and_question(evidence, question)},
            ],
            temperature=0.0,
            max_tokens=ANSWER_TOKENS,
            stream=True,  # for the time of the first token alone: the whole answer is awaited
        )
        parts: list[str] = []
        first_token_s, prompt_tokens = None, 0
        for chunk in stream:
            if first_token_s is None:
                first_token_s, prompt_tokens = time.monotonic(), self._llama.n_tokens
            parts.append(chunk["choices"][0]["delta"].get("content") or "")
        ended_s = time.monotonic()
        return Written("".join(parts).strip(), first_token_s or ended_s, ended_s, prompt_tokens)

    def _said(self, text: str) -> NDArray[np.float32]:
        chunks = [np.atleast_1d(c.audio_float_array) for c in self._voice.synthesize(text)]
        return np.concatenate([np.zeros(0, np.float32), *chunks])


def tell(event: str, **fields: Any) -> None:
    """Write an event."""
    sys.stdout.write(json.dumps({"event": event, **fields}, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def main(argv: Sequence[str]) -> None:
    """Answer a question for each line until stdin ends."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--whisper", type=Path, required=True, metavar="DIR")
    parser.add_argument("--gguf", type=Path, required=True, metavar="FILE")
    parser.add_argument("--voice", type=Path, required=True, metavar="FILE")
    parser.add_argument("--library", type=Path, required=True, metavar="FILE")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--language", default="en", help="of the questions (default: en)")
    args = parser.parse_args(argv)
    with Library.open(args.library) as library:
        stock = Stock(args, library)
        stock.warm_up()
        tell("ready")
        for _ in sys.stdin:
            tell("answer", **stock.turn())


if __name__ == "__main__":
    main(sys.argv[1:])
