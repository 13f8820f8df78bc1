"""Markup in a model's reply: tool calls and reasoning, told from what may be shown and spoken."""

from voice_agent.research.markup.stream import MarkupParser, contains_markup

__all__ = ["MarkupParser", "contains_markup"]
