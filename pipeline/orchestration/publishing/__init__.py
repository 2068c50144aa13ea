"""The tasks of the publishing flow."""
