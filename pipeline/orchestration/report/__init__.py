"""The report: one page on a run and its snapshot, and the same figures for a program."""
