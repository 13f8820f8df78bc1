"""Finds out whether everything that the assistant needs is there; each finding says its mend."""

from voice_agent.doctor.findings import Finding, Level, worst

__all__ = ["Finding", "Level", "worst"]
