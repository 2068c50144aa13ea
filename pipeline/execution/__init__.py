"""Where untrusted code runs: sandboxes, pinned environments, validation, and caches of runs."""
