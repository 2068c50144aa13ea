"""Source files to syntax trees: foreign syntax is rewritten, conditions are settled, bodies are left out."""
