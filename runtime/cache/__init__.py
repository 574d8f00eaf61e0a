"""Caches of node results: `runtime.cache.memory`, `.sqlite`, `.redis`."""
