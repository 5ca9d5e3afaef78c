"""The words of a row: which columns hold them, how many there are, what they say of the classes.

    L_i = Σ_v x_iv        over the columns of words

Words are the columns of multinomial and complement event models; in rows without any, those of
presence (0 or 1) and of Poisson counts.
"""

from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array, Matrix, NumbersAndCodes
from likely.distributions.bernoulli import Bernoulli
from likely.distributions.complement import Complement
from likely.distributions.multinomial import Multinomial
from likely.distributions.poisson import Poisson
from likely.distributions.product import Product, ProductFamily
from likely.errors import InvalidInput

WORDS = (Complement, Multinomial)
COUNTED = (Bernoulli, Poisson)  # families whose cells are numbers of words, where no others are


def word_parts(family: ProductFamily) -> tuple[bool, ...]:
    """Which parts of a product hold the words of a row."""
    chosen = WORDS if any(part.family in WORDS for part in family.parts) else COUNTED
    return tuple(part.family in chosen for part in family.parts)


def absence_is_evidence(family: ProductFamily) -> bool:
    """Whether words that a row does not have are evidence, as in models of presence."""
    parts = zip(family.parts, word_parts(family), strict=True)
    return any(part.family in COUNTED for part, is_words in parts if is_words)


def score_of_absence(family: ProductFamily, distribution: Any) -> Array:
    """log p(x | k) of the words of an empty document, up to a shared term, (n_components,)."""
    parts = zip(distribution.parts, word_parts(family), strict=True)
    empty = [p.log_score(np.zeros((1, p.n_features)))[0] for p, is_words in parts if is_words]
    return sum(empty[1:], start=empty[0])


def refuse_without_words(family: ProductFamily) -> None:
    """Refuse rows that have no length."""
    if not any(word_parts(family)):
        raise InvalidInput(
            "calibrate='length' needs columns of counts or of 0 and 1, whose sum is the length of "
            "a row; there are none. Use calibrate='temperature', or event='multinomial'."
        )


def has_other_columns(family: ProductFamily) -> bool:
    """Whether there are words, and other columns beside them."""
    return len({*word_parts(family)}) == 2


def word_features(family: ProductFamily) -> Array:
    """Which columns of the user's table are words, (n_features,)."""
    out = np.zeros(family.n_features, dtype=bool)
    for part, is_words in zip(family.parts, word_parts(family), strict=True):
        out[list(part.selection.features)] = is_words
    return out


def row_lengths(family: ProductFamily, X: NumbersAndCodes | Matrix) -> Array:
    """L of each row, (n,); missing cells are 0, as are rows without columns of words."""
    length: Array | None = None
    for part, is_words in zip(family.parts, word_parts(family), strict=True):
        if is_words:
            own = part.selection.of(X)
            dense = isinstance(own, np.ndarray)
            sums = np.nansum(own, axis=1) if dense else np.asarray(own.sum(axis=1)).ravel()
            length = sums.astype(float) if length is None else length + sums
    if length is None:
        return np.zeros((X.codes if isinstance(X, NumbersAndCodes) else X).shape[0])
    return length


class SplitScores(NamedTuple):
    """log p(x | k) of the words of a row, up to a shared term, and of its other columns."""

    words: Array  # (n, n_components)
    others: Array  # (n, n_components), with every constant: densities of rows are compared


def split_scores(
    family: ProductFamily, distribution: Product, X: NumbersAndCodes | Matrix
) -> SplitScores:
    """The scores of words and of other columns, of rows that have both."""
    words: list[Array] = []
    others: list[Array] = []
    pairs = zip(distribution.parts, distribution.selections, word_parts(family), strict=True)
    for part, selection, is_words in pairs:
        own = selection.of(X)
        if is_words:
            words.append(part.log_score(own))
        else:
            others.append(part.log_density(own))
    return SplitScores(sum(words[1:], start=words[0]), sum(others[1:], start=others[0]))
