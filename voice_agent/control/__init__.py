"""Talking to the running assistant over its control socket, and the assistant's talk to systemd.

The socket is ``$XDG_RUNTIME_DIR/voice-agent/control.sock``; only its user may connect. Both sides
send JSON objects in UTF-8, one a line; `voice_agent.control.protocol` is the whole protocol.
"""
