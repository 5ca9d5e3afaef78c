"""Explanations of rows: what each column adds to the score of a row, in any model."""
