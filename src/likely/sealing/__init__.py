"""A test set that is evaluated once, and a ledger that records each evaluation.

The function is ``likely.seal``; the package has another name to avoid confusion.
"""
