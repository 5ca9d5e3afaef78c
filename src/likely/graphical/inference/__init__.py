"""Exact inference in one graph: elimination, messages, junction trees; the methods by name."""
