"""Models side by side on the same folds, and the file in which comparisons are saved."""
