"""Proves that this build of llama.cpp runs on this processor: ``prove_llama.py MODEL.gguf``.

A build with an instruction that the processor cannot run dies by a signal, and only when a long
prompt first reaches it. So a child process reads 600 tokens and writes a few, before anything
depends on it.
"""

import os
import signal
import subprocess
import sys
from itertools import islice

PROMPT_TOKENS = 600
WRITTEN_TOKENS = 8
TIMEOUT_S = 900


def main() -> int:
    """Run the proof in a child and say what came of it; the exit code is 0 or 1."""
    if sys.argv[1] == "--child":
        return read_and_write(sys.argv[2])
    try:
        child = subprocess.run(
            [sys.executable, __file__, "--child", sys.argv[1]],
            env={"OMP_WAIT_POLICY": "passive", **os.environ},
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return fail(f"The proof did not end within {TIMEOUT_S} s.")
    if child.returncode < 0:
        return fail(death(-child.returncode))
    return 0 if child.returncode == 0 else fail("The proof failed; its own words are above.")


def death(number: int) -> str:
    """Say what a death by this signal means and what to do."""
    name = signal.Signals(number).name
    if number == signal.SIGKILL:
        return f"llama.cpp was ended by {name}: most likely there is too little free memory."
    return (
        f"llama.cpp died by {name}: its build uses an instruction that this processor shows but "
        "cannot run, as some virtual machines do. Build it for a plain processor instead:\n\n"
        "  CMAKE_ARGS=-DGGML_NATIVE=OFF make setup\n"
    )


def fail(reason: str) -> int:
    """Print the reason; return the exit code."""
    sys.stderr.write(f"set-up: {reason}\n")
    return 1


def read_and_write(model: str) -> int:
    """Process a prompt of 600 tokens and write a few more (in the child)."""
    from llama_cpp import Llama

    llama = Llama(model, n_ctx=1024, n_threads=len(os.sched_getaffinity(0)), verbose=False)
    text = "The lamp in the hall was lit, and somebody counted the steps of the stair. " * 60
    prompt = llama.tokenize(text.encode())[:PROMPT_TOKENS]
    written = list(islice(llama.generate(prompt), WRITTEN_TOKENS))
    words = llama.detokenize(written).decode(errors="replace").strip()
    sys.stdout.write(f"set-up: read {len(prompt)} tokens, wrote {words!r}\n")
    return 0 if len(prompt) == PROMPT_TOKENS and words else 1


if __name__ == "__main__":
    sys.exit(main())
