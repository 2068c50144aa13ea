"""The command line `driftline`: the same functions that the DAGs call."""
