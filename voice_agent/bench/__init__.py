"""Measures the assistant on questions whose answers are known."""
