"""Finds "alexa" under the assistant's own voice, as the listening front end does.

    python benchmarks/wake_under_voice.py --data DIR [--n 100] [--ratios 0,-5,-10,-15] [--after 6]
    python benchmarks/wake_under_voice.py --data DIR --self-minutes 60

DIR and the rule are described in benchmarks/README.md.
"""

import argparse
import asyncio
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.format import SAMPLE_RATE_HZ, read_recording
from voice_agent.errors import VoiceAgentError
from voice_agent.events import Wake
from voice_agent.places import places
from voice_agent.settings import load_settings
from voice_agent.speech_models import load_voice
from voice_agent.turns.endpointing import EndpointRules
from voice_agent.turns.front_end import FrontEnd

Samples = NDArray[np.float32]

WORD = "alexa"
DOCUMENTS = Path(__file__).parent.parent / "examples" / "documents"
DEVICE_PAIR = "9mkQhVtzTEy2hDk-6u2Sww_farend_singletalk"
OWN_WAKE_PHRASES = (
    "Just say Alexa, and then your question.",
    "The wake word is Alexa.",
    "Alexa is also the name of a library in Egypt.",
    "You can say Alexa at any time to stop me.",
    "Alexa!",
    "The meeting was opened by Alexa Brown at seven.",
)
EACH_WAKE_PHRASE = 8
"""One sentence in so many has the wake phrase in it, when own answers are played."""

DEVICE_MIXES = 24
VOICE_S = 120
FLOOR = 1e-4
PEAK = 0.9
OWN_LEVEL = 0.1
LATE_S = 1.0
BLOCK_SAMPLES = 320


@dataclass(frozen=True)
class Mix:
    """What the microphone hears, what is played meanwhile, and where the wake word is."""

    microphone: Samples
    playback: Samples
    start: int
    end: int


def main(argv: Sequence[str]) -> int:
    """Run the benchmark; return 0 whatever the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--n", type=int, default=100, help="mixes for each ratio (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="which ones are drawn (default: 1)")
    parser.add_argument("--ratios", default="0,-5,-10,-15", help="speech to echo, in dB")
    parser.add_argument(
        "--after", type=float, default=6.0, help="seconds of voice before the word (default: 6)"
    )
    parser.add_argument(
        "--self-minutes", type=float, default=0, help="only its own answers, for so long"
    )
    args = parser.parse_args(argv)
    try:
        return _own_answers(args) if args.self_minutes else _table(args)
    except VoiceAgentError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


def _table(args: argparse.Namespace) -> int:
    rooms = [_read(file) for file in sorted((args.data / "echo" / "rir").iterdir())]
    files = sorted((args.data / "wake" / "picovoice" / WORD).iterdir())
    clean = [word for word in map(_word, files) if _found(_alone(word))]
    print(f"{len(clean)} of {len(files)} recordings are found clean", flush=True)
    voice = asyncio.run(_spoken(_sentences(), VOICE_S))
    playback = _read(args.data / "echo" / f"{DEVICE_PAIR}_lpb.flac")
    device = _read(args.data / "echo" / f"{DEVICE_PAIR}_mic.flac")[: len(playback)]
    print("ratio   mixes  found  without cancelling  false | device  without  false", flush=True)
    for ratio_db in (float(ratio) for ratio in args.ratios.split(",")):
        rng = np.random.default_rng(args.seed)
        order = [clean[at % len(clean)] for at in range(args.n)]
        mixes = [
            _room_mix(word, voice, rooms[at % len(rooms)], (args.after, ratio_db), rng=rng)
            for at, word in enumerate(order)
        ]
        pairs = [
            _mix(word, playback, device, (args.after, ratio_db)) for word in order[:DEVICE_MIXES]
        ]
        _print_row(ratio_db, mixes, pairs)
    return 0


def _print_row(ratio_db: float, mixes: Sequence[Mix], pairs: Sequence[Mix]) -> None:
    """Print the shares of one ratio: in rooms, and on a real device."""
    cells = []
    for some in (mixes, pairs):
        heard = [_wakes(mix.microphone, mix.playback) for mix in some]
        found = sum(_in_time(mix, wakes) for mix, wakes in zip(some, heard, strict=True))
        false = sum(map(len, heard)) - found
        without = sum(_in_time(mix, _wakes(mix.microphone, None)) for mix in some)
        cells += [found / len(some), without / len(some), false]
    print(
        f"{ratio_db:4.0f} dB {len(mixes):6} {cells[0]:6.1%} {cells[1]:19.1%} {cells[2]:6} |"
        f" {cells[3]:6.1%} {cells[4]:8.1%} {cells[5]:6}",
        flush=True,
    )


def _own_answers(args: argparse.Namespace) -> int:
    """Play the assistant's own answers, with the wake phrase in them, room after room."""
    rooms = [_read(file) for file in sorted((args.data / "echo" / "rir").iterdir())]
    part_s = min(args.self_minutes * 60 / len(rooms), 600)
    voice = asyncio.run(_spoken(_with_wake_phrases(), part_s))
    front, hours, wakes, without = _front(), 0.0, 0, 0
    at = 0
    while hours * 60 < args.self_minutes - 0.01:
        echo = _echo(voice, rooms[at % len(rooms)])
        echo *= OWN_LEVEL / _level(echo)
        if at < len(rooms):
            without += len(_wakes(_with_floor(echo), None))
        for wake in _heard(front, _with_floor(echo), voice):
            wakes += 1
            print(f"room {at % len(rooms)}: at {wake / SAMPLE_RATE_HZ:.1f} s", flush=True)
        hours += len(voice) / SAMPLE_RATE_HZ / 3600
        at += 1
        print(
            f"{hours * 60:5.1f} min: {wakes} self-interruptions;"
            f" without cancelling {without} in {min(at, len(rooms)) * part_s / 60:.0f} min",
            flush=True,
        )
    return 0


