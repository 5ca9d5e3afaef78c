"""Compiled reading of text: UTF-8 bytes to the ids of words, of runs of words, and of characters.

A vocabulary is a table with open addressing.  Each place has two numbers: the hash of a term, and
its length and id in one (0: the place is empty).  ``letters`` holds the terms one after the other;
a term with id v starts at ``start[v]`` and has ``last[v]`` bytes.  The hash of at most eight bytes
is one-to-one, so that equal hashes and lengths are equal terms; longer terms are compared letter by
letter.  Two terms never share an id.  Runs of words are terms, too: ``parent[v]`` is the id of the
run without its last word (−1 for words), ``last[v]`` that of the last word.

Arrays have a fixed size: a loop that needs more room returns the document that it was at, and is
called again with larger arrays.  A table that does not grow is only read, by any number of threads.

    hash: h = SEED; for each 8 bytes c (little-endian, padded with 0): h = mixed(h ^ c);
          then mixed(h),   where mixed(h) = (h M) ^ ((h M) >> 32)   modulo 2⁶⁴
    of a run and a further word: mixed(mixed((h_run M) ^ h_word))

Characters are classified by tables: ``fold`` (a byte of ASCII in lower case; 0 outside words),
``kind`` (of a code point: 0 outside words, 1 inside, 2 with a lower case that depends on its
neighbours) and ``lower`` (the code point in lower case).  ``state``: the
number of terms, of letters and of runs.

References
----------
Knuth, The Art of Computer Programming 3 (1998), 6.4: multiplicative hashing, open addressing.
"""

import numpy as np
from numba import njit

DONE, FULL, LONG, WHOLE = 0, 1, 2, 3  # how a loop ended
LOOK_UP, GROW, HASH = 0, 1, 2  # what a loop does with a term
SEED, MULTIPLIER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
HALF, BYTE, WORD = np.uint64(32), np.uint64(8), np.uint64(64)
LOW_HALF, NONE = np.uint64(0xFFFFFFFF), np.uint64(0)
CHUNK = 8  # bytes


@njit(cache=True, nogil=True, inline="always")
def mixed(h):
    h = h * MULTIPLIER
    return h ^ (h >> HALF)


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
            while j < n and letters[first + j] == text[begin + j]:
                j += 1
            if j == n:
                return at
        place = (place + np.uint64(1)) & mask


@njit(cache=True, nogil=True)
def add_term(table, start, last, parent, letters, state, at, h, text, begin, n):
    """The id of a new term, put at a gap of the table; −2 if there is no room for it."""
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
def read_words(
    text,
    bounds,
    first,
    fold,
    kind,
    lower,
    shortest,
    mode,
    stop_words,
    stop_start,
    stop_letters,
    table,
    start,
    last,
    parent,
    letters,
    state,
    scratch,
    codes,
    out,
    stops,
):
    """The ids of the words of each document, from document ``first`` on.

    A word is a run of at least ``shortest`` characters inside words that is no stop word.  ``out``
    receives the ids, −1 for unknown words; with ``HASH``, ``codes`` receives hashes instead.
    ``stops[i]`` is the number of words up to the end of document i.  Returns the document that was
    reached, and how the loop ended.
    """
    n_found = stops[first - 1] if first > 0 else 0
    for document in range(first, bounds.size - 1):
        i, end = bounds[document], bounds[document + 1]
        while i < end:
            b = text[i]
            if fold[b] == 0:
                if b < 0x80:
                    i += 1
                    continue
                point, width = code_point(text, i)
                if kind[point] == 0:
                    i += width
                    continue
            n, extra, h, chunk, shift = 0, 0, SEED, NONE, NONE
            while i < end:
                b = text[i]
                small = fold[b]
                if small != 0:
                    scratch[n] = small
                    chunk |= np.uint64(small) << shift
                    shift += BYTE
                    n += 1
                    i += 1
                    if shift == WORD:
                        h, chunk, shift = mixed(h ^ chunk), NONE, NONE
                        if n + 2 * CHUNK > scratch.size:
                            return document, LONG
                    continue
                if b < 0x80:
                    break
                point, width = code_point(text, i)
                if kind[point] != 1:
                    if kind[point] == 0:
                        break
                    return document, WHOLE
                after = put(scratch, n, lower[point])
                extra += after - n - 1
                while n < after:
                    chunk |= np.uint64(scratch[n]) << shift
                    shift += BYTE
                    n += 1
                    if shift == WORD:
                        h, chunk, shift = mixed(h ^ chunk), NONE, NONE
                        if n + 2 * CHUNK > scratch.size:
                            return document, LONG
                i += width
            if n - extra < shortest:
                continue
            if shift != NONE:
                h = mixed(h ^ chunk)
            h = mixed(h)
            if stop_start.size > 0:
                at = place_of(stop_words, stop_start, stop_letters, h, scratch, 0, n)
                if stop_words[at + 1] != NONE:
                    continue
            if mode == HASH:
                codes[n_found] = h
            else:
                at = place_of(table, start, letters, h, scratch, 0, n)
                term = np.int64(table[at + 1] & LOW_HALF) - 1
                if term < 0 and mode == GROW:
                    term = add_term(
                        table, start, last, parent, letters, state, at, h, scratch, 0, n
                    )
                    if term < 0:
                        return document, FULL
                out[n_found] = term
            n_found += 1
        stops[document] = n_found
    return bounds.size - 1, DONE


