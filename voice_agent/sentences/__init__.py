"""Token stream -> sentences that can be spoken early."""

from voice_agent.sentences.stream import SentenceStream, split_sentences

__all__ = ["SentenceStream", "split_sentences"]
