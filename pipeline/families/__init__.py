"""One folder for each family of instances."""
