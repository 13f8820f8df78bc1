"""Entry point of ``voice-agent`` and ``python -m voice_agent``."""

import os
import sys

NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
"""onnxruntime, which runs Whisper's voice detector and Piper, would else send usage data home."""


def main() -> None:
    """Run the command line and exit with its code."""
    os.environ[NO_TELEMETRY] = "1"
    from voice_agent.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
