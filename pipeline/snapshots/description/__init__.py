"""The texts of a snapshot: card, attribution, Croissant."""
