"""A model that drafts: requests, what was answered, and what it cost.

Nothing is imported here: the rules are needed by every command, and the provider's SDK takes a second to import.
"""
