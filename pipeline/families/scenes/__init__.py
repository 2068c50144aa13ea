"""Editor scenes (Codev-Bench): blocks of functions that a project's tests reach, as a developer meets them."""
