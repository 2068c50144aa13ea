"""Migrations of which a model writes one side, where neither a codemod nor an example of the other release has it."""
