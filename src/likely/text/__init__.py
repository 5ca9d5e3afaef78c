"""Text: documents to words, words to counts, and classifiers of raw text."""
