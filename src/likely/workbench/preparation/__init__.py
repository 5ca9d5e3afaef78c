"""The preparation of a mixed table inside a fit: missing values, categories, dates, scales."""
