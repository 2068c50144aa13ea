"""Exports: a snapshot as the files of the benchmarks, and their files as samples and as rows of the lake."""
