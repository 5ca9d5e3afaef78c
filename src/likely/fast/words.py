"""Compiled reading of text: UTF-8 bytes to the ids of words, of runs of words, and of characters.

A vocabulary is a table with open addressing.  Each place has two numbers: the hash of a term, and
its length and id in one (0: the place is empty).  ``letters`` holds the terms one after the other;
a term with id v starts at ``start[v]`` and has ``last[v]`` bytes.  The hash of at most eight bytes
is one-to-one, so that equal hashes and lengths are equal terms; longer terms are compared letter by
letter.  Two terms never share an id.  Runs of words are terms, too: ``parent[v]`` is the id of the
run without its last word (−1 for words), ``last[v]`` that of the last word.

    hash of a run and a further word: mixed(mixed((h_run M) ^ h_word)); of a word: ``letters.py``

Arrays have a fixed size: a loop that needs more room returns the document that it was at, and is
called again with larger arrays.  A table that does not grow is only read, by any number of threads.

Characters are classified by tables: ``fold`` (a byte of ASCII in lower case; 0 outside words),
``kind`` (of a code point: 0 outside words, 1 inside, 2 with a lower case that depends on its
neighbours) and ``lower`` (the code point in lower case).  ``state``: the number of terms, of
letters and of runs.

References
----------
Knuth, The Art of Computer Programming 3 (1998), 6.4: open addressing.
"""

import numpy as np
from numba import njit

from likely.fast.letters import (
    BYTE,
    CHUNK,
    HALF,
    LITTLE_ENDIAN,
    NONE,
    ONE,
    SEED,
    WINDOW,
    WORD,
    bits_below,
    code_point,
    copy_window,
    hash_of,
    load_8,
    lowest_bit,
    mixed,
    prefetch,
    put,
    short_hash_of,
)

DONE, FULL, LONG, WHOLE = 0, 1, 2, 3  # how a loop ended
LOOK_UP, GROW, HASH = 0, 1, 2  # what a loop does with a term
LOW_HALF = np.uint64(0xFFFFFFFF)
CAPITAL = ord("A")
AT_A_TIME = 256  # words whose places in the table are read together


