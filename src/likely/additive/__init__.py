"""Additive models: smooth curves of numbers, shrunken categories, and pairs of columns."""
