"""Streams: what each mode sends, and the shapes in which a caller gets it."""
