"""Sandboxes: they run a command without network, secrets or writes, within limits, and end all that it started."""
