"""Scores along one axis: rows, a setting, or the steps of a fit."""
