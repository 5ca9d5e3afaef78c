"""Calibrated probabilities from the scores of any classifier."""
