"""Estimators that model the features: naive Bayes, discriminants, mixtures."""
