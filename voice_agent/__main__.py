"""Entry point of ``voice-agent`` and ``python -m voice_agent``."""

import os
import sys
from pathlib import Path

NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
"""onnxruntime, which runs Whisper's voice detector and Piper, would else send usage data home."""


def main() -> None:
    """Run the command line and exit with its code."""
    os.environ[NO_TELEMETRY] = "1"
    _fill_closed_outputs()
    from voice_agent.cli import run

    sys.exit(run(sys.argv[1:]))


def _fill_closed_outputs() -> None:
    """Let what is written nowhere go nowhere: Python has no output where a shell closed it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))


if __name__ == "__main__":
    main()
