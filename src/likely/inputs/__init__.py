"""Input of all estimators: it is checked, then encoded; the code inside relies on it."""