@njit(cache=True, nogil=True)
def read_runs(
    text,
    bounds,
    first,
    shortest,
    longest,
    inside,
    mode,
    table,
    start,
    last,
    parent,
    letters,
    state,
    codes,
    out,
    stops,
):
    """The ids, or the hashes, of the runs of ``shortest`` to ``longest`` characters of documents.

    With ``inside``, each document is a word between two spaces, and the first run that is as long
    as the word is the last.
    """
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
                        term = add_term(
                            table, start, last, parent, letters, state, at, h, text, i, j - i
                        )
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
def read_whole(text, bounds, first, mode, table, start, last, parent, letters, state, codes, out):
    """The id, or the hash, of each document as one term."""
    for document in range(first, bounds.size - 1):
        begin, end = bounds[document], bounds[document + 1]
        h = hash_of(text, begin, end)
        if mode == HASH:
            codes[document] = h
            continue
        at = place_of(table, start, letters, h, text, begin, end - begin)
        term = np.int64(table[at + 1] & LOW_HALF) - 1
        if term < 0 and mode == GROW:
            term = add_term(
                table, start, last, parent, letters, state, at, h, text, begin, end - begin
            )
            if term < 0:
                return document, FULL
        out[document] = term
    return bounds.size - 1, DONE


@njit(cache=True, nogil=True)
def join_words(
    words,
    stops,
    first,
    lowest,
    highest,
    grow,
    pairs,
    start,
    last,
    parent,
    state,
    previous,
    out,
    out_stops,
):
    """The ids of the runs of ``lowest`` to ``highest`` words of each document.

    ``pairs`` is a table of runs by the exact key 2³² run + last word; ``previous`` is as long as
    ``words``.  A run with an unknown word, or an unknown run, is −1.
    """
    mask = np.uint64(pairs.size // 2 - 1)
    n_found = out_stops[first - 1] if first > 0 else 0
    begin = stops[first - 1] if first > 0 else 0
    for document in range(first, stops.size):
        end = stops[document]
        for i in range(begin, end):
            previous[i] = words[i]
            if lowest == 1:
                out[n_found] = words[i]
                n_found += 1
        for size in range(2, highest + 1):
            before = previous[begin] if begin < end else -1
            for i in range(begin + 1, end):
                run, before, word = before, previous[i], words[i]
                previous[i] = -1
                if i - begin + 1 < size:
                    continue
                if run >= 0 and word >= 0:
                    key = (np.uint64(run) << HALF) | np.uint64(word)
                    place = mixed(key) & mask
                    at = np.int64(place) * 2
                    while pairs[at + 1] != NONE and pairs[at] != key:
                        place = (place + np.uint64(1)) & mask
                        at = np.int64(place) * 2
                    term = np.int64(pairs[at + 1]) - 1
                    if term < 0 and grow:
                        term = state[0]
                        if 4 * (state[2] + 1) > pairs.size or term + 1 > start.size:
                            return document, FULL
                        pairs[at], pairs[at + 1] = key, np.uint64(term + 1)
                        start[term], last[term], parent[term] = 0, word, run
                        state[0], state[2] = term + 1, state[2] + 1
                    previous[i] = term
                if size >= lowest:
                    out[n_found] = previous[i]
                    n_found += 1
        begin = end
        out_stops[document] = n_found
    return stops.size, DONE


@njit(cache=True, nogil=True)
def join_hashes(codes, stops, lowest, highest, n_columns, previous, out, out_stops):
    """The columns of the runs of ``lowest`` to ``highest`` terms of each document, by their hashes.

    ``previous`` is as long as ``codes``.  The column is that share of all hashes that lies below.
    """
    n_found = begin = 0
    n = np.uint64(n_columns)
    for document in range(stops.size):
        end = stops[document]
        for i in range(begin, end):
            previous[i] = codes[i]
            if lowest == 1:
                out[n_found] = ((codes[i] >> HALF) * n) >> HALF
                n_found += 1
        for size in range(2, highest + 1):
            before = previous[begin] if begin < end else NONE
            for i in range(begin + 1, end):
                run, before = before, previous[i]
                if i - begin + 1 < size:
                    continue
                previous[i] = mixed(mixed((run * MULTIPLIER) ^ codes[i]))
                if size >= lowest:
                    out[n_found] = ((previous[i] >> HALF) * n) >> HALF
                    n_found += 1
        begin = end
        out_stops[document] = n_found


@njit(cache=True, nogil=True)
def count_terms(ids, stops, place_of_term, columns, counts, starts):
    """A CSR matrix of counts: each document's distinct ids, in the order of their appearance.

    ``place_of_term`` is 0 for every id at the start.  Ids of −1 are left out.
    """
    n = first = 0
    for document in range(stops.size):
        before = n
        for i in range(first, stops[document]):
            term = ids[i]
            if term < 0:
                continue
            place = place_of_term[term]
            if place > before:
                counts[place - 1] += 1
            else:
                columns[n] = term
                counts[n] = 1
                n += 1
                place_of_term[term] = n
        first = stops[document]
        starts[document + 1] = n
    return n


@njit(cache=True, nogil=True)
def sum_terms(ids, stops, last_seen, frequency, total):
    """Add to the number of documents with each id, and to the number of its occurrences.

    ``last_seen`` is 0 for every id at the start.  Ids of −1 are left out.
    """
    first = 0
    for document in range(stops.size):
        for i in range(first, stops[document]):
            term = ids[i]
            if term >= 0:
                total[term] += 1
                if last_seen[term] != document + 1:
                    last_seen[term] = document + 1
                    frequency[term] += 1
        first = stops[document]


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
