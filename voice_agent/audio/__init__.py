"""Sound: recordings, devices, capture and playback."""
