"""The Piper voice (piper-tts, VITS on ONNX): a phonemizer and a network, on a thread of its own."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # has no types
import piper
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as ort_state  # type: ignore[import-untyped]

from voice_agent.audio.format import Sound
from voice_agent.engine import Engine, StopFlag
from voice_agent.errors import ModelMismatch, ModelMissing, SynthesisError
from voice_agent.tts.alignment import Phoneme, word_spans
from voice_agent.tts.speech import Speech, SpokenWord

LONGEST_PORTION_CHARS = 300
"""More text than this goes to the network in portions: its memory grows with the sentence."""

_FAULTS = (
    ort_state.Fail,
    ort_state.InvalidArgument,
    ort_state.InvalidGraph,
    ort_state.InvalidProtobuf,
    ort_state.NoModel,
    ort_state.NoSuchFile,
    ort_state.NotImplemented,
    ort_state.RuntimeException,
)


class PiperVoice:
    """A voice of Piper. `load` makes one; `close` ends its thread."""

    def __init__(self, voice: piper.PiperVoice, rate: float, volume: float) -> None:
        self._voice = voice
        self._kept: dict[str, Speech | None] = {}
        self.tune(rate=rate, volume=volume)
        self._engine = Engine("tts")

    @classmethod
    def load(cls, onnx_path: Path, *, rate: float = 1.0, volume: float = 1.0) -> "PiperVoice":
        """Load the voice and its ``.onnx.json``; ``rate`` 2 speaks twice as fast.

        Blocks for about a second. Raises ModelMissing or ModelMismatch.
        """
        config_path = onnx_path.with_name(f"{onnx_path.name}.json")
        config = _read_config(config_path, onnx_path.stem)
        session = _open_network(onnx_path)
        return cls(piper.PiperVoice(session=session, config=config), rate, volume)

    @property
    def language(self) -> str:
        """The language that the voice speaks, such as "en"."""
        return str(self._voice.config.espeak_voice)[:2]

    @property
    def rate_hz(self) -> int:
        """The sample rate of its sound."""
        return int(self._voice.config.sample_rate)

    def tune(self, *, rate: float, volume: float) -> None:
        """Speak at another rate and volume from the next sentence on; see `load`."""
        self._config = piper.SynthesisConfig(
            length_scale=self._voice.config.length_scale / rate, volume=volume
        )
        self._kept = dict.fromkeys(self._kept)

    async def prepare(self, texts: Iterable[str]) -> None:
        """Make what will be said in these very words, and keep it: no network is needed then.

        Raises SynthesisError.
        """
        for text in texts:
            self._kept[text] = None
            await self.synthesize(text)

    async def synthesize(self, text: str, stop: StopFlag | None = None) -> Speech:
        """Return ``text`` as speech, its sound float32 of shape (n,) at `rate_hz`.

        Empty text gives empty speech. After ``stop`` no further portion is made. Raises
        SynthesisError.
        """
        kept = self._kept.get(text)
        if kept is not None:
            return kept
        speech = await self._engine.run(lambda: self._synthesize(text, stop))
        if text in self._kept and not (stop is not None and stop.is_set()):
            self._kept[text] = speech
        return speech

    def __enter__(self) -> "PiperVoice":
        """Return the voice."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """End the voice's thread, after what it is making now."""
        self._engine.close()

    def _synthesize(self, text: str, stop: StopFlag | None) -> Speech:
        sounds: list[NDArray[np.float32]] = []
        words: list[SpokenWord] = []
        made_samples = 0
        for portion in portions(_sayable(text)):
            for part in self._speak(portion, stop):
                sounds.append(part.samples)
                words += part.words_after(made_samples)
                made_samples += len(part.samples)
        samples = np.concatenate(sounds) if sounds else np.zeros(0, np.float32)
        return Speech(Sound(samples, self.rate_hz), tuple(words))

    def _speak(self, portion: str, stop: StopFlag | None) -> Iterator["_Part"]:
        """Yield one portion as a part, or nothing if it was stopped or cannot be said."""
        chunks: list[NDArray[np.float32]] = []
        phonemes: list[Phoneme] | None = []
        try:
            for chunk in self._voice.synthesize(portion, self._config, include_alignments=True):
                if stop is not None and stop.is_set():
                    return
                chunks.append(np.atleast_1d(chunk.audio_float_array))
                aligned = chunk.phoneme_alignments
                if phonemes is not None and aligned is not None:
                    phonemes += [Phoneme(a.phoneme, int(a.num_samples)) for a in aligned]
                else:
                    phonemes = None
        except (*_FAULTS, ValueError, RuntimeError) as error:
            raise SynthesisError(
                f"The voice could not say {portion[:60]!r}: {error}.",
                mend="Please report the text.",
            ) from error
        if chunks:
            samples = np.concatenate(chunks)
            texts = portion.split()
            yield _Part(samples, texts, self._spans(texts, phonemes, len(samples)))

    def _spans(
        self, words: list[str], phonemes: list[Phoneme] | None, samples: int
    ) -> list[tuple[int, int]]:
        if phonemes is None:  # a phoneme that the voice does not know: by length of the words
            ends = np.cumsum([len(word) + 1 for word in words])
            ends = (ends * samples // max(1, int(ends[-1]))).astype(int)
            return list(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True))
        return word_spans([self._phonemes_of(word) for word in words], phonemes)

    def _phonemes_of(self, word: str) -> str:
        return "".join(symbol for part in self._voice.phonemize(word) for symbol in part)


