"""A table before anything is trained on it: its columns, and possible problems."""
