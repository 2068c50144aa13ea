"""Names across the modules of a release: where each leads, what is public, and the rows made of it."""
