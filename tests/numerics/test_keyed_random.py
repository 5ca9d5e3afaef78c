"""Random numbers by key: the definition, the compiled twin, and what a key does not depend on."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from likely.fast.network import first_key, next_key, uniform_of
from likely.numerics.keyed_random import keyed, keyed_uniform

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
words = st.integers(0, MASK)


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def by_whole_numbers(seed, *numbers):
    """The definition, in Python's integers."""
    z = mix((seed + GOLDEN) & MASK)
    for n in numbers:
        z = mix(z ^ ((n * GOLDEN + GOLDEN) & MASK))
    return z


@njit
def keyed3(seed, a, b, c):
    """64 random bits of the key (seed, a, b, c), compiled."""
    return next_key(next_key(next_key(first_key(seed), a), b), c)


@given(seed=words, a=words, b=words, c=words)
def test_a_key_equals_its_definition_and_the_compiled_twin(seed, a, b, c):
    expected = by_whole_numbers(seed, a, b, c)
    assert int(keyed(seed, a, b, c)) == expected
    parts = [np.uint64(n) for n in (seed, a, b, c)]
    assert int(keyed3(*parts)) == expected
    key = np.uint64(first_key(parts[0]))  # Numba hands integers of Python back
    assert int(next_key(key, parts[1])) == by_whole_numbers(seed, a)
    assert uniform_of(np.uint64(keyed3(*parts))) == float(keyed_uniform(seed, a, b, c)) < 1


@given(seed=st.integers(-(2**40), 2**40), first=st.integers(0, 2**40), n=st.integers(1, 50))
def test_the_draw_of_an_example_does_not_depend_on_its_block(seed, first, n):
    whole = keyed(seed, 3, np.arange(first, first + n))
    for i in (0, n // 2, n - 1):
        assert whole[i] == keyed(seed, 3, first + i) == keyed(seed, 3, np.int64(first + i))


def test_signed_numbers_are_words_in_both():
    assert int(keyed(-5, -1, 2, np.int64(-3))) == int(keyed3(-5, -1, 2, -3))


def test_numbers_broadcast_and_their_order_matters():
    assert keyed(0, np.arange(3)[:, None], np.arange(4)).shape == (3, 4)
    assert keyed(0, 1, 2) != keyed(0, 2, 1)
    assert keyed(0, 1) != keyed(1, 0)
    assert keyed(0, 0) != keyed(0) != keyed(0, 0, 0)


def test_draws_are_uniform_and_neighbours_are_unrelated():
    n = 100_000
    u = keyed_uniform(7, 0, np.arange(n))
    counts = np.bincount((u * 50).astype(int), minlength=50)
    assert ((counts - n / 50) ** 2 / (n / 50)).sum() < 90  # χ² of 49; 1 − 3e-4
    for other in (keyed_uniform(7, 1, np.arange(n)), keyed_uniform(8, 0, np.arange(n)), u[::-1]):
        assert abs(np.corrcoef(u, other)[0, 1]) < 4 / np.sqrt(n)
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 4 / np.sqrt(n)
