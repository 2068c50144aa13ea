"""Snapshots go to where users are: the Hub of Hugging Face, and any store that fsspec can write to."""
