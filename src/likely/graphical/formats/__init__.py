"""File formats of graphs: one file each, and the registry that reads a file by its suffix."""
