"""Conversations on disk: every turn, step by step."""

from voice_agent.ledger.records import Conversation, Step, Turn
from voice_agent.ledger.store import Ledger

__all__ = ["Conversation", "Ledger", "Step", "Turn"]
