"""The parts of a network on torch tensors, for GPUs and for many networks at once."""
