"""What a model is asked to write, a module for each kind.

Nothing is imported here: the rules are needed by every command, and the provider's SDK takes a second to import.
"""
