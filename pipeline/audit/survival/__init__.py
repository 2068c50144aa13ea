"""Survival: whether what was published still passes in its locked environments, and why what does not."""
