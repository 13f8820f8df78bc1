"""Sentence -> sound, with the sample at which each word is heard."""

from voice_agent.tts.piper import PiperVoice
from voice_agent.tts.speech import Speech, SpokenWord, Voice, heard

__all__ = ["PiperVoice", "Speech", "SpokenWord", "Voice", "heard"]