def _front() -> FrontEnd:
    threshold = load_settings().settings.wake.own_voice_threshold
    front = FrontEnd.load([WORD], EndpointRules(), own_voice_threshold=threshold)
    front.feed(np.zeros(SAMPLE_RATE_HZ, np.float32))
    return front


def _wakes(microphone: Samples, playback: Samples | None) -> list[int]:
    return _heard(_front(), microphone, playback)


def _heard(front: FrontEnd, microphone: Samples, playback: Samples | None) -> list[int]:
    """Return the samples at which the wake word was detected."""
    began_s = front.position_s
    found = []
    for at in range(0, len(microphone), BLOCK_SAMPLES):
        played = None if playback is None else playback[at : at + BLOCK_SAMPLES]
        for event in front.feed(microphone[at : at + BLOCK_SAMPLES], played):
            if isinstance(event, Wake):
                found.append(round(((event.t_s or 0) - began_s) * SAMPLE_RATE_HZ))
                front.stop_listening()
    return found


def _found(mix: Mix) -> bool:
    return _in_time(mix, _wakes(mix.microphone, None))


def _in_time(mix: Mix, wakes: Sequence[int]) -> bool:
    return any(mix.start < at <= mix.end + LATE_S * SAMPLE_RATE_HZ for at in wakes)


def _room_mix(
    word: Samples,
    voice: Samples,
    room: Samples,
    how: tuple[float, float],
    *,
    rng: np.random.Generator,
) -> Mix:
    samples = int((how[0] + LATE_S) * SAMPLE_RATE_HZ) + len(word)
    start = int(rng.integers(0, len(voice) - samples))
    playback = voice[start : start + samples]
    return _mix(word, playback, _echo(playback, room), how)


def _mix(word: Samples, playback: Samples, echo: Samples, how: tuple[float, float]) -> Mix:
    """Lay ``word`` over ``echo`` after ``how[0]`` s, ``how[1]`` dB louder than the echo there."""
    start = int(how[0] * SAMPLE_RATE_HZ)
    end = start + len(word)
    gain = _level(word) / max(_level(echo[start:end]), FLOOR) * 10 ** (-how[1] / 20)
    heard = gain * echo
    heard[start:end] += word[: len(heard) - start]
    heard *= min(1.0, PEAK / float(np.abs(heard).max()))
    return Mix(_with_floor(heard), playback, start, end)


def _alone(word: Samples) -> Mix:
    second = np.zeros(SAMPLE_RATE_HZ, np.float32)
    heard = _with_floor(np.concatenate([second, word, second]))
    return Mix(heard, np.zeros_like(heard), SAMPLE_RATE_HZ, SAMPLE_RATE_HZ + len(word))


def _with_floor(samples: Samples) -> Samples:
    noise = np.random.default_rng(7).standard_normal(len(samples))
    return (samples + FLOOR * noise).astype(np.float32)


def _echo(samples: Samples, room: Samples) -> Samples:
    size = 1 << (len(samples) + len(room)).bit_length()
    spectrum = np.fft.rfft(samples, size) * np.fft.rfft(room, size)
    return np.asarray(np.fft.irfft(spectrum)[: len(samples)], np.float32)


def _level(samples: Samples) -> float:
    return float(np.sqrt(np.square(samples, dtype=np.float64).mean()))


def _read(file: Path) -> Samples:
    return read_recording(file).at(SAMPLE_RATE_HZ).samples


def _word(file: Path) -> Samples:
    """Return a recording without the silence around it."""
    samples = _read(file)
    loud = np.nonzero(np.abs(samples) > 0.05 * np.abs(samples).max())[0]
    return samples[max(loud[0] - 800, 0) : loud[-1] + 1600]


def _sentences() -> Iterator[str]:
    """Yield sentences of the example documents, again and again."""
    texts = [file.read_text() for file in sorted(DOCUMENTS.iterdir())]
    pieces = [
        piece.strip("#-* ") for text in texts for piece in re.split(r"(?<=[.!?])\s+|\n+", text)
    ]
    sayable = [piece for piece in pieces if 40 < len(piece) < 160 and "|" not in piece]
    while True:
        yield from np.random.default_rng(1).permutation(sayable).tolist()


def _with_wake_phrases() -> Iterator[str]:
    for at, sentence in enumerate(_sentences()):
        if at % EACH_WAKE_PHRASE == 0:
            yield OWN_WAKE_PHRASES[at // EACH_WAKE_PHRASE % len(OWN_WAKE_PHRASES)]
        yield sentence


async def _spoken(sentences: Iterator[str], seconds: float) -> Samples:
    """Return the sentences in the assistant's own voice, with short pauses."""
    tts = load_settings().settings.tts
    pause = np.zeros(int(0.3 * SAMPLE_RATE_HZ), np.float32)
    parts: list[Samples] = []
    with load_voice(tts.voice, places().models, rate=tts.rate, volume=tts.volume) as voice:
        while sum(map(len, parts)) < seconds * SAMPLE_RATE_HZ:
            speech = await voice.synthesize(next(sentences))
            parts += [speech.sound.at(SAMPLE_RATE_HZ).samples, pause]
    return np.concatenate(parts)[: int(seconds * SAMPLE_RATE_HZ)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
