"""Talking to the running service, and to systemd."""
