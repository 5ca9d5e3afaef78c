"""Compiled runs of words: the ids, or the hashed columns, of the words that follow each other.

The layout of terms is that of ``words.py``; the hash of a run and a further word is
mixed(mixed((h_run M) ^ h_word)).
"""

import numpy as np
from numba import njit

from likely.fast.letters import HALF, MULTIPLIER, NONE, mixed
from likely.fast.words import DONE, FULL


@njit(cache=True, nogil=True)
def join_words(words, stops, first, lowest, highest, grow, pairs, terms, previous, out, out_stops):
    """The ids of the runs of ``lowest`` to ``highest`` words of each document.

    ``pairs`` is a table of runs by the exact key 2³² run + last word; ``previous`` is as long as
    ``words``.  A run with an unknown word, or an unknown run, is −1.
    """
    _, start, last, parent, _, state = terms
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
