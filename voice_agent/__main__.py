"""Entry point of ``voice-agent`` and ``python -m voice_agent``."""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from voice_agent.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
