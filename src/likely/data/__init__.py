"""Rows: blocks of them, the layouts they are stored in, and where they come from."""
