"""Shows how a download gets on: a bar on a terminal, a line each tenth elsewhere."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from voice_agent.catalogue.sources import Moved, Part

Clock = Callable[[], float]


class Bars:
    """A bar for each file, on a terminal."""

    def __init__(self, stream: TextIO) -> None:
        from tqdm import tqdm

        self._stream = stream
        self._bar = tqdm

    def note(self, text: str) -> None:
        """Say one line, above the bar."""
        self._bar.write(text, file=self._stream)

    @contextlib.contextmanager
    def file(self, name: str, part: "Part") -> "Iterator[Moved]":
        """Draw the bar of one file."""
        with self._bar(
            desc=name,
            total=part.size_bytes,
            initial=part.length_bytes,
            unit="B",
            unit_scale=True,
            file=self._stream,
        ) as bar:

            def moved(now_bytes: int) -> None:
                # A package's bytes are told as its wheel comes and again as it is unpacked.
                bar.update(max(0, now_bytes - bar.n))

            yield moved


class Lines:
    """A line when a file begins and for each tenth of it, where there is no terminal."""

    def __init__(self, stream: TextIO, clock: Clock = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock

    def note(self, text: str) -> None:
        """Say one line."""
        self._stream.write(text + "\n")
        self._stream.flush()

    @contextlib.contextmanager
    def file(self, name: str, part: "Part") -> "Iterator[Moved]":
        """Tell the progress of one file."""
        began_s, began_bytes, size_bytes = self._clock(), part.length_bytes, part.size_bytes
        told = 10 * began_bytes // size_bytes
        going_on = f", going on at {10 * told} %" if began_bytes else ""
        self.note(f"{name}: {size_text(size_bytes)}{going_on}")

        def moved(now_bytes: int) -> None:
            nonlocal told
            tenths = 10 * now_bytes // size_bytes
            if tenths > told:
                told = tenths
                rate = (now_bytes - began_bytes) / max(self._clock() - began_s, 1e-3)
                self.note(f"{name}: {10 * tenths} %, {size_text(rate)}/s")

        yield moved


def size_text(size_bytes: float) -> str:
    """Return a size as people read it, such as ``63.2 MB``."""
    for unit, each in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= each:
            return f"{size_bytes / each:.1f} {unit}"
    return f"{size_bytes:.0f} bytes"
