"""Searches over the settings of a model, saved as studies."""
