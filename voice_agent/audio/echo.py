"""Takes the loudspeaker's sound out of the microphone's, by a linear echo canceller.

Linear, because a suppressor takes the wake word away with the echo (design.md, "A wake word under
the assistant's own voice"). Method: partitioned frequency-domain Kalman filter, Enzner and Vary
2006, "Frequency-domain adaptive Kalman filter for acoustic echo control in hands-free telephones";
partitions as in Kuech, Mabande and Enzner 2014, "State-space architecture of the partitioned-block-
based acoustic echo controller". It knows how sure it is of each part of the echo's path, so it
learns fast at first, and hardly at all from what a person says meanwhile. Filtered is every frame,
by the newest path, so nothing is delayed.
"""

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.format import SAMPLE_RATE_HZ

FRAME_SAMPLES = 160

_BLOCK_FRAMES = 6
_BLOCK_SAMPLES = _BLOCK_FRAMES * FRAME_SAMPLES
_PARTITIONS = 12
TAIL_SAMPLES = _PARTITIONS * _BLOCK_SAMPLES
"""0.72 s of echo. Long rooms need it."""

_LEARN_EACH_FRAMES = 2
_ROOM_DECAY = 0.6
"""How fast a room's echo dies away, per partition: what is expected before anything is known."""
_EXPECTED_ERROR = 3.0
"""The echo path's uncertainty at first, in parts of its energy."""
_GAIN_FRAMES = 50
"""For this long the first expectation follows the echo's loudness."""
_GAIN_ENERGY = 5.0
"""As much energy is taken as heard before, of an echo as loud as the playback."""
_GAIN_RANGE = (1e-4, 30.0)
_KEEPS = 0.999**2
"""How much of the path stays the same from one step to the next: people and clocks move a bit."""
_NOISE_MEMORY = 0.8
# Blocks overlap, so each sample is learnt from three times: it must count less each time.
_NOISE_WEIGHT = 4.0
_CERTAINTY_STEP = 0.2
_TINY = 1e-9
_LEVEL_MEMORY = 0.5
"""Of the two levels that are compared, from frame to frame."""
_SILENT_POWER = 1e-7
"""From less than that, 70 dB below full scale, nothing is learnt, not even about the noise."""

_WATCHED_FRAMES = 40
_WATCHED_SAMPLES = _WATCHED_FRAMES * FRAME_SAMPLES
"""By so much sound it is judged whether the echo comes when it is expected."""
_ONSET_SAMPLES = int(0.1 * SAMPLE_RATE_HZ)
_MOST_SHIFT_SAMPLES = int(0.06 * SAMPLE_RATE_HZ)
_LEFT_TOO_MUCH = 0.3
_SURELY_SHIFTED = 1.2
_SURELY_ECHO = 0.5


