"""Compiled reading of text: UTF-8 bytes to the ids of words or of runs of characters.

A vocabulary is a table with open addressing: the hash of each term, its id, and the terms one
after the other in ``letters``, where ``ends[id]`` is the end of a term.  Equal hashes are compared
letter by letter, so that two terms never share an id.  The arrays have a fixed size; a loop that
needs more room goes back to the start of the document, and is called again with larger arrays.

Characters are classified by two tables: ``kind`` (0 outside words, 1 inside) and ``lower`` (the
code point in lower case).  ``state`` holds the number of terms and of letters.

    hash = FNV-1a of the bytes, with its upper half folded into the lower

References
----------
Fowler, Noll, Vo and Eastlake, The FNV Non-Cryptographic Hash Algorithm, RFC 9923 (2025).
"""

import numpy as np
from numba import njit

DONE, FULL = 0, 1
SEED, PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)
FOLD = np.uint64(32)


@njit(cache=True, nogil=True)
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
def hash_of(letters, start, end):
    """The hash of a term; never 0, which marks an empty place of the table."""
    h = SEED
    for i in range(start, end):
        h = (h ^ np.uint64(letters[i])) * PRIME
    h ^= h >> FOLD
    return h if h != 0 else np.uint64(1)


@njit(cache=True, nogil=True)
def place_of(hashes, ids, ends, letters, h, start, end):
    """The place in the table of the term ``letters[start:end]``, or of the gap where it belongs."""
    mask = hashes.size - 1
    place = np.int64(h & np.uint64(mask))
    while hashes[place] != 0:
        if hashes[place] == h:
            term = ids[place]
            first = ends[term - 1] if term > 0 else 0
            same = ends[term] - first == end - start
            j = 0
            while same and j < end - start:
                same = letters[first + j] == letters[start + j]
                j += 1
            if same:
                return place
        place = (place + 1) & mask
    return place


@njit(cache=True, nogil=True)
def intern(hashes, ids, ends, letters, state, h, end, grow):
    """The id of the term that was written after the last letter.

    −1 if it is unknown and the vocabulary does not grow, −2 if there is no room for it.
    """
    start = state[1]
    place = place_of(hashes, ids, ends, letters, h, start, end)
    if hashes[place] != 0:
        return np.int64(ids[place])
    if not grow:
        return np.int64(-1)
    term = state[0]
    if 2 * (term + 1) > hashes.size or term + 1 > ends.size:
        return np.int64(-2)
    hashes[place], ids[place], ends[term] = h, term, end
    state[0], state[1] = term + 1, end
    return np.int64(term)


@njit(cache=True, nogil=True)
def read_words(
    text, starts, first, kind, lower, shortest, grow, hashes, ids, ends, letters, state, out, stops
):
    """The ids of the words of each document, from document ``first`` on.

    A word is a run of at least ``shortest`` characters of kind 1.  ``out`` receives the ids,
    −1 for unknown words; ``stops[i]`` the number of ids up to the end of document i.  Returns
    the document that was reached, and ``DONE`` or ``FULL``.
    """
    n = stops[first - 1] if first > 0 else 0
    for document in range(first, starts.size - 1):
        i, end = starts[document], starts[document + 1]
        if letters.size - state[1] < 2 * (end - i) + 8:
            return document, FULL
        while i < end:
            point, width = code_point(text, i)
            if kind[point] == 0:
                i += width
                continue
            place, length, h = state[1], 0, SEED
            while i < end:
                b = text[i]
                if b < 0x80:
                    if kind[b] == 0:
                        break
                    small = np.uint8(lower[b])
                    letters[place] = small
                    h = (h ^ np.uint64(small)) * PRIME
                    place += 1
                    i += 1
                else:
                    point, width = code_point(text, i)
                    if kind[point] == 0:
                        break
                    after = put(letters, place, lower[point])
                    for j in range(place, after):
                        h = (h ^ np.uint64(letters[j])) * PRIME
                    place = after
                    i += width
                length += 1
            if length < shortest:
                continue
            h ^= h >> FOLD
            if h == 0:
                h = np.uint64(1)
            term = intern(hashes, ids, ends, letters, state, h, place, grow)
            if term == -2:
                return document, FULL
            out[n] = term
            n += 1
        stops[document] = n
    return starts.size - 1, DONE


