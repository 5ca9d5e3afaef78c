"""Objectives: penalised sums over blocks of data."""
