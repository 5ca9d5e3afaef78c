"""Linear models: one predictor, many responses."""
