"""The closed vocabularies of every table: one enum per idea, each member with its meaning.

`schemas/*.yaml` name these enums, and the dataset card prints the meanings, so that a value and
its explanation exist once.
"""
