"""What a model is shown of a completion: in-line contexts, documents of its version, and the controlled scenario."""
