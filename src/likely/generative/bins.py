"""Numbers binned inside naive Bayes: bins are learned in the fit and applied to new rows.

Discretised columns move from the numbers of a design to its codes, after the categories.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from likely._typing import Array, NumbersAndCodes
from likely.data.block import ArrayBlocks, Blocks
from likely.data.frames import is_sparse
from likely.data.layouts.base import Design
from likely.data.layouts.intercept import Mixed
from likely.errors import InvalidInput
from likely.features.discretize import Discretizer
from likely.features.edges import intervals_in_words
from likely.generative.events import EventPlan


def fit_bins(
    discretize: str | Discretizer | None, plan: EventPlan, blocks: Blocks, names: tuple[str, ...]
) -> Discretizer | None:
    """A discretizer fitted to the columns that are to be binned; None if there are none."""
    if discretize is None or not any(plan.discretised):
        return None
    if not isinstance(blocks, ArrayBlocks):
        raise InvalidInput(
            "Learning bins needs the rows in memory; X is a file. "
            "Read it into a frame, or use event='gaussian'."
        )
    asked = Discretizer(strategy=discretize) if isinstance(discretize, str) else discretize
    bins = Discretizer(asked.strategy, asked.n_bins, edges=_by_position(asked.edges, plan, names))
    numbers, y, weight = numbers_to_cut(blocks.X, plan), blocks.y, blocks.weight
    if bins.strategy == "entropy" and y is not None and (y < 0).any():
        labelled = y >= 0  # a missing label is not a class
        numbers, y = numbers[labelled], y[labelled]
        weight = None if weight is None else weight[labelled]
    return bins.fit(numbers, y, sample_weight=weight)


def edges_are_given(discretize: str | Discretizer | None) -> bool:
    """Whether all bins are given, so that batches have the same bins."""
    if not isinstance(discretize, Discretizer):
        return discretize is None
    return discretize.edges is not None and not isinstance(discretize.edges, Mapping)


def refuse_partial(unlabelled: Any, calibrate: Any, discretize: str | Discretizer | None) -> None:
    """Refuse settings that need all rows at once."""
    learned = None if edges_are_given(discretize) else discretize
    options = {"unlabelled": unlabelled, "calibrate": calibrate, "discretize": learned}
    for name, value in options.items():
        if value is not None:
            raise InvalidInput(
                f"partial_fit cannot be exact with {name}={value!r}; "
                f"set {name}=None, or call fit on all rows."
            )


def cut_numbers(design: Design, plan: EventPlan, bins: Discretizer) -> Mixed:
    """The design with its discretised numbers replaced by codes; NaN becomes −1."""
    numeric, codes = _parts(design)
    cut = bins.transform(numbers_to_cut(design, plan))
    new = np.where(np.isnan(cut), -1, cut).astype(np.int32)
    kept = [i for i, j in enumerate(_numbers(plan)) if not plan.discretised[j]]
    together = np.concatenate([codes.astype(np.int32), new], axis=1)
    return Mixed(numeric[:, kept], np.ascontiguousarray(together), ())


def joined_numbers(drawn: NumbersAndCodes, plan: EventPlan, bins: Discretizer) -> NumbersAndCodes:
    """The inverse: codes of bins as the midpoints of their intervals, in their columns."""
    n_bins = len(bins.edges_)
    n_codes = drawn.codes.shape[1] - n_bins
    binned = drawn.codes[:, n_codes:]
    middles = bins.inverse_transform(np.where(binned < 0, np.nan, binned))
    cut = np.array([plan.discretised[j] for j in _numbers(plan)])
    numeric = np.empty((len(middles), len(cut)))
    numeric[:, cut], numeric[:, ~cut] = middles, drawn.numeric
    return NumbersAndCodes(numeric, drawn.codes[:, :n_codes])


def numbers_to_cut(design: Design, plan: EventPlan) -> Array:
    """The columns of the design that are to be discretised, as float64."""
    numeric, _ = _parts(design)
    columns = [i for i, j in enumerate(_numbers(plan)) if plan.discretised[j]]
    chosen = numeric[:, columns]
    return np.asarray(chosen.toarray() if is_sparse(chosen) else chosen, dtype=float)


def _parts(design: Design) -> NumbersAndCodes:
    stored = design.stored()
    if isinstance(stored, NumbersAndCodes):
        return stored
    numbers = stored if is_sparse(stored) else np.asarray(stored)
    return NumbersAndCodes(numbers, np.empty((design.n_rows, 0), np.int32))


def _numbers(plan: EventPlan) -> list[int]:
    """The columns of the table that are read as numbers before any are binned."""
    return [j for j, coded in enumerate(plan.as_codes) if not coded]


def _by_position(edges: Any, plan: EventPlan, names: tuple[str, ...]) -> Any:
    """Edges by name or position in the table, as edges by position among the binned columns."""
    if not isinstance(edges, Mapping):
        return edges
    cut = [j for j, is_cut in enumerate(plan.discretised) if is_cut]
    out = {}
    for key, value in edges.items():
        position = names.index(key) if key in names else key
        if position not in cut:
            raise InvalidInput(
                f"edges are given for column {key!r}, which is not one of the columns that are "
                f"binned: {', '.join(names[j] for j in cut)}. Name one of these, or remove its "
                "event."
            )
        out[cut.index(position)] = value
    return out


def bins_in_words(plan: EventPlan, bins: Discretizer | None) -> dict[int, list[str]]:
    """The intervals of each column that is binned, by its position."""
    if bins is None:
        return {}
    cut = [j for j, discretised in enumerate(plan.discretised) if discretised]
    return {j: intervals_in_words(edges) for j, edges in zip(cut, bins.edges_, strict=True)}
