"""Which columns tell the classes (or components) apart, and by what parameters, in short words."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.distributions import (
    Bernoulli,
    Categorical,
    Complement,
    DiagonalGaussian,
    Exponential,
    FullGaussian,
    Laplace,
    Multinomial,
    Poisson,
)
from likely.distributions.categorical import tables
from likely.distributions.product import Product
from likely.formatting import short_number
from likely.generative.evidence import margins, part_evidence


class Telling(NamedTuple):
    """What one column says about each component."""

    column: str
    event: str
    evidence: Array  # (n_components,), in nats
    values: tuple[str, ...]  # the parameters of each component, in short


class Columns(NamedTuple):
    """The columns that a part of the model reads."""

    names: Sequence[str]
    labels: Sequence[Sequence[str]]  # of the values of each column of codes; empty for numbers


def tellings(
    distribution: Any,
    log_prior: Array,
    names: Sequence[str],
    labels: Sequence[Sequence[str]],
    seed: int,
) -> list[Telling]:
    """Every column, the most telling first."""
    rng = np.random.default_rng(seed)
    found: list[Telling] = []
    for part, features in _parts(distribution, len(names)):
        own = Columns([names[j] for j in features], [labels[j] for j in features])
        found += _of_part(part, log_prior, own, rng)
    return sorted(found, key=lambda telling: -float(telling.evidence.max()))


def _parts(distribution: Any, n_features: int) -> list[tuple[Any, tuple[int, ...]]]:
    if isinstance(distribution, Product):
        pairs = zip(distribution.parts, distribution.selections, strict=True)
        return [(part, selection.features) for part, selection in pairs]
    return [(distribution, tuple(range(n_features)))]


def _of_part(
    part: Any, log_prior: Array, columns: Columns, rng: np.random.Generator
) -> list[Telling]:
    if isinstance(part, FullGaussian):
        part = margins(part)
    evidence = part_evidence(part, log_prior, rng)
    describe = DESCRIBE.get(type(part))
    cells = [[""] * len(log_prior) for _ in columns.names]
    if describe is not None:
        cells = describe(part, columns)
    event = "gaussian" if isinstance(part, DiagonalGaussian) else type(part).__name__.lower()
    rows = zip(columns.names, evidence.T, cells, strict=True)
    return [Telling(name, event, values, tuple(texts)) for name, values, texts in rows]


def _spread(location: Array, scale: Array) -> list[list[str]]:
    pairs = zip(location.T, scale.T, strict=True)
    return [
        [f"{short_number(m, 3)} ± {short_number(s, 2)}" for m, s in zip(*pair, strict=True)]
        for pair in pairs
    ]


def _each(values: Array, form: str) -> list[list[str]]:
    return [[format(value, form) for value in column] for column in values.T]


def _most_telling(part: Categorical, columns: Columns) -> list[list[str]]:
    """Of each component, the value it has more often than the others do."""
    cells = []
    for log_p, labels in zip(tables(part.log_probability, part.sizes), columns.labels, strict=True):
        p = np.exp(log_p)  # (n_components, n_values)
        mean = np.maximum(p.mean(axis=0), np.finfo(float).tiny)
        best = (p * np.log(np.maximum(p / mean, np.finfo(float).tiny))).argmax(axis=1)
        cells.append([f"{labels[v]} {p[k, v]:.2f}" for k, v in enumerate(best)])
    return cells


DESCRIBE: dict[type[Any], Callable[[Any, Columns], list[list[str]]]] = {
    Bernoulli: lambda part, _: _each(part.probability, ".2f"),
    Categorical: _most_telling,
    Complement: lambda part, _: _each(part.weight, "+.2f"),
    DiagonalGaussian: lambda part, _: _spread(part.mean, np.sqrt(part.variance)),
    Exponential: lambda part, _: _each(part.mean, ".3g"),
    Laplace: lambda part, _: _spread(part.median, part.scale),
    Multinomial: lambda part, _: _each(np.exp(part.log_probability), ".2g"),
    Poisson: lambda part, _: _each(part.rate, ".3g"),
}
