"""Compiled work on bytes of text: code points, lower case and hashes.

Bytes of ASCII are classified 64 at a time, by vector instructions that give one bit for each byte;
runs of bits are words.  Hashes read eight bytes at a time.

    hash: h = SEED; for each 8 bytes c (little-endian, padded with 0): h = mixed(h ^ c);
          then mixed(h),   where mixed(h) = (h M) ^ ((h M) >> 32)   modulo 2⁶⁴

References
----------
Knuth, The Art of Computer Programming 3 (1998), 6.4: multiplicative hashing.
Lemire & Langdale, Parsing gigabytes of JSON per second, VLDB Journal 28 (2019), §3.1.1.
"""

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, njit, types

intrinsic: Any = extending.intrinsic  # its type counts the argument that Numba itself passes

SEED, MULTIPLIER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
HALF, BYTE, WORD = np.uint64(32), np.uint64(8), np.uint64(64)
NONE, ONE = np.uint64(0), np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
CHUNK = 8  # bytes
LITTLE_ENDIAN = sys.byteorder == "little"

WINDOW = 64  # bytes that are classified together
CASE_BIT = 0x20  # of a letter of ASCII in lower case


@intrinsic
def load_8(_, text, place):
    """Eight bytes of an array, from any place, as one number."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        first = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(first, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(text, place), code


@intrinsic
def prefetch(_, array, place):
    """Ask for an element of an array that will be read soon."""
    address, number = ir.IntType(8).as_pointer(), ir.IntType(32)

    def code(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        element = builder.bitcast(builder.gep(data, [arguments[1]]), address)
        kind = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        ask = builder.module.declare_intrinsic("llvm.prefetch", (address,), kind)
        builder.call(ask, [element, *(ir.Constant(number, value) for value in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.int64), code


@intrinsic
def copy_window(_, text, place, letters, to, lowercase):
    """Copy the next ``WINDOW`` bytes of a text to ``letters``, capitals of ASCII in lower case.

    Returns two numbers whose bit j is set if byte j is an ASCII letter, digit or underscore, and
    if it is beyond ASCII.
    """
    vector, bits = ir.VectorType(ir.IntType(8), WINDOW), ir.IntType(WINDOW)

    def code(context, builder, signature, arguments):
        def address(array, kind, at):
            data = context.make_array(kind)(context, builder, array).data
            return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())

        def all_bytes(value):
            return ir.Constant(vector, [value] * WINDOW)

        def is_among(x, first, n):
            return builder.icmp_unsigned("<", builder.sub(x, all_bytes(first)), all_bytes(n))

        source = address(arguments[0], signature.args[0], arguments[1])
        target = address(arguments[2], signature.args[2], arguments[3])
        x = builder.load(source, align=1)
        small = builder.or_(x, all_bytes(CASE_BIT))
        inside = builder.or_(is_among(small, ord("a"), 26), is_among(x, ord("0"), 10))
        inside = builder.or_(inside, builder.icmp_unsigned("==", x, all_bytes(ord("_"))))
        beyond = builder.icmp_signed("<", x, all_bytes(0))
        folded = builder.select(is_among(x, ord("A"), 26), small, x)
        builder.store(builder.select(arguments[4], folded, x), target, align=1)
        masks = [builder.bitcast(each, bits) for each in (inside, beyond)]
        return context.make_tuple(builder, signature.return_type, masks)

    both = types.UniTuple(types.uint64, 2)
    return both(text, types.int64, letters, types.int64, types.boolean), code


@intrinsic
def lowest_bit(_, bits):
    """The place of the lowest bit that is set; 64 where there is none."""

    def code(_, builder, __, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), code


@njit(cache=True, nogil=True, inline="always")
def mixed(h):
    h = h * MULTIPLIER
    return h ^ (h >> HALF)


@njit(cache=True, nogil=True, inline="always")
def bits_below(n):
    """The lowest n ≤ 64 bits."""
    return ALL if n >= WINDOW else (ONE << np.uint64(n)) - ONE


@njit(cache=True, nogil=True, inline="always")
def short_hash_of(letters, begin, n):
    """``hash_of`` of n > 0 bytes; the eight bytes from the last eighth one on must be there."""
    h = SEED
    while n > CHUNK:
        h = mixed(h ^ load_8(letters, begin))
        begin += CHUNK
        n -= CHUNK
    return mixed(mixed(h ^ (load_8(letters, begin) & bits_below(8 * n))))


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
