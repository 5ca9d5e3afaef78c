"""A test set that is opened once, and a ledger that records each evaluation on it.

The function is ``likely.seal``; the package has another name so that the two are never mixed up.
"""
