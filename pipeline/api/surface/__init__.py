"""The public API of a release, read from its sources by griffe, statically."""
