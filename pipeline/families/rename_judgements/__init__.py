"""What a model says of renames and moves that the comparison of sources can only guess."""
