"""From a table to one honest number: looking, comparing, tuning."""
