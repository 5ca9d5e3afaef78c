"""Weights that a search starts from, such as the linear form of a naive Bayes.

    log p(x, k) = b_k + w_kᵀx + (a shared term)        log-odds of two classes: w₁ − w₀, b₁ − b₀

The optimum does not depend on them.  The weights of naive Bayes are close to it where its columns
are independent given the class.  Of words, which are not, they are far too large, the more for rare
words: a search from them takes as many steps as one from the constant model.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from likely._typing import Array
from likely.distributions.base import NamedForm
from likely.errors import InvalidInput
from likely.linear.framing import Framing


def weights_given(start: Any) -> tuple[Array, Array]:
    """The weights and intercepts of a mapping, or of a linear form."""
    if isinstance(start, NamedForm):
        start = {"coef": start.coef, "intercept": start.intercept}
    if not isinstance(start, Mapping) or set(start) != {"coef", "intercept"}:
        raise InvalidInput(
            f"start={start!r:.200} was given; a mapping with coef and intercept was expected, or a "
            "linear form. Use start=bayes.logistic_form() of a fitted NaiveBayes, or "
            "start={'coef': model.class_coef_, 'intercept': model.class_intercept_}."
        )
    coef, intercept = (np.asarray(start[name], dtype=float) for name in ("coef", "intercept"))
    return coef, intercept


def predictor_given(start: Any, framing: Framing) -> Array:
    """θ of one predictor, from its own weights or from those of two classes."""
    coef, intercept = weights_given(start)
    if coef.ndim == 2 and len(coef) == 2 and intercept.shape == (2,):
        coef, intercept = coef[1] - coef[0], intercept[1] - intercept[0]
    coef, intercept = np.ravel(coef), np.ravel(intercept)
    if coef.shape != (framing.n_coefficients,) or intercept.shape != (1,):
        d = framing.n_coefficients
        raise InvalidInput(
            f"start holds {coef.size} weights and {intercept.size} intercepts; weights of shape "
            f"{(1, d)} and one intercept were expected, or {(2, d)} and two, class by class."
            " Give one weight for each column."
        )
    theta = np.append(coef, intercept) if framing.intercept else coef
    return np.asarray(framing.from_user(theta))
