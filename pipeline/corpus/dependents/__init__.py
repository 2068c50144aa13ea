"""Code of dependents: source distributions of packages on the index that require the library."""
