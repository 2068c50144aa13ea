"""Real code with a known version, and the uses of libraries in it."""
