"""Wake words, by microWakeWord: streaming networks on TensorFlow Lite, one for each word."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pymicro_wakeword
from numpy.typing import NDArray
from pymicro_wakeword.wakeword import TfLiteWakeWord

from voice_agent.audio.format import SAMPLE_RATE_HZ
from voice_agent.errors import ModelMismatch, ModelMissing

BUILT_IN = tuple(model.value for model in pymicro_wakeword.Model)
"""The words whose models come with the library."""

REFRACTORY_S = 1.5
"""The score of one word can rise twice, a second apart (seen of hey_mycroft)."""

_BLOCK_SAMPLES = 160
_PACKAGE = Path(pymicro_wakeword.__file__).parent


@dataclass(frozen=True)
class Detection:
    """``word`` was heard; its network's mean output was ``score`` when sample ``at`` had come."""

    word: str
    score: float
    at: int


class WakeWords:
    """Listens for several words at once, in one stream.

    The networks are never reset: what they answer depends on what they heard before, and the
    first second after a reset is deaf.
    """

    def __init__(
        self,
        models: Sequence[pymicro_wakeword.MicroWakeWord],
        *,
        threshold: float = 0.0,
        refractory_s: float = REFRACTORY_S,
    ) -> None:
        self._words = [_Word(model, threshold or model.probability_cutoff) for model in models]
        self._features = pymicro_wakeword.MicroWakeWordFeatures()
        self._refractory_samples = int(refractory_s * SAMPLE_RATE_HZ)
        self._position = 0

    @classmethod
    def load(
        cls, words: Sequence[str], *, threshold: float = 0.0, refractory_s: float = REFRACTORY_S
    ) -> "WakeWords":
        """Load the models of ``words``: built-in names, or paths of models' .json files.

        ``threshold`` 0 takes the one that each model was published with; a word that was
        detected is not detected again for ``refractory_s``. Raises ModelMissing and ModelMismatch.
        """
        models = [_load(word) for word in words]
        return cls(models, threshold=threshold, refractory_s=refractory_s)

    def feed(self, samples: NDArray[np.float32], *, threshold: float = 1.0) -> list[Detection]:
        """Take the stream's next samples, shape (n,) in [-1, 1] at 16 kHz; return what was heard.

        Positions count from the stream's first sample. ``threshold``: a lower one for now.
        """
        found: list[Detection] = []
        for start in range(0, len(samples), _BLOCK_SAMPLES):
            block = samples[start : start + _BLOCK_SAMPLES]
            self._position += len(block)
            coded = np.clip(block * 32768, -32768, 32767).astype("<i2").tobytes()
            for features in self._features.process_streaming(coded):
                found += self._heard(features, threshold)
        return found

    def _heard(self, features: NDArray[np.float32], threshold: float) -> list[Detection]:
        found = []
        for word in self._words:
            score = word.model.process_streaming_prob(features) or 0.0
            if score > min(word.threshold, threshold) and self._position >= word.deaf_until:
                word.deaf_until = self._position + self._refractory_samples
                found.append(Detection(word.model.id, round(score, 4), self._position))
        return found


class _Word:
    def __init__(self, model: pymicro_wakeword.MicroWakeWord, threshold: float) -> None:
        self.model = model
        self.threshold = threshold
        self.deaf_until = 0


def _load(word: str) -> pymicro_wakeword.MicroWakeWord:
    if word in BUILT_IN:
        return pymicro_wakeword.MicroWakeWord.from_builtin(pymicro_wakeword.Model(word))
    description = Path(word).expanduser()
    _check_network(_network_of(description))
    return pymicro_wakeword.MicroWakeWord.from_config(description)


def _network_of(description: Path) -> Path:
    """Return the file of the network that a model's .json file describes."""
    try:
        content = json.loads(description.read_text())
        micro = content["micro"]
        float(micro["probability_cutoff"]), int(micro["sliding_window_size"])
        str(content["wake_word"])
        return description.parent / str(content["model"])
    except OSError as error:
        raise ModelMissing(
            f"The wake word model {description} cannot be read:"
            f" {(error.strerror or str(error)).lower()}.",
            mend=f"Set wake.words to the model's .json file, or to one of {', '.join(BUILT_IN)}.",
            file=description,
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ModelMismatch(
            f"{description} does not describe a microWakeWord model ({error}).",
            mend="Take the .json file that was published beside the model's .tflite file.",
            file=description,
        ) from error


def _check_network(network: Path) -> None:
    """Raise if the library cannot load ``network``: it would end the whole program."""
    if not network.is_file():
        raise ModelMissing(
            f"The wake word's network {network} does not exist.",
            mend="Put the .tflite file beside the .json file that names it.",
            file=network,
        )
    library = next((_PACKAGE / "lib").glob("*tensorflowlite_c.*"))
    lite = TfLiteWakeWord(library).lib
    model = lite.TfLiteModelCreateFromFile(str(network.resolve()).encode())
    if not model:
        raise ModelMismatch(
            f"{network} is no TensorFlow Lite model, or not a whole one.",
            mend="Copy it again from where it was published.",
            file=network,
        )
    lite.TfLiteModelDelete(model)
