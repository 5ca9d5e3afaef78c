"""Neural networks: fully connected layers, trained from one loss."""
