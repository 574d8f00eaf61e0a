"""Values <-> bytes."""
