"""Documents as sequences of word ids, read by models of counts.

    p(x_1, …, x_d | k) = Π_j φ_k(x_j)        of the words in their order
    p(counts | k) = B Π_v φ_kv^counts_v      B = d! / Π_v counts_v!, the number of their orders

The sequences have the estimates and the posterior of their counts; log p(x, k) differs by ln B.

Lists of whole numbers are ids or counts.  A model to be fitted takes lists of unequal length for
ids, and others for a matrix; a fitted one takes all of them for what it was fitted to.
"""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.data.sequences import Sequences, is_lists, is_sequences
from likely.errors import InvalidInput


def are_ids(X: Any, *, reads_ids: bool, n_columns: int) -> bool:
    """Whether a fitted model reads rows as sequences of ids; ``reads_ids`` if fitted to them."""
    if reads_ids:
        return is_lists(X) or is_sequences(X)
    if is_lists(X) and is_sequences(X):
        raise InvalidInput(
            "X is a list of rows of unequal length, and the model was fitted to columns; rows of "
            f"{n_columns} values were expected. If these are ids of words, give "
            f"likely.Sequences.of(lists, {n_columns})."
        )
    return is_sequences(X)


def counts_of_documents(X: Any, event: Any, n_words: int | None = None) -> Any:
    """Counts of sequences of ids, or presence for Bernoulli models, as CSR.

    ``n_words`` is the size of the vocabulary, if a model is fitted already.
    """
    sequences = Sequences.of(X, n_words)
    return sequences.to_presence() if event == "bernoulli" else sequences.to_counts()


def log_orders(X: Any, event: Any) -> Array:
    """ln B of each sequence, where the event model is one of counts that has it; else 0."""
    sequences = Sequences.of(X)
    return sequences.log_orders() if event in ("multinomial", "auto") else np.zeros(len(sequences))
