"""Text: documents to words, and words to counts."""
