"""Which pairs of columns act together, by evidence from totals.

Each column is cut into cells: a number at its quantiles, a category by its levels.  For a pair, the
slopes and curvatures of the loss add up in the cells of its table,

    G_cd = Σ w (−∂nll/∂η)        H_cd = Σ w E[∂²nll/∂η²]

of which rows and columns are swept out, G′ = G − H (α_c + β_d).  With δ_cd ~ N(0, tφ) added to η in
each cell, the marginal likelihood relative to no pair is

    evidence = max_t ½ Σ_cd [G′²/φ · t/(1 + Ht) − log(1 + Ht)]        nats

A pair is kept if that is above 3 nats and the logarithm of the number of pairs that were looked at.
One pass gives the tables of all pairs.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import log, prod
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.additive.encoded_columns import ColumnTotals, numbers_and_codes
from likely.additive.terms import (
    MOST_IN_PAIR,
    AdditiveTerms,
    CategoryTerm,
    ColumnTerm,
    PairTerm,
)
from likely.data.block import Block
from likely.data.schema import Schema
from likely.errors import InvalidInput, UnknownName
from likely.inputs.rows import EncodedRows
from likely.linear.path_penalties import PathSlopes
from likely.numerics.additive import FieldwiseAdditive

USUAL_IN_PAIR = 8  # functions of one of its columns
MOST_IN_TABLE = 576  # functions of a pair of categories
CELLS = 8  # of a number
MOST_LEVELS = 64  # of a category; beyond, the last ones share a cell
CLEAR = 3.0  # nats
SWEEPS = 20
SCALES = np.geomspace(1e-6, 1e2, 33)  # t, in units of the mean 1/H of a table
MOST_COLUMNS = 60  # whose pairs are looked at: the first ones beyond


class ColumnCells(NamedTuple):
    """How one column is cut."""

    edges: Array | None  # of a number, between its cells
    place: int
    size: int  # cells; a missing one has none

    def of(self, numeric: Array, codes: Codes) -> Codes:
        """The cell of each row; −1 where the cell is missing."""
        if self.edges is None:
            code = codes[:, self.place]
            return np.where(code < 0, -1, np.minimum(code, self.size - 1))
        x = numeric[:, self.place]
        cell = np.searchsorted(self.edges, x, side="right")
        return np.where(np.isnan(x), -1, cell)


@final
@dataclass(frozen=True, eq=False)
class PairTotals(FieldwiseAdditive):
    """G and H of all pairs of cells, for each predictor, (K, cells, cells)."""

    gradient: Array
    curvature: Array


def named_pairs(
    given: object, terms: AdditiveTerms, names: Sequence[str]
) -> int | list[tuple[int, int]]:
    """How many pairs are sought, or those that were named, by the positions of their terms."""
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInput(
            f"interactions={given!r} was given; a number of pairs, or pairs of columns, was "
            "expected. Use interactions=10, or interactions=[('hour', 'workingday')]."
        )
    found = []
    for pair in given:
        places = [_term_called(name, terms, names) for name in pair]
        if len(places) != 2 or places[0] == places[1]:
            raise InvalidInput(
                f"interactions has {pair!r}; two different columns were expected. Write "
                "('hour', 'workingday'), for instance."
            )
        first, second = min(places), max(places)
        if not all(sizes_of(terms, first, second)):
            raise InvalidInput(
                f"interactions has {pair!r}, whose categories have too many levels for a pair: at "
                f"most {MOST_IN_PAIR} beside a number and {MOST_IN_TABLE} in a table of two were "
                "expected. Group rare categories, or leave the pair out."
            )
        found.append((first, second))
    return list(dict.fromkeys(found))


def _term_called(name: object, terms: AdditiveTerms, names: Sequence[str]) -> int:
    known = [names[term.column] for term in terms.columns]
    if str(name) not in known:
        raise UnknownName("column for interactions", str(name), known)
    return known.index(str(name))


def with_pairs(terms: AdditiveTerms, chosen: Sequence[tuple[int, int]]) -> AdditiveTerms:
    """The same, with pairs of these terms."""
    return replace(terms, pairs=tuple(PairTerm(a, b, sizes_of(terms, a, b)) for a, b in chosen))


def sizes_of(terms: AdditiveTerms, a: int, b: int) -> tuple[int, int]:
    """How many functions of each in a pair; 0 where there would be too many.

    Of a category there is one for each level, of a number about eight, and fewer beside levels.
    """
    first, second = (terms.columns[j].most_in_margin for j in (a, b))
    levels = [isinstance(terms.columns[j], CategoryTerm) for j in (a, b)]
    if all(levels):
        return (first, second) if first * second <= MOST_IN_TABLE else (0, 0)
    if not any(levels):
        first = min(first, max(USUAL_IN_PAIR, MOST_IN_PAIR // max(second, 1)))
    if levels[1]:
        return min(first, MOST_IN_PAIR // max(second, 1)), second
    return first, min(second, MOST_IN_PAIR // max(first, 1))


def best_pairs(
    slopes: Callable[[Block], PathSlopes],
    rows: EncodedRows[Schema],
    terms: AdditiveTerms,
    totals: ColumnTotals,
    dispersion: float,
    most: int,
    room: int,
) -> list[tuple[int, int]]:
    """The pairs of terms with clear evidence, the strongest first, at most so many.

    Together they have at most ``room`` functions.  ``slopes`` are those of the fitted model without
    pairs, for rows as they are encoded.
    """
    cells = [_cells_of(term, totals) for term in terms.columns[:MOST_COLUMNS]]
    starts = np.concatenate([[0], np.cumsum([each.size for each in cells])]).astype(np.intp)
    total = rows.executor.sum(partial(_block_pairs, slopes, cells, starts), rows.blocks)
    pairs = [each for each in combinations(range(len(cells)), 2) if all(sizes_of(terms, *each))]
    threshold, found = CLEAR + log(max(len(pairs), 1)), []
    for a, b in pairs:
        here = slice(starts[a], starts[a + 1]), slice(starts[b], starts[b + 1])
        tables = zip(total.gradient, total.curvature, strict=True)
        evidence = sum(evidence_of(G[here], H[here], dispersion) for G, H in tables)
        if evidence > threshold:
            found.append((evidence, (a, b)))
    found.sort(key=lambda each: (-each[0], each[1]))
    kept = []
    for _, pair in found[:most]:
        room -= prod(sizes_of(terms, *pair))
        if room >= 0:
            kept.append(pair)
    return kept


def evidence_of(gradient: Array, curvature: Array, dispersion: float) -> float:
    """The evidence for the table of one pair, in nats; 0 where there is none."""
    G, H = swept(gradient, curvature), curvature
    known = H > 0
    if not known.any():
        return 0.0
    G, H = G[known], H[known]
    t = SCALES[:, None] / H.mean()
    each = np.square(G) / dispersion * t / (1 + H * t) - np.log1p(H * t)
    return max(float(each.sum(axis=1).max()) / 2, 0.0)


def swept(gradient: Array, curvature: Array) -> Array:
    """G − H(α_c + β_d), whose rows and columns sum to 0."""
    rows, columns = curvature.sum(axis=1), curvature.sum(axis=0)
    G = gradient.copy()
    for _ in range(SWEEPS):
        G -= curvature * _share(G.sum(axis=1), rows)[:, None]
        G -= curvature * _share(G.sum(axis=0), columns)
    return G


def _share(total: Array, weight: Array) -> Array:
    """A mean slope; 0 where no row is."""
    return np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)


def _cells_of(term: ColumnTerm, totals: ColumnTotals) -> ColumnCells:
    if isinstance(term, CategoryTerm):
        return ColumnCells(None, term.place, min(term.n_levels, MOST_LEVELS))
    values = totals.values.each[term.place]
    if term.period and values.values.size <= MOST_LEVELS:  # hours and months, one by one
        edges = values.values[1:]
    else:
        edges = np.unique(values.quantile(np.arange(1, CELLS) / CELLS))
        edges = edges[edges > values.values[0]]
    return ColumnCells(edges, term.place, len(edges) + 1)


def _block_pairs(
    slopes: Callable[[Block], PathSlopes], cells: Sequence[ColumnCells], starts: Codes, block: Block
) -> PairTotals:
    """Indicators D of the cells of all columns: DᵀGD and DᵀHD hold the tables of all pairs."""
    numeric, codes = numbers_and_codes(block.X)
    found = slopes(block)
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    D = np.zeros((block.n_rows, starts[-1]))
    every = np.arange(block.n_rows)
    for each, start in zip(cells, starts, strict=False):
        cell = each.of(numeric, codes)
        known = cell >= 0
        D[every[known], start + cell[known]] = 1.0
    gradient = [np.dot(D.T, D * (-weight * slope)[:, None]) for slope in found.slope.T]
    curved = np.dot(D.T, D * (weight * found.curvature)[:, None])
    return PairTotals(np.stack(gradient), np.stack([curved] * len(gradient)))
