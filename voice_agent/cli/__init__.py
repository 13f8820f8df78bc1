"""The command line: one small module per group of verbs."""

from voice_agent.cli.parser import run

__all__ = ["run"]