@njit(cache=True, nogil=True, inline="always")
def place_of(table, start, letters, h, text, begin, n):
    """The place in the table of the term ``text[begin:begin + n]``, or of the gap for it."""
    mask = np.uint64(table.size // 2 - 1)
    place = h & mask
    while True:
        at = np.int64(place) * 2
        entry = table[at + 1]
        if entry == NONE:
            return at
        if table[at] == h and np.int64(entry >> HALF) == n:
            if n <= CHUNK:
                return at
            first = start[np.int64(entry & LOW_HALF) - 1]
            j = 0
            while j + CHUNK <= n and load_8(letters, first + j) == load_8(text, begin + j):
                j += CHUNK
            while j < n and letters[first + j] == text[begin + j]:
                j += 1
            if j == n:
                return at
        place = (place + np.uint64(1)) & mask


@njit(cache=True, nogil=True)
def add_term(terms, at, h, text, begin, n):
    """The id of a new term, put at a gap of the table; −2 if there is no room for it."""
    table, start, last, parent, letters, state = terms
    term, place = state[0], state[1]
    n_words = term - state[2]
    if 4 * (n_words + 1) > table.size or term + 1 > start.size or place + n > letters.size:
        return -2
    for j in range(n):
        letters[place + j] = text[begin + j]
    table[at] = h
    table[at + 1] = (np.uint64(n) << HALF) | np.uint64(term + 1)
    start[term], last[term], parent[term] = place, n, -1
    state[0], state[1] = term + 1, place + n
    return term


@njit(cache=True, nogil=True)
def next_word(text, i, end, fold, kind, lower, shortest, scratch, n):
    """The next word of a document from byte i on, of any script, written to ``scratch[n:]``.

    Returns the byte that was reached, the place after the word (n if it is too short, or if there
    is none), its hash, and how the loop ended; if it needs room, the word is not read.
    """
    while i < end:
        point, width = code_point(text, i)
        if kind[point] != 0:
            break
        i += width
    first, begin, extra = i, n, 0
    h, chunk, shift = SEED, NONE, NONE
    while i < end:
        if n + 2 * CHUNK > scratch.size:
            return first, begin, h, LONG
        b = text[i]
        if b < 0x80:
            if fold[b] == 0:
                break
            scratch[n] = fold[b]
            after = n + 1
            i += 1
        else:
            point, width = code_point(text, i)
            if kind[point] == 0:
                break
            if kind[point] == 2:
                return first, begin, h, WHOLE
            after = put(scratch, n, lower[point])
            extra += after - n - 1
            i += width
        while n < after:
            chunk |= np.uint64(scratch[n]) << shift
            shift += BYTE
            n += 1
            if shift == WORD:
                h, chunk, shift = mixed(h ^ chunk), NONE, NONE
    if n - begin - extra < shortest:
        return i, begin, h, DONE
    if shift != NONE:
        h = mixed(h ^ chunk)
    return i, n, mixed(h), DONE


@njit(cache=True, nogil=True)
def find_words(text, i, end, fold, kind, lower, shortest, scratch, hashes, begins, lengths):
    """The next words of a document from byte i on, as many as ``hashes`` has room for.

    Word j is written to ``scratch``, from ``begins[j]`` on, in lower case.  Words of ASCII are
    copied and found in windows: a word is a run of bits that ends in the window.  Returns the byte
    that was reached, the number of words, and how the loop ended.
    """
    lowercase = fold[CAPITAL] != CAPITAL
    found = n = 0
    while i < end and found < hashes.size:
        if LITTLE_ENDIAN and i + WINDOW <= text.size and n + 2 * WINDOW <= scratch.size:
            inside, beyond = copy_window(text, i, scratch, n, lowercase)
            until = min(min(end - i, WINDOW), np.int64(lowest_bit(beyond)))
            rest = inside & bits_below(until)
            before, n_read = found, until
            while rest != NONE:
                first = np.int64(lowest_bit(rest))
                carry = rest + (rest & (~rest + ONE))  # the first run becomes one bit after it
                after = np.int64(lowest_bit(carry))
                if (after == until and i + until < end) or found == hashes.size:
                    n_read = first
                    break
                rest &= carry
                if after - first >= shortest:
                    hashes[found] = short_hash_of(scratch, n + first, after - first)
                    begins[found], lengths[found] = n + first, after - first
                    found += 1
            i += n_read
            n += WINDOW if found > before else 0
            if n_read > 0:
                continue
        i, after, h, ended = next_word(text, i, end, fold, kind, lower, shortest, scratch, n)
        if ended != DONE:
            return i, found, DONE if ended == LONG and found > 0 else ended
        if after > n:
            hashes[found], begins[found], lengths[found] = h, n, after - n
            found += 1
            n = after
    return i, found, DONE


@njit(cache=True, nogil=True)
def leave_out(table, start, letters, hashes, begins, lengths, found, scratch):
    """Remove the words that are in a table of stop words, and return the number of the others."""
    kept = 0
    for j in range(found):
        at = place_of(table, start, letters, hashes[j], scratch, begins[j], lengths[j])
        if table[at + 1] == NONE:
            hashes[kept], begins[kept], lengths[kept] = hashes[j], begins[j], lengths[j]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def look_up(hashes, begins, lengths, found, scratch, grow, terms, out, n_found):
    """The ids of words that were found; whether there was room for the new ones."""
    table, start, letters = terms[0], terms[1], terms[4]
    mask = np.uint64(table.size // 2 - 1)
    for j in range(found):
        prefetch(table, np.int64(hashes[j] & mask) * 2)
    for j in range(found):  # short words at their first place: cache misses overlap
        at = np.int64(hashes[j] & mask) * 2
        entry = table[at + 1]
        short = lengths[j] <= CHUNK and np.int64(entry >> HALF) == lengths[j]
        out[n_found + j] = (
            np.int64(entry & LOW_HALF) - 1 if table[at] == hashes[j] and short else -1
        )
    for j in range(found):
        if out[n_found + j] < 0:
            at = place_of(table, start, letters, hashes[j], scratch, begins[j], lengths[j])
            term = np.int64(table[at + 1] & LOW_HALF) - 1
            if term < 0 and grow:
                term = add_term(terms, at, hashes[j], scratch, begins[j], lengths[j])
                if term < 0:
                    return False
            out[n_found + j] = term
    return True


@njit(cache=True, nogil=True)
def read_words(
    text, bounds, first, characters, shortest, mode, stop_words, terms, scratch, codes, out, stops
):
    """The ids of the words of each document, from document ``first`` on.

    A word is a run of at least ``shortest`` characters inside words that is no stop word.  ``out``
    receives the ids, −1 for unknown words; with ``HASH``, ``codes`` receives hashes instead.
    ``stops[i]`` is the number of words up to the end of document i.  Returns the document that was
    reached, and how the loop ended.
    """
    hashes = np.empty(AT_A_TIME, np.uint64)
    begins, lengths = np.empty(AT_A_TIME, np.int64), np.empty(AT_A_TIME, np.int64)
    fold, kind, lower = characters
    stop_table, stop_start, stop_letters = stop_words
    n_found = stops[first - 1] if first > 0 else 0
    for document in range(first, bounds.size - 1):
        i, end = bounds[document], bounds[document + 1]
        while i < end:
            i, found, ended = find_words(
                text, i, end, fold, kind, lower, shortest, scratch, hashes, begins, lengths
            )
            if ended != DONE:
                return document, ended
            if stop_start.size > 0:
                found = leave_out(
                    stop_table, stop_start, stop_letters, hashes, begins, lengths, found, scratch
                )
            if mode == HASH:
                for j in range(found):  # no slices: their messages take seconds to compile
                    codes[n_found + j] = hashes[j]
            elif not look_up(
                hashes, begins, lengths, found, scratch, mode == GROW, terms, out, n_found
            ):
                return document, FULL
            n_found += found
        stops[document] = n_found
    return bounds.size - 1, DONE


@njit(cache=True, nogil=True)
def read_runs(text, bounds, first, shortest, longest, inside, mode, terms, codes, out, stops):
    """The ids, or the hashes, of the runs of ``shortest`` to ``longest`` characters of documents.

    With ``inside``, each document is a word between two spaces, and the first run that is as long
    as the word is the last.
    """
    table, start, letters = terms[0], terms[1], terms[4]
    n_found = stops[first - 1] if first > 0 else 0
    for document in range(first, bounds.size - 1):
        begin, end = bounds[document], bounds[document + 1]
        n_points = 0
        for i in range(begin, end):
            n_points += (text[i] & 0xC0) != 0x80
        for size in range(shortest, longest + 1):
            if n_points == 0 or (size > n_points and not inside):
                break
            taken = min(size, n_points)
            i = j = begin
            for _ in range(taken - 1):
                j += code_point(text, j)[1]
            while j < end:
                j += code_point(text, j)[1]
                h = hash_of(text, i, j)
                if mode == HASH:
                    codes[n_found] = h
                else:
                    at = place_of(table, start, letters, h, text, i, j - i)
                    term = np.int64(table[at + 1] & LOW_HALF) - 1
                    if term < 0 and mode == GROW:
                        term = add_term(terms, at, h, text, i, j - i)
                        if term < 0:
                            return document, FULL
                    out[n_found] = term
                n_found += 1
                i += code_point(text, i)[1]
            if inside and size >= n_points:
                break
        stops[document] = n_found
    return bounds.size - 1, DONE


@njit(cache=True, nogil=True)
def read_whole(text, bounds, first, mode, terms, codes, out):
    """The id, or the hash, of each document as one term."""
    table, start, letters = terms[0], terms[1], terms[4]
    for document in range(first, bounds.size - 1):
        begin, end = bounds[document], bounds[document + 1]
        h = hash_of(text, begin, end)
        if mode == HASH:
            codes[document] = h
            continue
        at = place_of(table, start, letters, h, text, begin, end - begin)
        term = np.int64(table[at + 1] & LOW_HALF) - 1
        if term < 0 and mode == GROW:
            term = add_term(terms, at, h, text, begin, end - begin)
            if term < 0:
                return document, FULL
        out[document] = term
    return bounds.size - 1, DONE


@njit(cache=True, nogil=True)
def move(table, hashed, new_table):
    """Put the entries of a table into an empty, larger one; ``hashed``: its numbers are hashes."""
    mask = np.uint64(new_table.size // 2 - 1)
    for i in range(0, table.size, 2):
        if table[i + 1] == NONE:
            continue
        place = (table[i] if hashed else mixed(table[i])) & mask
        while new_table[2 * np.int64(place) + 1] != NONE:
            place = (place + np.uint64(1)) & mask
        new_table[2 * np.int64(place)] = table[i]
        new_table[2 * np.int64(place) + 1] = table[i + 1]
