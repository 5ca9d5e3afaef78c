"""Algorithms that improve parameters, and the one loop that drives them."""
