"""Texts that instances need: descriptions that do not give the hidden name away."""
