"""Speech to text: sound in, `Transcription` out, by Whisper.

The way of a sound: `pieces` (where speech is, cut to what one window holds), `whisper` (the model
itself, the only place that knows the library), `decoding` (which results can be trusted), and
`transcriber`, which leads through them on the engine's thread.
"""

from voice_agent.stt.transcriber import Transcriber, Transcription, WhisperTranscriber

__all__ = ["Transcriber", "Transcription", "WhisperTranscriber"]
