"""Characters by code point: which are inside words, and their lower case.

Inside words are the characters of ``\\w`` of Python's regular expressions: letters, digits and the
underscore, of every script.  Lower case is that of ``str.lower``, character by character, but for
two: Σ is ς at the end of a word, and İ becomes two characters.  Documents with these are put into
lower case as a whole before they are read.
"""

import re
import sys
from functools import cache
from typing import NamedTuple

import numpy as np

from likely._typing import Array

N_POINTS = sys.maxunicode + 1
WHOLE = "\u0130\u03a3"  # İ and Σ: their lower case depends on the document
N_ASCII = 0x80


class Characters(NamedTuple):
    """Tables over all bytes and all code points."""

    fold: Array  # uint8, (256,): a byte of ASCII in lower case; 0 outside words and beyond ASCII
    kind: Array  # uint8: 0 outside words, 1 inside, 2 for those whose lower case depends on others
    lower: Array  # int32


@cache
def characters(*, lowercase: bool) -> Characters:
    """The tables of the running Python's Unicode."""
    points = np.arange(N_POINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    kind = np.zeros(N_POINTS, np.uint8)
    for run in re.finditer(r"\w+", points):
        kind[run.start() : run.end()] = 1
    lower = np.arange(N_POINTS, dtype=np.int32)
    if lowercase:
        whole = [ord(each) for each in WHOLE]
        small = points.replace(WHOLE[0], " ").replace(WHOLE[1], " ").lower()
        lower = np.frombuffer(small.encode("utf-32-le", "surrogatepass"), "<i4").astype(np.int32)
        lower[whole], kind[whole] = whole, 2
    fold = np.zeros(256, np.uint8)
    fold[:N_ASCII] = np.where(kind[:N_ASCII], lower[:N_ASCII], 0)
    return Characters(fold, kind, lower)
