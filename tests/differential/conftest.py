"""`pytest tests/differential --hypothesis-profile=soak` plays thousands of generated graphs instead of a few."""

from hypothesis import settings

settings.register_profile("soak", max_examples=8000, deadline=None)
