"""What a release offers, what changed between releases, and how that is told."""
