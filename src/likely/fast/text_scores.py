"""Compiled sums over the terms of documents: counts of each class, and scores of each class.

A document is a run of ids: ``ids[stops[d − 1] : stops[d]]`` are the terms of document d, each the
row of a table, −1 left out.  No matrix of documents and terms is built.
"""

import numpy as np
from numba import njit

from likely.fast.letters import prefetch

AHEAD, PER_LINE = 8, 8  # terms ahead, and weights of a line of the cache


@njit(cache=True, nogil=True)
def count_by_class(ids, stops, first, code, weight, once, seen, sums):
    """Add the terms of labelled documents to the counts of their classes.

        sums[v, k] = Σ_d w_d [y_d = k] x_dv

    ``code[d]`` is the class of document d, −1 where it adds nothing; with ``once``, x is 1 where
    a term occurs.  ``seen[v]`` holds the last document with term v (numbered from ``first`` ≥ 1;
    0 where there is none), the number of documents with it, and its number of occurrences, without
    weights.
    """
    start = 0
    for d in range(stops.size):
        k, w, document = code[d], weight[d], first + d
        for i in range(start, stops[d]):
            term = ids[i]
            if term < 0:
                continue
            if seen[term, 0] != document:
                seen[term, 0] = document
                seen[term, 1] += 1
            elif once:
                continue
            seen[term, 2] += 1
            if k >= 0:
                sums[term, k] += w
        start = stops[d]


@njit(cache=True, nogil=True)
def add_weights(ids, stops, weights, scores, lengths):
    """scores[d, k] += Σ_v x_dv weights[v, k], and the number of terms of each document."""
    start = 0
    n_classes = weights.shape[1]
    for d in range(stops.size):
        row, n, waiting = scores[d], 0, -1
        for i in range(start, stops[d]):
            term = ids[i]
            ahead = np.int64(ids[min(i + AHEAD, ids.size - 1)])
            if ahead >= 0:
                for k in range(0, n_classes, PER_LINE):
                    prefetch(weights, ahead * n_classes + k)
            if term < 0:
                continue
            n += 1
            if waiting < 0:
                waiting = term
                continue
            for k in range(n_classes):  # two terms at once: the scores are written half as often
                row[k] += weights[waiting, k] + weights[term, k]
            waiting = -1
        if waiting >= 0:
            for k in range(n_classes):
                row[k] += weights[waiting, k]
        lengths[d] = n
        start = stops[d]


@njit(cache=True, nogil=True)
def add_weights_once(ids, stops, last, weights, scores, lengths):
    """``add_weights`` with x = 1 where a term occurs; ``last`` is 0 for every term at the start."""
    start = 0
    n_classes = weights.shape[1]
    for d in range(stops.size):
        n = 0
        for i in range(start, stops[d]):
            term = ids[i]
            if term < 0 or last[term] == d + 1:
                continue
            last[term] = d + 1
            n += 1
            for k in range(n_classes):
                scores[d, k] += weights[term, k]
        lengths[d] = n
        start = stops[d]
