"""Which terms are kept, by the number of documents with them, and their order: that of the text."""

from numbers import Integral

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.text.options import WordOptions
from likely.text.reader import Reader
from likely.text.vocabulary import Vocabulary

MOST_TERMS = 1_000_000  # that are hardly repeated; a language has fewer
SHARE = 0.5  # of all words: each is there twice or less


def chosen_terms(
    options: WordOptions, reader: Reader, frequency: Array, total: Array, n_documents: int
) -> tuple[Array, Vocabulary]:
    """The ids of the terms of a reader that are kept, in order, and the terms.

    ``frequency`` is the number of documents with each id and ``total`` that of its occurrences.
    """
    import pyarrow.compute as pc

    seen = np.flatnonzero(frequency[: reader.n_ids])
    if options.max_features is None:  # ties need all terms in order
        seen = seen[kept_terms(options, frequency[seen], total[seen], n_documents)]
    names = reader.names().take(seen)
    in_order = pc.sort_indices(names).to_numpy()  # bytes of UTF-8 are in the order of code points
    seen = seen[in_order]
    kept = kept_terms(options, frequency[seen], total[seen], n_documents)
    return seen[kept], Vocabulary.of_arrow(names.take(in_order[kept]))


def kept_terms(options: WordOptions, frequency: Array, total: Array, n_documents: int) -> Array:
    """Which terms are neither too rare nor too frequent: places in ``frequency``.

    ``frequency`` is the number of documents with each term and ``total`` that of its occurrences,
    in the order of the terms.
    """
    most = _number(options.max_df, n_documents)
    fewest = _number(options.min_df, n_documents)
    kept = np.flatnonzero((frequency <= most) & (frequency >= fewest))
    if options.max_features is not None and kept.size > options.max_features:
        kept = np.sort(kept[np.argsort(-total[kept])[: options.max_features]])
    elif options.max_features is None and MOST_TERMS < kept.size > SHARE * total.sum():
        raise InvalidInput(
            f"the texts have {kept.size:,} different terms among {int(total.sum()):,}; words of a "
            f"language are repeated, and keys, codes or random letters are not. More than "
            f"{MOST_TERMS:,} such terms would fill the memory: leave the column out, or set "
            "min_df=2, max_features, or n_features=2**20."
        )
    if not kept.size:
        raise InvalidInput(
            "no term is left: the documents have none, or max_df and min_df exclude all. "
            "Check the documents, lower min_df or raise max_df."
        )
    return kept


def _number(limit: float, n_documents: int) -> float:
    return limit if isinstance(limit, Integral) else limit * n_documents
