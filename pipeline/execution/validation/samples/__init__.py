"""Validation of a file of samples, for `driftline validate`."""
