"""The tools that ship with the assistant."""
