"""Scores of any classifier as probabilities that can be believed."""
