"""What the sound libraries write to stderr: kept out of it, and never in the way."""

import ctypes
import ctypes.util
import functools
import logging
import os
import threading
import time
from contextlib import suppress

log = logging.getLogger(__name__)

_PAUSE_S = 0.05


@functools.cache
def silence_alsa() -> object:
    """Give ALSA an error handler that says nothing, for the whole process.

    ALSA writes each underrun and each missing card to stderr. Returned, and so kept by the cache:
    the handler must live as long as the library may call it.
    """
    name = ctypes.util.find_library("asound")
    if name is None:
        return None
    handler = ctypes.CFUNCTYPE(None)(lambda: None)
    ctypes.CDLL(name).snd_lib_error_set_handler(handler)
    return handler


@functools.cache
def slow_stderr() -> int:
    """Let C's ``stderr``, which Python does not use, be a pipe that is emptied slowly.

    Whoever writes there without end waits. What is read is for the debug log. Returned is the end
    that is read.
    """
    reading, writing = os.pipe()
    libc = ctypes.CDLL(None)
    libc.fdopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fdopen(writing, b"w"))
    libc.setvbuf(stream, None, 2, 0)  # _IONBF: unbuffered, as stderr has to be
    ctypes.c_void_p.in_dll(libc, "stderr").value = stream.value
    threading.Thread(target=_drain, args=(reading,), name="sound-stderr", daemon=True).start()
    return reading


def let_go() -> None:
    """At the end of the program: nobody waits any more who writes to C's ``stderr``.

    It would be waited for, as it holds the lock of a file that the C library closes at the end.
    """
    os.close(slow_stderr())


def _drain(reading: int) -> None:
    with suppress(OSError):  # closed by `let_go`
        while written := os.read(reading, 4096):
            log.debug("From a sound library: %s", written.decode(errors="replace").strip()[:200])
            time.sleep(_PAUSE_S)
