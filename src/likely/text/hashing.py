"""The hash of a term, and the column that it gives: the definition, in plain Python.

    mixed(h)  = (h M) ^ ((h M) >> 32)                                         modulo 2⁶⁴
    hash      = mixed(h), with h = SEED at first, and h = mixed(h ^ c) for each 8 bytes c
                of the term in UTF-8 (little-endian, the last padded with 0)
    of a run of words    mixed(mixed((hash of all but the last word · M) ^ hash of the last))
    column    = ⌊(hash >> 32) · n_features / 2³²⌋

With 2ᵏ columns, the column is the upper k bits of the hash.  It is the same on every machine and in
every version that reads a file.  Terms that share a column are counted together: there are no
signs.  ``fast/letters.py`` has the compiled form.

References
----------
Weinberger, Dasgupta, Langford, Smola and Attenberg, Feature hashing for large scale multitask
learning, ICML 2009.
"""

from collections.abc import Sequence

SEED, MULTIPLIER = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
ALL = (1 << 64) - 1
CHUNK = 8  # bytes


def hash_of(term: str) -> int:
    """The hash of a word, or of a run of characters."""
    letters, h = term.encode(), SEED
    for i in range(0, len(letters), CHUNK):
        h = _mixed(h ^ int.from_bytes(letters[i : i + CHUNK], "little"))
    return _mixed(h)


def hash_of_run(words: Sequence[str]) -> int:
    """The hash of a run of words."""
    h = hash_of(words[0])
    for word in words[1:]:
        h = _mixed(_mixed((h * MULTIPLIER & ALL) ^ hash_of(word)))
    return h


def column_of(h: int, n_features: int) -> int:
    """The column of a hash."""
    return (h >> 32) * n_features >> 32


def column_of_term(term: str, n_features: int, *, of_words: bool) -> int:
    """The column of a term, which is a run of words or of characters."""
    return column_of(hash_of_run(term.split(" ")) if of_words else hash_of(term), n_features)


def _mixed(h: int) -> int:
    h = h * MULTIPLIER & ALL
    return h ^ h >> 32
