"""The model seam: one protocol, a local GGUF behind it, and any OpenAI-compatible server."""
