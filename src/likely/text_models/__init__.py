"""Classifiers of raw text: words and a model as one estimator."""
