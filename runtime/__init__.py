"""A graph runtime with LangGraph's public behaviour. Knows no Flask and no debugger."""
