"""The length of a row: how many words a document has.

L_i = Σ_v x_iv        over the columns of counts, and of presence (0 or 1)
"""

import numpy as np

from likely._typing import Array, Matrix, NumbersAndCodes
from likely.distributions.bernoulli import Bernoulli
from likely.distributions.complement import Complement
from likely.distributions.multinomial import Multinomial
from likely.distributions.poisson import Poisson
from likely.distributions.product import ProductFamily
from likely.errors import InvalidInput

COUNTED = (Bernoulli, Complement, Multinomial, Poisson)  # families whose cells are numbers of words


def row_lengths(family: ProductFamily, X: NumbersAndCodes | Matrix) -> Array:
    """L of each row, (n,); missing cells are 0."""
    length: Array | None = None
    for part in family.parts:
        if part.family in COUNTED:
            own = part.selection.of(X)
            dense = isinstance(own, np.ndarray)
            sums = np.nansum(own, axis=1) if dense else np.asarray(own.sum(axis=1)).ravel()
            length = sums.astype(float) if length is None else length + sums
    if length is None:
        raise InvalidInput(
            "calibrate='length' needs columns of counts or of 0 and 1, whose sum is the length of "
            "a row; there are none. Use calibrate='temperature', or event='multinomial'."
        )
    return length
