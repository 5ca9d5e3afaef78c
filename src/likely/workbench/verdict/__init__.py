"""Whether a model is better than the baseline, and every reason for doubt."""
