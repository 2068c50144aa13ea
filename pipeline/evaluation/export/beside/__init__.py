"""Programs that an export contains beside its records, for the Python of its user."""
