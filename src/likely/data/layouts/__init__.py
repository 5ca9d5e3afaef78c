"""Layouts of the design matrix: one file each."""
