"""Compiled loops.  They trust their arguments; nothing is checked here."""
