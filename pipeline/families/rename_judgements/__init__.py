"""Judgements of a model on renames and moves that the comparison of sources can only guess."""
