"""Random numbers by key, compiled: the twin of ``likely.numerics.keyed_random``, bit for bit.

    z = mix(seed + G);   z ← mix(z ⊕ (n G + G)) for each number n of the key   (mod 2⁶⁴)

All numbers are uint64: in Numba the sum of a uint64 and an int64 is a float.
"""

import numpy as np
from numba import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 2.0**-53


@njit(cache=True, nogil=True)
def mix(z):
    """SplitMix64's bijection of a 64-bit word."""
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)


@njit(cache=True, nogil=True)
def first_key(seed):
    """The key of a seed alone."""
    return mix(np.uint64(seed) + GOLDEN)


@njit(cache=True, nogil=True)
def next_key(key, number):
    """The key with one more number: what does not change in a loop is computed outside it."""
    return mix(key ^ (np.uint64(number) * GOLDEN + GOLDEN))


@njit(cache=True, nogil=True)
def keyed3(seed, a, b, c):
    """64 random bits of the key (seed, a, b, c): ``keyed(seed, a, b, c)``."""
    return next_key(next_key(next_key(first_key(seed), a), b), c)


@njit(cache=True, nogil=True)
def uniform_of(key):
    """The uniform number in [0, 1) of a key: ``uniform_of(keyed3(…))`` is ``keyed_uniform(…)``."""
    return np.float64(key >> S11) * UNIT