@njit(cache=True, nogil=True)
def read_runs(
    text,
    starts,
    first,
    lowest,
    highest,
    inside,
    grow,
    hashes,
    ids,
    ends,
    letters,
    state,
    out,
    stops,
):
    """The ids of the runs of ``lowest`` to ``highest`` characters of each document.

    With ``inside``, each is a word between two spaces, and the first run that is as long as the
    word is the last.
    """
    n = stops[first - 1] if first > 0 else 0
    for document in range(first, starts.size - 1):
        begin, end = starts[document], starts[document + 1]
        if letters.size - state[1] < end - begin + 8:
            return document, FULL
        n_points = 0
        for i in range(begin, end):
            n_points += (text[i] & 0xC0) != 0x80
        for size in range(lowest, highest + 1):
            if size > n_points and not inside:
                break
            taken = min(size, n_points)
            i, last = begin, n_points - taken
            for _ in range(last + 1):
                if taken == 0:
                    break
                j, place = i, state[1]
                for _ in range(taken):
                    _, width = code_point(text, j)
                    for _ in range(width):
                        letters[place] = text[j]
                        place += 1
                        j += 1
                h = hash_of(letters, state[1], place)
                term = intern(hashes, ids, ends, letters, state, h, place, grow)
                if term == -2:
                    return document, FULL
                out[n] = term
                n += 1
                i += code_point(text, i)[1]
            if inside and size >= n_points:
                break
        stops[document] = n
    return starts.size - 1, DONE


@njit(cache=True, nogil=True)
def read_whole(text, starts, first, grow, hashes, ids, ends, letters, state, out, stops):
    """The id of each document as one term."""
    for document in range(first, starts.size - 1):
        begin, end = starts[document], starts[document + 1]
        if letters.size - state[1] < end - begin + 8:
            return document, FULL
        place = state[1]
        for i in range(begin, end):
            letters[place] = text[i]
            place += 1
        h = hash_of(letters, state[1], place)
        term = intern(hashes, ids, ends, letters, state, h, place, grow)
        if term == -2:
            return document, FULL
        out[document] = term
        stops[document] = document + 1
    return starts.size - 1, DONE


@njit(cache=True, nogil=True)
def join_words(words, stops, previous, first, grow, keys, ids, ends, state, out):
    """The ids of pairs of a run of words and the word after it.

    ``previous[i]`` is the id of the run of n − 1 words that ends at word i, −1 if there is none.
    A pair has the exact key 2³² run + word + 1; ``ends`` keeps it by id.  ``out[i]`` is the id of
    the run of n words that ends at word i, −1 if there is none or it is unknown.
    """
    mask = keys.size - 1
    start = stops[first - 1] if first > 0 else 0
    for document in range(first, stops.size):
        for i in range(start, stops[document]):
            out[i] = -1
            if i == start or previous[i - 1] < 0 or words[i] < 0:
                continue
            key = (np.int64(previous[i - 1]) << 32) + np.int64(words[i]) + 1
            h = np.uint64(key) * PRIME
            place = np.int64((h ^ (h >> FOLD)) & np.uint64(mask))
            while keys[place] != 0 and keys[place] != key:
                place = (place + 1) & mask
            if keys[place] == key:
                out[i] = ids[place]
            elif grow:
                if 2 * (state[0] + 1) > keys.size or state[0] + 1 > ends.size:
                    return document, FULL
                keys[place], ids[place], ends[state[0]] = key, state[0], key
                out[i] = state[0]
                state[0] += 1
        start = stops[document]
    return stops.size, DONE


@njit(cache=True, nogil=True)
def count_terms(ids, stops, last_seen, place_of_term, columns, counts, starts):
    """A CSR matrix of counts: each document's distinct ids, in the order of their appearance.

    ``last_seen`` is −1 for every column at the start.  Ids of −1 are left out.
    """
    n = 0
    first = 0
    for document in range(stops.size):
        for i in range(first, stops[document]):
            term = ids[i]
            if term < 0:
                continue
            if last_seen[term] != document:
                last_seen[term] = document
                place_of_term[term] = n
                columns[n] = term
                counts[n] = 1
                n += 1
            else:
                counts[place_of_term[term]] += 1
        first = stops[document]
        starts[document + 1] = n
    return n


@njit(cache=True, nogil=True)
def move(hashes, ids, new_hashes, new_ids):
    """Put terms into an empty, larger table."""
    mask = np.uint64(new_hashes.size - 1)
    for i in range(hashes.size):
        place = np.int64(hashes[i] & mask)
        while new_hashes[place] != 0:
            place = (place + 1) & np.int64(mask)
        new_hashes[place], new_ids[place] = hashes[i], ids[i]


@njit(cache=True, nogil=True)
def move_pairs(pairs, keys, ids):
    """Put pairs of a run and a word, in the order of their ids, into an empty table."""
    mask = np.uint64(keys.size - 1)
    for i in range(pairs.size):
        h = np.uint64(pairs[i]) * PRIME
        place = np.int64((h ^ (h >> FOLD)) & mask)
        while keys[place] != 0:
            place = (place + 1) & np.int64(mask)
        keys[place], ids[place] = pairs[i], i
