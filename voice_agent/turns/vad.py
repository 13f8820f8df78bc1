"""Voice activity: WebRTC's detector suspects on every hop, Silero's confirms what it suspects.

WebRTC's costs next to nothing and takes much for speech; Silero's costs a tenth of a core if it
always runs (design.md, "Measured facts"). So Silero runs only near what WebRTC takes for speech.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # has no types
import webrtcvad  # type: ignore[import-untyped]  # has no types
from numpy.typing import NDArray

from voice_agent.audio.format import SAMPLE_RATE_HZ
from voice_agent.errors import ModelMissing
from voice_agent.turns import HOP_S

_AGGRESSIVENESS = 2  # of 3: what is missed here is lost, what is suspected too much costs time
_SUSPICION_HOPS = 40  # how long a suspicion lasts: Silero, not WebRTC, finds the end of speech
_WINDOW_SAMPLES = 512
_CONTEXT_SAMPLES = 64
_LOOK_BACK_WINDOWS = 4  # heard again when a suspicion begins, so that Silero knows the onset
_SPEECH = 0.4
_STILL_SPEECH = 0.1  # words swallowed between pauses come no higher
_QUIET_PEAK = 0.1  # Silero hears nothing in speech whose peak is under 0.01
_MOST_GAIN = 20.0
_PEAK_HALVES_S = 2.0


class Vad:
    """Says of each hop of a stream whether someone speaks in it."""

    def __init__(self, silero: onnxruntime.InferenceSession) -> None:
        self._gate = webrtcvad.Vad(_AGGRESSIVENESS)
        self._silero = _Silero(silero)
        self._suspicion_hops = 0

    @classmethod
    def load(cls) -> "Vad":
        """Load Silero's network, which comes with faster-whisper. Raises ModelMissing."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        return cls(
            onnxruntime.InferenceSession(
                str(_network()), options, providers=["CPUExecutionProvider"]
            )
        )

    def suspects(self, hop: NDArray[np.float32]) -> bool:
        """Take the stream's next hop, shape (160,) at 16 kHz; return whether it may be speech.

        Every hop of the stream comes here, so that WebRTC knows the room's noise.
        """
        coded = np.clip(hop * 32768, -32768, 32767).astype("<i2").tobytes()
        if self._gate.is_speech(coded, SAMPLE_RATE_HZ):
            self._suspicion_hops = _SUSPICION_HOPS
        else:
            self._suspicion_hops = max(0, self._suspicion_hops - 1)
        return self._suspicion_hops > 0

    def confirms(self, hop: NDArray[np.float32], *, suspected: bool = True) -> bool:
        """Return whether ``hop``, shape (160,), is speech; Silero looks only if it is suspected.

        Only hops that follow each other come here: `forget` before a new passage.
        """
        return self._silero.feed(hop, suspected=suspected)

    def forget(self) -> None:
        """Begin a new passage for `confirms`."""
        self._silero.forget()


class _Silero:
    """Silero's recurrent network (v6), fed in windows of 32 ms with 4 ms of context."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self._session = session
        self._peak = 0.0
        self.forget()

    def forget(self) -> None:
        self._reset_state()
        self._skipped: list[NDArray[np.float32]] = []
        self._part: list[NDArray[np.float32]] = []
        self._context = np.zeros(_CONTEXT_SAMPLES, np.float32)
        self._speaks = False

    def _reset_state(self) -> None:
        self._h = np.zeros((1, 1, 128), np.float32)
        self._c = np.zeros((1, 1, 128), np.float32)

    def feed(self, hop: NDArray[np.float32], *, suspected: bool) -> bool:
        self._follow_peak(hop)
        self._part.append(hop)
        if sum(map(len, self._part)) >= _WINDOW_SAMPLES:
            whole = np.concatenate(self._part)
            self._part = [whole[_WINDOW_SAMPLES:]]
            self._window(whole[:_WINDOW_SAMPLES], suspected)
        return self._speaks

    def _window(self, window: NDArray[np.float32], suspected: bool) -> None:
        if not suspected:
            self._skipped = [*self._skipped[1 - _LOOK_BACK_WINDOWS :], window]
            self._speaks = False
            return
        if len(self._skipped) == _LOOK_BACK_WINDOWS:
            self._reset_state()  # it knows nothing of what lies between
        for earlier in self._skipped:
            self._probability(earlier)
        self._skipped = []
        self._speaks = self._probability(window) >= (_STILL_SPEECH if self._speaks else _SPEECH)

    def _probability(self, window: NDArray[np.float32]) -> float:
        gain = min(_QUIET_PEAK / self._peak, _MOST_GAIN) if 0 < self._peak < _QUIET_PEAK else 1.0
        heard = np.concatenate([self._context, window])[None] * np.float32(gain)
        self._context = window[-_CONTEXT_SAMPLES:]
        output, self._h, self._c = self._session.run(
            None, {"input": heard, "h": self._h, "c": self._c}
        )
        return float(output.reshape(-1)[0])

    def _follow_peak(self, hop: NDArray[np.float32]) -> None:
        fallen = self._peak * 0.5 ** (HOP_S / _PEAK_HALVES_S)
        self._peak = max(float(np.abs(hop).max()), fallen)


def _network() -> Path:
    """Where Silero's network is; found without importing faster-whisper, which takes a second."""
    spec = find_spec("faster_whisper")
    for folder in (spec and spec.submodule_search_locations) or ():
        for network in Path(folder).glob("assets/silero_vad*.onnx"):
            return network
    raise ModelMissing(
        "The voice detector Silero, a part of the package faster-whisper, is not installed.",
        mend="Run: make setup",
    )
