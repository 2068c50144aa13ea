"""Published rows, run again."""
