"""Takes the loudspeaker's sound out of the microphone's, by SpeexDSP's linear echo canceller.

Linear, because a suppressor takes the wake word away with the echo (design.md, "A wake word under
the assistant's own voice"). Method: multidelay block frequency-domain filter, Valin 2007, "On
Adjusting the Learning Rate in Frequency Domain Echo Cancellation With Double-Talk".
"""

import ctypes

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.format import SAMPLE_RATE_HZ
from voice_agent.errors import DeviceError

FRAME_SAMPLES = 160

TAIL_SAMPLES = 8192
"""Half a second of echo. Long rooms need it: with half of it they were not cancelled enough."""

_LIBRARY = "libspeexdsp.so.1"
_SET_SAMPLING_RATE = 24  # SPEEX_ECHO_SET_SAMPLING_RATE


class LinearEchoCanceller:
    """One adaptive filter, which learns the way from the loudspeaker to the microphone.

    While nothing has been played for longer than the filter's tail it costs nothing: the
    microphone's sound passes as it is, and what was learnt is kept.
    """

    def __init__(self) -> None:
        self._speex = _library()
        self._state = self._speex.speex_echo_state_init(FRAME_SAMPLES, TAIL_SAMPLES)
        if not self._state:
            raise MemoryError("the echo canceller's state")
        rate = ctypes.c_int(SAMPLE_RATE_HZ)
        self._speex.speex_echo_ctl(self._state, _SET_SAMPLING_RATE, ctypes.byref(rate))
        self._silent_samples = TAIL_SAMPLES

    def cancel(
        self, microphone: NDArray[np.float32], playback: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return ``microphone`` without the echo of ``playback``, both of shape (160,) at 16 kHz.

        Float32 of shape (160,); it comes without delay. The two are of the same time, so
        ``playback`` may lead its echo by up to the tail and must not lag behind it.
        """
        if playback.any():
            self._silent_samples = 0
        elif self._silent_samples > 2 * TAIL_SAMPLES:
            return microphone
        self._silent_samples += len(playback)
        cancelled = np.zeros(FRAME_SAMPLES, np.int16)
        self._speex.speex_echo_cancellation(
            self._state, _coded(microphone), _coded(playback), cancelled
        )
        return cancelled.astype(np.float32) / np.float32(32768)

    def close(self) -> None:
        """Free the filter."""
        if self._state:
            self._speex.speex_echo_state_destroy(self._state)
            self._state = None

    def __del__(self) -> None:
        if getattr(self, "_state", None):
            self.close()


def _coded(samples: NDArray[np.float32]) -> NDArray[np.int16]:
    return np.clip(samples * 32768, -32768, 32767).astype(np.int16)


def _library() -> ctypes.CDLL:
    try:
        speex = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise DeviceError(
            f"The echo canceller cannot be loaded: {_LIBRARY} is not installed.",
            mend="Install it with: sudo apt-get install libspeexdsp1",
        ) from error
    frame = np.ctypeslib.ndpointer(np.int16, ndim=1, shape=(FRAME_SAMPLES,), flags="C")
    speex.speex_echo_state_init.argtypes = [ctypes.c_int, ctypes.c_int]
    speex.speex_echo_state_init.restype = ctypes.c_void_p
    speex.speex_echo_ctl.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    speex.speex_echo_cancellation.argtypes = [ctypes.c_void_p, frame, frame, frame]
    speex.speex_echo_cancellation.restype = None
    speex.speex_echo_state_destroy.argtypes = [ctypes.c_void_p]
    speex.speex_echo_state_destroy.restype = None
    return speex
