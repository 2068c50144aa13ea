"""The format of a snapshot: manifest, tables, names, and the one reader."""
