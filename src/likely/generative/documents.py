"""Documents as sequences of word ids, read by models of counts.

    p(x_1, …, x_d | k) = Π_j φ_k(x_j)        of the words in their order
    p(counts | k) = B Π_v φ_kv^counts_v      B = d! / Π_v counts_v!, the number of their orders

The sequences have the estimates and the posterior of their counts; log p(x, k) differs by ln B.
"""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.text.sequences import Sequences, is_sequences


def counts_of_documents(X: Any, event: Any, n_words: int | None = None) -> Any:
    """Counts of sequences, or presence for Bernoulli models, as CSR; any other X as it is.

    ``n_words`` is the size of the vocabulary, if a model is fitted already.
    """
    if not is_sequences(X):
        return X
    sequences = Sequences.of(X, n_words)
    return sequences.to_presence() if event == "bernoulli" else sequences.to_counts()


def log_orders(X: Any, event: Any) -> Array:
    """ln B of each sequence, where the event model is one of counts that has it; else 0."""
    sequences = Sequences.of(X)
    return sequences.log_orders() if event in ("multinomial", "auto") else np.zeros(len(sequences))
