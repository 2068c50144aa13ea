"""What comes from outside: the package index, and the guarded reading of its archives."""
