"""Long-term memory: items under namespaces, shared by all threads of a graph."""
