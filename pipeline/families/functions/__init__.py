"""Task functions with tests of several kinds, each right for a release of a library (VersiCode's executable subset)."""
