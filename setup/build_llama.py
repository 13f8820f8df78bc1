"""Compiles llama-cpp-python for this machine and installs it: ``build_llama.py LLAMA.TXT``.

``LLAMA.TXT`` holds its pinned requirement with the hash. The finished wheel is kept in the user's
cache, so that another checkout need not compile again; nothing depends on it. ``--key`` prints
what the build depends on, as one hash; ``--forget`` throws the kept wheel away.
"""

import hashlib
import os
import platform
import re
import selectors
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOG = HERE.parent / ".venv" / "setup" / "llama-build.log"
HEARTBEAT_S = 10.0
GIB_PER_COMPILER = 1.0

# Virtual processors may show AMX and then fault on its first instruction, which is met in the
# first long prompt only. AMX brings a desk nothing, so no build uses it.
WITHOUT_AMX = "-mno-amx-tile -mno-amx-int8 -mno-amx-bf16"
LIBRARY_ALONE = shlex.join(
    ["-DLLAVA_BUILD=OFF", f"-DCMAKE_PROJECT_INCLUDE={HERE / 'library_alone.cmake'}"]
)
FROM_USER = ("CMAKE_ARGS", "CFLAGS", "CXXFLAGS")


def main() -> int:
    """Do what the command line says and return the exit code."""
    requirement = Path(sys.argv[-1])
    kept = kept_wheels(requirement)
    if "--key" in sys.argv:
        sys.stdout.write(build_key(requirement) + "\n")
    elif "--forget" in sys.argv:
        shutil.rmtree(kept, ignore_errors=True)
    elif wheels := sorted(kept.glob("*.whl")):
        say(f"llama.cpp was built before for this machine: {wheels[0]}")
        install(wheels[0])
    else:
        return build_and_install(requirement, kept)
    return 0


def build_key(requirement: Path) -> str:
    """Return the hash of all that the build depends on, but for the user's own flags."""
    parts = [
        requirement.read_text(),
        (HERE / "library_alone.cmake").read_text(),
        WITHOUT_AMX,
        platform.machine(),
        *platform.libc_ver(),
        *processor(),
    ]
    return digest(parts)


def processor() -> list[str]:
    """Return the lines that tell this processor: the build uses all that it can do."""
    text = Path("/proc/cpuinfo").read_text()
    return sorted(set(re.findall(r"^(?:model name|flags|Features|CPU part)\s*:.*", text, re.M)))


def digest(parts: list[str]) -> str:
    """Return one short hash of the texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def kept_wheels(requirement: Path) -> Path:
    """Return the folder of the kept wheel for this machine and the flags in force."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    flags = [os.environ.get(name, "") for name in FROM_USER]
    return cache / "voice-agent" / "wheels" / digest([build_key(requirement), *flags])


def build_environment() -> dict[str, str]:
    """Return the environment of the build: our flags, then the user's, so that theirs prevail."""
    env = dict(os.environ)
    ours = {"CMAKE_ARGS": LIBRARY_ALONE}
    if platform.machine() == "x86_64":
        ours |= {"CFLAGS": WITHOUT_AMX, "CXXFLAGS": WITHOUT_AMX}
    for name, flags in ours.items():
        env[name] = f"{flags} {env.get(name, '')}".strip()
    env.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(compilers()))
    env["PYTHONUNBUFFERED"] = "1"
    return env


def compilers() -> int:
    """Return how many compilers may run at once: one a core, as far as memory allows."""
    memory_gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return max(1, min(len(os.sched_getaffinity(0)), int(memory_gib / GIB_PER_COMPILER)))


def build_and_install(requirement: Path, kept: Path) -> int:
    """Compile, keep the wheel if that is possible, and install it."""
    say(f"compiling llama.cpp for this processor, some minutes; all output in {LOG}")
    with tempfile.TemporaryDirectory(prefix="llama-build-") as folder:
        code = compile_wheel(requirement, Path(folder))
        if code != 0:
            sys.stdout.writelines(LOG.read_text().splitlines(keepends=True)[-30:])
            say(f"compiling llama.cpp failed; all output is in {LOG}")
            return 1
        wheel = next(Path(folder).glob("*.whl"))
        install(wheel)
        keep(wheel, kept)
    return 0


def compile_wheel(requirement: Path, folder: Path) -> int:
    """Build the wheel into ``folder`` and return pip's exit code, telling how far it is."""
    command = [sys.executable, "-m", "pip", "wheel", "--verbose", "--no-cache-dir"]
    command += ["--no-deps", "--no-build-isolation", "--no-binary", ":all:", "--require-hashes"]
    command += ["--wheel-dir", str(folder), "--requirement", str(requirement)]
    build = subprocess.Popen(
        command, env=build_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    started = told = time.monotonic()
    step = "downloading the source"
    with LOG.open("wb") as log:
        for piece in output_of(build):
            log.write(piece)
            step = latest_step(piece) or step
            if time.monotonic() - told >= HEARTBEAT_S:
                told = time.monotonic()
                say(f"llama.cpp: {step}, {told - started:.0f} s")
    return build.wait()


def output_of(build: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Yield the output as it comes, and nothing (``b""``) when it is quiet for a while."""
    assert build.stdout is not None
    fd = build.stdout.fileno()
    with selectors.DefaultSelector() as ready:
        ready.register(fd, selectors.EVENT_READ)
        while True:
            piece = os.read(fd, 65536) if ready.select(HEARTBEAT_S) else None
            if piece == b"":
                return
            yield piece or b""


def latest_step(piece: bytes) -> str | None:
    """Return where the build is, from Ninja's ``[34/83]``: ``step 34 of 83``."""
    steps = re.findall(rb"\[(\d+)/(\d+)\]", piece)
    return f"step {int(steps[-1][0])} of {int(steps[-1][1])}" if steps else None


def install(wheel: Path) -> None:
    """Put the wheel into this environment, in place of any other build of it."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*command, "--force-reinstall", str(wheel)], check=True)


def keep(wheel: Path, kept: Path) -> None:
    """Keep the wheel for other checkouts; a cache that cannot be written is no failure."""
    try:
        # the assistant's own folder, with other things of its user in it
        kept.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept.mkdir(parents=True, exist_ok=True)
        part = kept / f"{wheel.name}.part"
        shutil.copyfile(wheel, part)
        part.replace(kept / wheel.name)
    except OSError as error:
        say(f"the build could not be kept for other checkouts: {error}")


def say(line: str) -> None:
    """Tell the user."""
    sys.stdout.write(f"set-up: {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
