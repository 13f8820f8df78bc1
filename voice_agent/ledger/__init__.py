"""Conversations on disk: every turn, step by step."""

from voice_agent.ledger.records import Step, Turn
from voice_agent.ledger.store import Ledger

__all__ = ["Ledger", "Step", "Turn"]
