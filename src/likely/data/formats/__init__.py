"""File formats: one file each, and the registry that opens a file by its suffix."""
