"""What every estimator does with its input: check it, then encode it; inside, code trusts it."""
