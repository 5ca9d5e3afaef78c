"""Characters by code point: which are inside words, and their lower case.

Inside words are the characters of ``\\w`` of Python's regular expressions: letters, digits and the
underscore, of every script.  Lower case is that of ``str.lower``, character by character, but for
two: Σ is ς at the end of a word, and İ becomes two characters.  Documents with these are put into
lower case as a whole before they are read.
"""

import sys
from functools import cache
from typing import NamedTuple

import numpy as np

from likely._typing import Array

N_POINTS = sys.maxunicode + 1
WHOLE = "\u0130\u03a3"  # İ and Σ: their lower case depends on the document
SURROGATES = range(0xD800, 0xE000)


class Characters(NamedTuple):
    """Tables over all code points."""

    kind: Array  # uint8: 1 inside words
    lower: Array  # int32


@cache
def characters(*, lowercase: bool) -> Characters:
    """The tables of the running Python's Unicode."""
    points = [chr(i) for i in range(N_POINTS)]
    kind = np.fromiter((each.isalnum() or each == "_" for each in points), np.uint8, N_POINTS)
    lower = np.arange(N_POINTS, dtype=np.int32)
    if lowercase:
        changed = [i for i, each in enumerate(points) if each != each.lower()]
        for i in changed:
            small = points[i].lower()
            lower[i] = ord(small) if len(small) == 1 else i
    return Characters(kind, lower)
