"""Random numbers by key: what is drawn depends on the numbers of the key, and on nothing before it.

    z = mix(seed + G);   z ← mix(z ⊕ (n G + G)) for each number n of the key   (mod 2⁶⁴)
    u = ⌊z / 2¹¹⌋ 2⁻⁵³ in [0, 1)

An example has the same draw in an array and in a file, in one block and in many, on one thread and
on several: its key is the seed, the epoch and its index.  ``mix`` is SplitMix64, a bijection of
64-bit words whose outputs look random; G is odd, near 2⁶⁴ / φ.  ``fast/network.py`` has the
compiled twin.

References
----------
Steele, Lea & Flood, Fast splittable pseudorandom number generators, OOPSLA 2014, §3.
Salmon, Moraes, Dror & Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011.
"""

from typing import Any

import numpy as np

from likely._typing import Array

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / φ, odd: the step of the sequence
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
MISSING = np.uint64(0x6D697373696E6721)  # "missing!": the hash of a missing cell
WORD = 2**64


def keyed(seed: int, *numbers: Any) -> Array:
    """64 random bits for each key; the numbers are integers or arrays that broadcast.

    >>> import numpy as np
    >>> keyed(0, 3, np.arange(2))
    array([ 9845463364340407340, 12661015969520531457], dtype=uint64)
    >>> keyed(0, 3, 1)
    array(12661015969520531457, dtype=uint64)
    """
    with np.errstate(over="ignore"):  # arithmetic modulo 2⁶⁴
        z = mix(np.asarray(np.uint64(seed % WORD) + GOLDEN))
        for number in numbers:
            z = mix(z ^ (_word(number) * GOLDEN + GOLDEN))
    return np.asarray(z)


def keyed_uniform(seed: int, *numbers: Any) -> Array:
    """A uniform number in [0, 1) for each key.

    >>> float(keyed_uniform(0, 3, 1))
    0.6863550510013913
    """
    return np.asarray((keyed(seed, *numbers) >> np.uint64(11)) * 2.0**-53)


def mix(z: Array) -> Array:
    """SplitMix64's bijection of 64-bit words."""
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


def _word(number: Any) -> Array:
    """A whole number, or an array of them, modulo 2⁶⁴."""
    return np.asarray(number % WORD if isinstance(number, int) else number).astype(np.uint64)
