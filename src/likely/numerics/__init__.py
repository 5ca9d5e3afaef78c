"""Numbers: sums that add, factors, moments, quantiles, intervals and random numbers by key."""
