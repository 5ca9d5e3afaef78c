"""What is done to a mixed table inside a fit: missing values, categories, dates, scales."""
