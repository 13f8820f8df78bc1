"""When is someone talking, and to us."""
