"""The research loop: rounds of model and tools that always end in an answer."""
