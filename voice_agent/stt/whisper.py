"""The Whisper model and the Silero VAD that comes with it, through faster-whisper.

Everything here blocks and belongs on the engine's thread.
"""

import json
from pathlib import Path

import numpy as np
from ctranslate2 import StorageView  # type: ignore[import-untyped]  # has no types, as the next
from faster_whisper import WhisperModel  # type: ignore[import-untyped]
from faster_whisper.tokenizer import Tokenizer  # type: ignore[import-untyped]
from faster_whisper.transcribe import get_suppressed_tokens  # type: ignore[import-untyped]
from faster_whisper.vad import VadOptions, get_speech_timestamps  # type: ignore[import-untyped]
from numpy.typing import NDArray

from voice_agent.audio.format import SAMPLE_RATE_HZ
from voice_agent.errors import ModelMismatch, ModelMissing
from voice_agent.stt.decoding import NOTHING, PADDING_S, Decoded, compression_ratio
from voice_agent.stt.pieces import LONGEST_PIECE_S, Span, audible

_WINDOW_FRAMES = 3_000  # 30 s: what the model's position embeddings reach to
_MOST_TOKENS = 448
_SURE_LANGUAGE = 0.5
_FILES = ("config.json", "model.bin", "tokenizer.json")
_VAD = VadOptions(
    min_silence_duration_ms=1_000, speech_pad_ms=400, max_speech_duration_s=LONGEST_PIECE_S
)


class Whisper:
    """One loaded model; short windows end in ``padding_s`` seconds of silence."""

    def __init__(self, model: WhisperModel, padding_s: float = PADDING_S) -> None:
        self._model = model
        self._padding_samples = round(padding_s * SAMPLE_RATE_HZ)

    @classmethod
    def load(cls, folder: Path, *, threads: int, compute_type: str = "int8") -> "Whisper":
        """Load the CTranslate2 model in ``folder``; nothing is ever downloaded.

        Raises ModelMissing and ModelMismatch.
        """
        _check_files(folder)
        try:
            model = WhisperModel(
                str(folder),
                device="cpu",
                compute_type=compute_type,
                cpu_threads=threads,
                local_files_only=True,
            )
        except (RuntimeError, ValueError, MemoryError) as error:
            raise _broken(folder, str(error)) from error
        return cls(model)

    def padded(self, padding_s: float) -> "Whisper":
        """Return the same loaded model with another padding of its short windows."""
        return Whisper(self._model, padding_s)

    @property
    def languages(self) -> list[str]:
        """The codes of the languages that the model knows."""
        return list(self._model.supported_languages)

    def spans(self, samples: NDArray[np.float32]) -> list[Span]:
        """Return where someone speaks in ``samples``, float32 of shape (n,) at 16 kHz."""
        found = get_speech_timestamps(audible(samples), _VAD)
        return [(span["start"], span["end"]) for span in found]

    def window(self, samples: NDArray[np.float32]) -> StorageView:
        """Encode ``samples``, shape (n,) at 16 kHz, padded a little instead of to 30 s.

        Method and measurements: design.md, "Whisper need not see 30 s".
        """
        padded = np.pad(samples, (0, self._padding_samples))
        features = self._model.feature_extractor(padded)[:, :_WINDOW_FRAMES]
        return self._model.encode(features[:, : features.shape[1] // 2 * 2])

    def language(self, window: StorageView, samples: NDArray[np.float32]) -> str:
        """Return the language spoken in ``window``, or in the full one if that does not tell."""
        if not self._model.model.is_multilingual:
            return "en"
        token, probability = self._model.model.detect_language(window)[0][0]
        if probability > _SURE_LANGUAGE:
            return str(token[2:-2])
        return str(self._model.detect_language(samples)[0])

    def decode(self, window: StorageView, language: str, *, most_tokens: int) -> Decoded:
        """Return the likeliest text of a short window; over ``most_tokens`` it is cut off."""
        tokenizer = Tokenizer(
            self._model.hf_tokenizer,
            self._model.model.is_multilingual,
            task="transcribe",
            language=language,
        )
        prompt = self._model.get_prompt(tokenizer, [], without_timestamps=True)
        result = self._model.model.generate(
            window,
            [prompt],
            beam_size=1,
            max_length=min(_MOST_TOKENS, 2 * most_tokens),  # the library takes half of it for text
            return_scores=True,
            return_no_speech_prob=True,
            suppress_tokens=list(get_suppressed_tokens(tokenizer, [-1])),
        )[0]
        tokens = result.sequences_ids[0]
        text = tokenizer.decode(tokens)
        # the score is the mean over the tokens; the end token, which is none of them, counts too
        logprob = result.scores[0] * len(tokens) / (len(tokens) + 1)
        return Decoded(
            text, len(tokens), logprob, result.no_speech_prob, compression_ratio(text.strip())
        )

    def stock(self, samples: NDArray[np.float32], language: str | None, *, beams: int) -> str:
        """Return the text of ``samples`` by faster-whisper's own way, untouched but for ``beams``.

        What `bench stt` measures against; None recognises the language.
        """
        segments, _ = self._model.transcribe(samples, language=language, beam_size=beams)
        return "".join(segment.text for segment in segments).strip()

    def full_window(self, samples: NDArray[np.float32], language: str) -> Decoded:
        """Return the text of ``samples``, shape (n,), at most 30 s, by faster-whisper's own way.

        It searches with five beams and, where the result is poor, at rising temperatures.
        """
        segments = list(
            self._model.transcribe(samples, language=language, condition_on_previous_text=False)[0]
        )
        if not segments:
            return NOTHING
        return Decoded(
            "".join(segment.text for segment in segments),
            sum(len(segment.tokens) for segment in segments),
            min(segment.avg_logprob for segment in segments),
            max(segment.no_speech_prob for segment in segments),
            max(segment.compression_ratio for segment in segments),
        )


def _check_files(folder: Path) -> None:
    for name in _FILES:
        if not (folder / name).is_file():
            raise ModelMissing(
                f"The speech model {folder.name} is not here: {folder / name} is missing.",
                mend=_mend(folder),
                file=folder / name,
            )
        if not (folder / name).stat().st_size:
            raise _broken(folder, f"{name} is empty (0 bytes)", folder / name)
    try:  # the tokenizer's own error is a bare Exception
        json.loads((folder / "tokenizer.json").read_bytes())
    except ValueError as error:
        raise _broken(
            folder, f"tokenizer.json is not whole: {error}", folder / "tokenizer.json"
        ) from error


def _broken(folder: Path, reason: str, file: Path | None = None) -> ModelMismatch:
    return ModelMismatch(
        f"The speech model {folder.name} in {folder} cannot be loaded: {reason.rstrip('.')}.",
        mend=_mend(folder),
        file=file or folder / "model.bin",
    )


def _mend(folder: Path) -> str:
    return f"Fetch it again with: voice-agent models pull {folder.name}"
