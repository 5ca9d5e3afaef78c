"""Compiled counts of the ids of terms: by document, and summed over documents."""

from numba import njit


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
