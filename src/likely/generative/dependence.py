"""Dependence of features given the class, compared with the full table.

    I(x_a; x_b | y) = Σ_k p(k) Σ_{u,v} p(u, v | k) log [ p(u, v | k) / p(u | k) p(v | k) ]

The naive model is correct when it is 0 for every pair.  A full table of all combinations needs
K (Π V_j − 1) parameters and fits its training data at least as well, unsmoothed.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.distributions import Distribution, JointTableFamily, Labels, Product
from likely.distributions.joint_table import MOST_CELLS
from likely.errors import InvalidInput
from likely.formatting import fixed, number
from likely.graphical.learning.mutual_information import count_all_pairs


@final
@dataclass(frozen=True, eq=False)
class Dependence:
    """What the naive assumption loses, in nats."""

    names: tuple[str, ...]
    mutual_information: (
        Array  # given the class, (n_features, n_features); entropies on the diagonal
    )
    naive_log_likelihood: float  # Σ log p(x | y) of these rows, both fitted to them, unsmoothed
    full_log_likelihood: float | None  # None when the table would be too large
    naive_parameters: int
    full_parameters: int

    def strongest(self) -> tuple[str, str, float]:
        """The pair of features that depend most on each other."""
        off = np.triu(self.mutual_information, 1)
        a, b = np.unravel_index(off.argmax(), off.shape)
        return self.names[int(a)], self.names[int(b)], float(off[a, b])

    def __str__(self) -> str:
        lines = [
            f"naive: {fixed(self.naive_log_likelihood, 3)} nats, {self.naive_parameters} parameters"
        ]
        full = (
            "too large to fit"
            if self.full_log_likelihood is None
            else f"{fixed(self.full_log_likelihood, 3)} nats"
        )
        lines.append(f"full table: {full}, {self.full_parameters} parameters")
        if len(self.names) > 1:
            a, b, value = self.strongest()
            lines.append(f"strongest pair given the class: {a}, {b} ({number(value)} nats)")
        return "\n".join(lines)

    __repr__ = __str__


def dependence(
    distribution: Product, stored: Any, codes: Codes, names: tuple[str, ...]
) -> Dependence:
    """Compare the naive product with the full table of these rows; features must be discrete."""
    values, sizes = _discrete(distribution, stored)
    n_classes = distribution.n_components
    labels = Labels(codes, n_classes)
    naive = sum(_table_likelihood(values[:, [j]], (sizes[j],), labels) for j in range(len(sizes)))
    cells = prod(sizes)
    full = _table_likelihood(values, sizes, labels) if cells <= MOST_CELLS else None
    return Dependence(
        names,
        count_all_pairs(values, sizes, codes, n_classes).mutual_information(),
        naive,
        full,
        n_classes * (sum(sizes) - len(sizes)) + n_classes - 1,
        n_classes * (cells - 1) + n_classes - 1,
    )


def full_parameter_count(distribution: Distribution) -> int:
    """Parameters without the naive assumption: a table of cells, and a Gaussian in each."""
    cells, continuous = distribution.joint_shape()
    per_cell = continuous + continuous * (continuous + 1) // 2
    return distribution.n_components * (cells - 1 + cells * per_cell)


def _discrete(distribution: Product, stored: Any) -> tuple[Codes, tuple[int, ...]]:
    """All features as codes, and how many values each has."""
    d = distribution.n_features
    sizes = [0] * d
    values: list[Array] = [np.empty(0)] * d
    for part, selection in zip(distribution.parts, distribution.selections, strict=True):
        own = selection.of(stored)
        own = own if isinstance(own, np.ndarray) else own.toarray()
        for position, feature in enumerate(selection.features):
            sizes[feature] = _n_values(part, position)
            values[feature] = own[:, position]
    table = np.stack(values, axis=1)
    if not np.isfinite(table).all() or (table < 0).any():
        raise InvalidInput("Dependence needs complete rows; found a missing value. Drop the row.")
    return table.astype(np.int64), tuple(sizes)


def _n_values(part: Distribution, position: int) -> int:
    found = part.n_values(position)
    if found is not None:
        return found
    raise InvalidInput(
        f"Dependence compares tables of counts; {type(part).__name__} features are not discrete. "
        "Use event='categorical', or discretize='quantile'."
    )


def _table_likelihood(values: Codes, sizes: tuple[int, ...], labels: Labels) -> float:
    family = JointTableFamily(sizes)
    statistics = family.statistics(values, labels)
    return family.from_statistics(statistics).log_likelihood_of(statistics)
