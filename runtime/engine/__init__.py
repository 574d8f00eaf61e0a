"""The super-step machine: plan, execute, update. See loop.py for the idea."""
