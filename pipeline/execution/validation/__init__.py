"""Running: what passes, fails or is missing in which pinned environment, and what of it becomes a verdict."""
