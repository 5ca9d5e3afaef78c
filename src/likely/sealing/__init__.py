"""A test set that is opened once, and a ledger that remembers each look.

The function is ``likely.seal``; the package has another name so that the two are never mixed up.
"""