@dataclass(frozen=True)
class _Part:
    """The sound of one portion, float32 of shape (n,), its words and their samples."""

    samples: NDArray[np.float32]
    texts: list[str]
    spans: list[tuple[int, int]]

    def words_after(self, offset: int) -> list[SpokenWord]:
        return [
            SpokenWord(text, offset + start, offset + end)
            for text, (start, end) in zip(self.texts, self.spans, strict=True)
        ]


def portions(text: str, longest: int = LONGEST_PORTION_CHARS) -> list[str]:
    """Cut text into portions of at most ``longest`` characters, best where a sentence ends."""
    cut = []
    while len(text) > longest:
        head = text[: longest + 1]
        ends = [found.end() for found in re.finditer(r"[.!?;:,。！？](?=\s)", head)]
        end = ends[-1] if ends and ends[-1] > longest // 2 else head.rfind(" ")
        end = end if end > 0 else longest
        cut.append(text[:end].strip())
        text = text[end:].strip()
    return [*cut, text] if text else cut


def _sayable(text: str) -> str:
    """Take out what the phonemizer cannot take or would not read as text ("[[...]]")."""
    text = text.encode("utf-8", "ignore").decode()
    text = re.sub(r"[\x00-\x1f\x7f-\x9f]+", " ", text)
    text = re.sub(r"\[(?=\[)|\](?=\])", "", text)
    return text.strip() if re.search(r"\w", text) else ""


def _read_config(path: Path, name: str) -> piper.PiperConfig:
    try:
        return piper.PiperConfig.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise _missing(path, name) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _mismatch(path, name, error) from error


def _open_network(path: Path) -> onnxruntime.InferenceSession:
    """Open the network so that it also gives out each phoneme's length.

    Its threads sleep between sentences instead of spinning: the machine is shared.
    """
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4
    try:
        network = with_lengths(path.read_bytes())
        return onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
    except FileNotFoundError as error:
        raise _missing(path, path.stem) from error
    except (*_FAULTS, OSError) as error:
        raise _mismatch(path, path.stem, error) from error


def with_lengths(network: bytes) -> bytes:
    """Return an ONNX network with its phoneme lengths as a second output.

    The lengths are what the network's only Ceil node gives out (Piper, ALIGNMENTS.md). Protocol
    Buffers merge messages that follow each other, so a model of nothing but this output is
    appended: ModelProto.graph (7), GraphProto.output (12), ValueInfoProto.name (1). A network
    with none or several such nodes is returned as it is.
    """
    names = set(re.findall(rb"/[\w/.]*Ceil(?:_\d+)?_output_0", network))
    if len(names) != 1:
        return network
    return network + _field(7, _field(12, _field(1, names.pop())))


def _field(number: int, content: bytes) -> bytes:
    if len(content) > 127:
        raise ValueError("a one-byte length holds at most 127")
    return bytes([number << 3 | 2, len(content)]) + content


def _missing(path: Path, name: str) -> ModelMissing:
    return ModelMissing(
        f"The voice {name} is not complete: {path} is missing.",
        mend=f"Run 'voice-agent models pull {name}'.",
        file=path,
    )


def _mismatch(path: Path, name: str, error: Exception) -> ModelMismatch:
    reason = re.sub(r"\s+", " ", str(error)).strip().rstrip(".") or type(error).__name__
    return ModelMismatch(
        f"{path} is not a voice that can be loaded ({reason}).",
        mend=f"Run 'voice-agent models pull {name}'.",
        file=path,
    )
