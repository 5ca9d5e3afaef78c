"""Searches over the settings of a model, kept as studies."""
