"""The fit of a linear predictor: one driver, what it minimises, and what is known of its end."""
