"""Mutual information of every two discrete variables, alone or given a class.

    I(a; b)     = Σ_uv p(u, v) log [ p(u, v) / p(u) p(v) ]
    I(a; b | y) = Σ_k p(k) Σ_uv p(u, v | k) log [ p(u, v | k) / p(u | k) p(v | k) ]

All of it comes from the counts of all pairs, which add and take one pass.  A pair is counted in the
rows in which both are observed.  The diagonal holds the entropies, I(a; a) = H(a).

References
----------
Cover & Thomas, Elements of Information Theory, 2nd ed., §2.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.block import Block
from likely.distributions.categorical import starts
from likely.distributions.responsibility import for_loop
from likely.errors import InvalidInput
from likely.graphical.learning.coded_rows import CodedRows, codes_of, weight_of
from likely.numerics.additive import FAST_CELLS, Additive

MOST_BYTES = 2**30  # of the counts of all pairs


@final
@dataclass(frozen=True, eq=False)
class PairCounts(Additive):
    """Counts of every two variables; those of a ≤ b are filled."""

    counts: Array  # (n_classes, V, V), V the sum of all sizes
    sizes: tuple[int, ...]

    def __add__(self, other: Self) -> Self:
        return type(self)(self.counts + other.counts, self.sizes)

    def of(self, a: int, b: int) -> Array:
        """The counts of two variables, a ≤ b: (n_classes, n_states of a, n_states of b)."""
        begin = starts(self.sizes)
        i, j = int(begin[a]), int(begin[b])
        return self.counts[:, i : i + self.sizes[a], j : j + self.sizes[b]]

    def mutual_information(self) -> Array:
        """I(a; b | class) in nats, (n_variables, n_variables), entropies on the diagonal."""
        d = len(self.sizes)
        out = np.zeros((d, d))
        for a in range(d):
            for b in range(a, d):
                out[a, b] = out[b, a] = information(self.of(a, b))
        return out


def information(counts: Array) -> float:
    """I of a table of counts (n_classes, n_a, n_b), in nats; 0 where nothing was counted."""
    total = float(counts.sum())
    if not total > 0:
        return 0.0
    per_class = counts.sum(axis=(1, 2), keepdims=True)
    rows, columns = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    there = counts > 0
    ratio = np.divide(counts * per_class, rows * columns, out=np.ones(counts.shape), where=there)
    return float(np.sum(counts * np.log(ratio)) / total)


def pair_counts(rows: CodedRows, label: int | None = None) -> PairCounts:
    """The counts of all pairs in one pass; with ``label``, a variable, by its state."""
    n_classes = 1 if label is None else rows.sizes[label]
    needed = 8 * n_classes * sum(rows.sizes) ** 2
    if needed > MOST_BYTES:
        raise InvalidInput(
            f"The variables have {sum(rows.sizes):,} states together, so that counting all pairs "
            f"needs {needed / 1e9:.1f} GB; at most {MOST_BYTES / 1e9:.1f} GB were expected. Use "
            "fewer variables, or join rare states."
        )
    return rows.executor.sum(partial(block_pair_counts, rows.sizes, label), rows.blocks)


def block_pair_counts(sizes: tuple[int, ...], label: int | None, block: Block) -> PairCounts:
    """The counts of all pairs in some rows, by the state of the column ``label``."""
    codes, weight = codes_of(block), weight_of(block)
    labels = np.zeros(len(codes), dtype=np.int64) if label is None else codes[:, label]
    n_classes = 1 if label is None else sizes[label]
    return count_all_pairs(codes, sizes, labels, n_classes, weight)


def count_all_pairs(
    codes: Codes,
    sizes: Sequence[int],
    labels: Codes,
    n_classes: int,
    weight: Array | None = None,
) -> PairCounts:
    """Σ_i w_i [y_i = k][x_ia = u][x_ib = v] for all a ≤ b; codes and labels of −1 are skipped."""
    sizes, begin = tuple(sizes), starts(tuple(sizes))
    counts = np.zeros((n_classes, sum(sizes), sum(sizes)))
    weight = np.ones(len(codes)) if weight is None else weight
    if codes.size >= FAST_CELLS:
        from likely.fast.families import count_pairs

        codes, labels = for_loop(codes, np.int32), for_loop(labels, np.int64)
        count_pairs(codes, labels, weight, begin, counts)
        return PairCounts(counts, sizes)
    indicators = np.zeros((len(codes), sum(sizes)))
    row, column = np.nonzero(codes >= 0)
    indicators[row, begin[column] + codes[row, column]] = 1.0
    for k in range(n_classes):
        some = labels == k
        weighted = indicators[some] * weight[some, None]
        counts[k] = np.dot(weighted.T, indicators[some])
    return PairCounts(counts, sizes)
