"""From a table to one unbiased score: checks, comparison, tuning, evaluation."""
