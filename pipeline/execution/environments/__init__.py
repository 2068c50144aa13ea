"""Pinned environments of releases, and the sandbox in which anything of other people's is run."""
