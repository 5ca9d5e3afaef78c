"""A table before anything is trained on it: what its columns are, and what looks wrong."""
