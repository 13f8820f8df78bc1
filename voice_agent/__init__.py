"""A private voice assistant for a Linux desk."""
