"""Which libraries a profile takes: chosen by rule out of the most downloaded ones."""
