"""Compiled work on bytes of text: code points, lower case and hashes, eight bytes at a time.

Eight bytes are classified by arithmetic on one number of 64 bits (Warren's "SIMD within a
register"): for bytes z < 128, z + (128 − c) has its upper bit set if and only if z ≥ c.

    hash: h = SEED; for each 8 bytes c (little-endian, padded with 0): h = mixed(h ^ c);
          then mixed(h),   where mixed(h) = (h M) ^ ((h M) >> 32)   modulo 2⁶⁴

References
----------
Knuth, The Art of Computer Programming 3 (1998), 6.4: multiplicative hashing.
Warren, Hacker's Delight (2013), ch. 2 and 6.
"""

import sys

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

SEED, MULTIPLIER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
HALF, BYTE, WORD = np.uint64(32), np.uint64(8), np.uint64(64)
NONE, ONE = np.uint64(0), np.uint64(1)
CHUNK = 8  # bytes
LITTLE_ENDIAN = sys.byteorder == "little"

EACH = 0x0101010101010101
ONES, UPPER_BITS = np.uint64(EACH), np.uint64(0x80 * EACH)
LOWER_BITS, CASE_BITS = np.uint64(0x7F * EACH), np.uint64(0x20 * EACH)
UNDERSCORES = np.uint64(ord("_") * EACH)
FROM_1, FROM_A, AFTER_Z, FROM_0, AFTER_9 = (
    np.uint64((0x80 - c) * EACH) for c in (1, ord("a"), ord("z") + 1, ord("0"), ord("9") + 1)
)
TWO, SEVEN, LAST_BYTE = np.uint64(2), np.uint64(7), np.uint64(56)


@intrinsic
def load_8(_, text, place):
    """Eight bytes of an array, from any place, as one number."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        first = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(first, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(text, place), code


@intrinsic
def store_8(_, text, place, value):
    """Write one number as eight bytes of an array, at any place."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        first = builder.gep(array.data, [arguments[1]])
        builder.store(arguments[2], builder.bitcast(first, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(text, place, types.uint64), code


@njit(cache=True, nogil=True, inline="always")
def outside_words(x):
    """The upper bits of those of eight bytes that are no ASCII letter, digit or underscore, and
    of those that are capital letters.
    """
    z = x & LOWER_BITS
    small = z | CASE_BITS
    letter = (small + FROM_A) & ~(small + AFTER_Z)
    digit = (z + FROM_0) & ~(z + AFTER_9)
    underscore = ~((z ^ UNDERSCORES) + FROM_1)
    inside = (letter | digit | underscore) & ~x & UPPER_BITS
    return inside ^ UPPER_BITS, letter & ~(x << TWO) & inside


@njit(cache=True, nogil=True, inline="always")
def bytes_below(bits):
    """A mask of the bytes below the lowest upper bit that is set, and their number."""
    mask = ((bits & (~bits + ONE)) >> SEVEN) - ONE
    return mask, np.int64(((mask & ONES) * ONES) >> LAST_BYTE)


@njit(cache=True, nogil=True, inline="always")
def mixed(h):
    h = h * MULTIPLIER
    return h ^ (h >> HALF)


@njit(cache=True, nogil=True)
def hash_of(text, begin, end):
    """The hash of the bytes of a term."""
    h, chunk, shift = SEED, NONE, NONE
    for i in range(begin, end):
        chunk |= np.uint64(text[i]) << shift
        shift += BYTE
        if shift == WORD:
            h, chunk, shift = mixed(h ^ chunk), NONE, NONE
    if shift != NONE:
        h = mixed(h ^ chunk)
    return mixed(h)


@njit(cache=True, nogil=True, inline="always")
def code_point(text, i):
    """The code point at byte i of valid UTF-8, and its number of bytes."""
    b = np.int64(text[i])
    if b < 0x80:
        return b, 1
    if b < 0xE0:
        return ((b & 0x1F) << 6) | (np.int64(text[i + 1]) & 0x3F), 2
    c, d = np.int64(text[i + 1]) & 0x3F, np.int64(text[i + 2]) & 0x3F
    if b < 0xF0:
        return ((b & 0x0F) << 12) | (c << 6) | d, 3
    return ((b & 0x07) << 18) | (c << 12) | (d << 6) | (np.int64(text[i + 3]) & 0x3F), 4


@njit(cache=True, nogil=True)
def put(letters, place, point):
    """Write a code point as UTF-8, and return the place after it."""
    if point < 0x80:
        letters[place] = point
        return place + 1
    if point < 0x800:
        letters[place] = 0xC0 | (point >> 6)
        letters[place + 1] = 0x80 | (point & 0x3F)
        return place + 2
    if point < 0x10000:
        letters[place] = 0xE0 | (point >> 12)
        letters[place + 1] = 0x80 | ((point >> 6) & 0x3F)
        letters[place + 2] = 0x80 | (point & 0x3F)
        return place + 3
    letters[place] = 0xF0 | (point >> 18)
    letters[place + 1] = 0x80 | ((point >> 12) & 0x3F)
    letters[place + 2] = 0x80 | ((point >> 6) & 0x3F)
    letters[place + 3] = 0x80 | (point & 0x3F)
    return place + 4
