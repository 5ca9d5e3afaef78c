"""Naive Bayes as a logistic model: linear in the sufficient statistics of its columns.

    log p(x, k) = b_k + w_kᵀ T(x) + (a term that all classes share)

T(x) is x for Bernoulli, count and waiting-time columns, (x, x²) for Gaussian ones, an indicator
per value for categories: the boundary is linear in T, and curved in x where T is.  A Laplace
column has no such form.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.distributions import Categorical, Product


class LogisticForm(NamedTuple):
    """Weights and biases of the equivalent (softmax) logistic model."""

    coef: Array  # (n_classes, n_terms)
    intercept: Array  # (n_classes,)
    terms: tuple[str, ...]  # what each weight multiplies: "age", "age²", "town=Ulm"


def logistic_form(
    distribution: Product, log_prior: Array, names: Sequence[str], values: Sequence[Any]
) -> LogisticForm:
    """Of a fitted product; ``values`` are the categories of each column, None for numbers."""
    coef: list[Array] = []
    terms: list[str] = []
    intercept = np.array(log_prior, dtype=float)
    for part, selection in zip(distribution.parts, distribution.selections, strict=True):
        own = [names[j] for j in selection.features]
        if isinstance(part, Categorical):
            coef.append(part.log_probability)
            for name, column, size in zip(own, selection.features, part.sizes, strict=True):
                known = range(size) if values[column] is None else values[column]
                terms += [f"{name}={value}" for value in known]
            continue
        form = part.linear_form()
        coef.append(form.coef)
        intercept = intercept + form.intercept
        terms += _named_terms(own, form.terms, form.coef.shape[1])
    return LogisticForm(np.concatenate(coef, axis=1), intercept, tuple(terms))


def _named_terms(names: Sequence[str], terms: str, n_terms: int) -> list[str]:
    if terms == "x":
        return list(names)
    if terms == "x, x²":
        return [*names, *(f"{name}²" for name in names)]
    per_column = n_terms // len(names)  # any exponential family: its own T₁, T₂, …
    return [f"T{t + 1}({name})" for name in names for t in range(per_column)]