class LinearEchoCanceller:
    """One adaptive filter, which learns the way from the loudspeaker to the microphone.

    While nothing has been played for longer than the filter's tail it costs nothing: the
    microphone's sound passes as it is, and what was learnt is kept. It takes about 2 % of a core.
    """

    def __init__(self) -> None:
        bins = _BLOCK_SAMPLES + 1
        self._playback = np.zeros(2 * _BLOCK_SAMPLES, np.float32)
        self._microphone = np.zeros(_BLOCK_SAMPLES, np.float32)
        self._spectra = np.zeros((_PARTITIONS * _BLOCK_FRAMES, bins), np.complex64)
        self._partitions = _BLOCK_FRAMES * np.arange(_PARTITIONS)
        self._path = np.zeros((_PARTITIONS, bins), np.complex64)
        self._watched = np.zeros((2, _WATCHED_SAMPLES), np.float32)
        share = np.exp(-_ROOM_DECAY * np.arange(_PARTITIONS))
        first = _EXPECTED_ERROR * share / share.sum()
        self._first = np.repeat(first[:, None], bins, axis=1).astype(np.float32)
        self._uncertainty = self._first.copy()
        self._noise = np.zeros(bins, np.float32)
        self._energies = np.full(2, _GAIN_ENERGY)
        self._levels = np.zeros(2)
        self._gain = 1.0
        self._frames = 0
        self._sounding_frames = 0
        self._watched_frames = 0
        self._silent_samples = 2 * TAIL_SAMPLES

    @property
    def active(self) -> bool:
        """Whether something plays, or its echo may still be heard."""
        return self._silent_samples < 2 * TAIL_SAMPLES

    def cancel(
        self, microphone: NDArray[np.float32], playback: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return ``microphone`` without the echo of ``playback``, both of shape (160,) at 16 kHz.

        Float32 of shape (160,); it comes without delay, and is never louder than ``microphone``
        was. The two are of the same time, so ``playback`` may lead its echo by up to the tail and
        must not lag behind it.
        """
        if playback.any():
            self._silent_samples = 0
        elif not self.active:
            return microphone
        self._silent_samples += len(playback)
        self._frames += 1
        self._playback = np.concatenate([self._playback[FRAME_SAMPLES:], playback])
        self._microphone = np.concatenate([self._microphone[FRAME_SAMPLES:], microphone])
        newest = -self._frames % len(self._spectra)
        self._spectra[newest] = np.fft.rfft(self._playback)
        played = self._spectra[(newest + self._partitions) % len(self._spectra)]
        whole = np.fft.irfft((played * self._path).sum(axis=0))
        echo = np.asarray(whole[_BLOCK_SAMPLES:], np.float32)
        cancelled = self._microphone - echo
        self._watch(microphone, echo[-FRAME_SAMPLES:])
        if _energy(self._playback) > _SILENT_POWER * len(self._playback):
            self._sounding_frames += 1
            if self._sounding_frames <= _GAIN_FRAMES:
                self._expect(microphone, playback)
            if self._frames % _LEARN_EACH_FRAMES == 0:
                self._learn(played, cancelled)
        return self._quieter(microphone, cancelled[-FRAME_SAMPLES:])

    def _quieter(
        self, microphone: NDArray[np.float32], cancelled: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return ``cancelled``, or ``microphone`` where that is quieter.

        Where the path is wrong, as after a gap in the sound, an echo is taken away that is not
        there: a ghost of what was played, to be heard in a silent room, and taken for speech.
        """
        self._levels *= _LEVEL_MEMORY
        self._levels += _energy(microphone), _energy(cancelled)
        heard, left = self._levels
        return cancelled if left <= heard else microphone

    def _expect(self, microphone: NDArray[np.float32], playback: NDArray[np.float32]) -> None:
        """Scale the uncertainty to how loud the echo is, as far as that is known."""
        self._energies += _energy(microphone), _energy(playback)
        heard, played = self._energies
        gain = float(np.clip(heard / played, *_GAIN_RANGE))
        self._uncertainty *= np.float32(gain / self._gain)
        self._gain = gain

    def _watch(self, microphone: NDArray[np.float32], echo: NDArray[np.float32]) -> None:
        """See whether the echo comes when it is expected; follow it, or begin anew.

        Each stream that is played begins by another clock's reading, some milliseconds off.
        """
        self._watched = np.hstack([self._watched[:, FRAME_SAMPLES:], np.stack([microphone, echo])])
        self._watched_frames += 1
        if self._watched_frames < _WATCHED_FRAMES:
            return
        heard, expected = self._watched
        left, all_heard = _energy(heard - expected), _energy(heard)
        before = _energy(expected[:-_ONSET_SAMPLES])  # an onset alone tells too little
        silent = before < _SILENT_POWER * _WATCHED_SAMPLES
        if silent or left < _LEFT_TOO_MUCH * all_heard:
            return
        self._watched_frames = 0
        shift = _shift(heard, expected)
        if shift:
            self._path = _shifted(self._path, shift)
        elif left > all_heard and _energy(expected) > _SURELY_ECHO * all_heard:
            self._path[:] = 0
            self._uncertainty = self._first * np.float32(self._gain)

    def _learn(self, played: NDArray[np.complex64], cancelled: NDArray[np.float32]) -> None:
        """One step of the filter: from what was ``played`` and what is left of its echo."""
        left = np.fft.rfft(np.concatenate([np.zeros(_BLOCK_SAMPLES, np.float32), cancelled]))
        power = np.square(played.real) + np.square(played.imag)
        now = np.square(left.real) + np.square(left.imag)
        self._noise += np.float32(1 - _NOISE_MEMORY) * (now - self._noise)
        expected = (self._uncertainty * power).sum(axis=0)
        step = self._uncertainty / (expected + np.float32(_NOISE_WEIGHT) * self._noise + _TINY)
        change = np.fft.irfft(step * played.conj() * left, axis=1)
        change[:, _BLOCK_SAMPLES:] = 0
        self._path += np.fft.rfft(change, axis=1)
        known = np.float32(_CERTAINTY_STEP) * step * power
        drift = np.square(self._path.real) + np.square(self._path.imag)
        self._uncertainty = np.asarray(
            np.float32(_KEEPS) * (1 - known) * self._uncertainty + np.float32(1 - _KEEPS) * drift,
            np.float32,
        )


def _shift(heard: NDArray[np.float32], expected: NDArray[np.float32]) -> int:
    """Return by how many samples ``heard`` comes later than ``expected``; 0 if that is not sure.

    By cross-correlation. Who speaks meanwhile is not much like what is expected.
    """
    size = 2 * len(heard)
    alike = np.fft.irfft(np.fft.rfft(heard, size) * np.fft.rfft(expected, size).conj())
    lags = np.arange(-_MOST_SHIFT_SAMPLES, _MOST_SHIFT_SAMPLES + 1)
    best = int(lags[alike[lags].argmax()])
    most = float(np.sqrt(_energy(heard) * _energy(expected)))
    sure = max(_SURELY_SHIFTED * float(alike[0]), _SURELY_ECHO * most, _TINY)
    return best if alike[best] > sure else 0


def _shifted(path: NDArray[np.complex64], shift: int) -> NDArray[np.complex64]:
    """Return the echo's path with ``shift`` samples more delay."""
    taps = np.fft.irfft(path, axis=1)[:, :_BLOCK_SAMPLES].ravel()
    moved = np.roll(taps, shift)
    if shift > 0:
        moved[:shift] = 0
    else:
        moved[shift:] = 0
    blocks = np.pad(moved.reshape(_PARTITIONS, _BLOCK_SAMPLES), ((0, 0), (0, _BLOCK_SAMPLES)))
    return np.asarray(np.fft.rfft(blocks, axis=1), np.complex64)


def _energy(samples: NDArray[np.float32]) -> float:
    return float(np.square(samples).sum())
