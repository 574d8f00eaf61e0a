"""HTTP routes: those of the LangGraph server API, and the page's own under /debug."""
