"""Predictions of rows that a fit has not seen, and their scores."""
