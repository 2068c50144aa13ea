"""Commands that ask models and score answers."""
