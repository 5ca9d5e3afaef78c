"""Discrete graphs: factor graphs, Bayesian networks, Markov fields, and inference in them."""
