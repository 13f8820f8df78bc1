"""Entry point of ``voice-agent`` and ``python -m voice_agent``."""

import os
import sys
from pathlib import Path

NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
"""onnxruntime, which runs Whisper's voice detector and Piper, would else send usage data home."""


def main() -> None:
    """Run the command line and exit with its code."""
    os.environ[NO_TELEMETRY] = "1"
    _prepare_outputs()
    from voice_agent.cli.parser import run

    sys.exit(run(sys.argv[1:]))


def _prepare_outputs() -> None:
    """See that no word is too odd for an output, and that each is there.

    Python has none where a shell closed it: what is written to it goes nowhere.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or Path(os.devnull).open("w")
        stream.reconfigure(errors="replace")
        setattr(sys, name, stream)


if __name__ == "__main__":
    main()
