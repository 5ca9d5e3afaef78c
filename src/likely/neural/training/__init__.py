"""The training of a network: its rows, its steps, when it ends, and what is kept of it."""
