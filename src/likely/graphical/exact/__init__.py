"""Exact inference: enumeration, elimination, messages on trees, junction trees, chains."""
