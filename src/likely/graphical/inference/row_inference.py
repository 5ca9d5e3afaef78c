"""Inference for rows of codes: all of them together, or one by one by any method.

    P(a, b | e) = Z(a, e) / Z(e) · P(b | a, e)        joints, from marginals and log Z of rows

Codes are (n_rows, n_variables); −1 is not observed.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.errors import ImpossibleEvidence
from likely.graphical.accuracy import EXACT, Accuracy
from likely.graphical.evidence import Evidence
from likely.graphical.factor import Factor
from likely.graphical.factor_graph import FactorGraph
from likely.graphical.inference.contract import Request
from likely.graphical.inference.methods import answer, log_partition, most_probable
from likely.graphical.inference.propagation import BestRows, row_beliefs

LEAST_SECONDS = 1e-3  # of a row, where the time for all rows has passed

Accuracies = tuple[Accuracy, ...] | None  # of each row; None where all are exact


def log_values(graph: FactorGraph, codes: Codes) -> Array:
    """log F of each row of complete codes, (n_rows,); −inf in a row that has a gap."""
    place = {name: j for j, name in enumerate(graph.names)}
    total = np.where((codes >= 0).all(axis=1), 0.0, -np.inf)
    for factor in graph.factors:
        total += factor.log_table[tuple(codes[:, place[name]] for name in factor.scope)]
    return total


def with_likelihoods(graph: FactorGraph, likelihoods: Mapping[str, Array]) -> FactorGraph:
    """The graph with soft evidence as factors: it is the same in every row."""
    if not likelihoods:
        return graph
    soft = [Factor([graph.by_name[name]], values) for name, values in likelihoods.items()]
    plain = graph.factor_graph()
    return plain.with_factors([*plain.factors, *soft])


class RowTables(NamedTuple):
    """Marginals and joints of every row, and log Z(e_r); those of impossible rows are undefined.

    ``accuracies`` has one for each row; None where all are exact.
    """

    marginals: dict[str, Array]
    joints: dict[tuple[str, ...], Array]
    log_partition: Array
    accuracies: Accuracies = None


class RowConfigurations(NamedTuple):
    """The best configuration found for each row; ``accuracies`` and ``upper`` as in one answer."""

    best: BestRows
    accuracies: Accuracies = None
    upper: Array | None = None  # log scores that no configuration exceeds; None: those found


def rows_together(graph: FactorGraph, codes: Codes, asked: Request) -> RowTables:
    known = with_likelihoods(graph, asked.evidence.soft)
    found = row_beliefs(known, codes, asked.variables, asked.memory)
    joints = {
        names: _row_joint(known, codes, names, found.log_partition, asked.memory)
        for names in asked.joints
    }
    return RowTables(dict(found.marginals), joints, found.log_partition)


def _row_joint(
    graph: FactorGraph,
    codes: Codes,
    names: tuple[str, ...],
    log_partition: Array,
    memory: int | None,
) -> Array:
    """The joint of some variables in each row, by fixing all of them but the largest.

    P(a, b | e) = Z(a, e) / Z(e) · P(b | a, e)
    """
    place = {name: j for j, name in enumerate(graph.names)}
    last = max(names, key=lambda name: graph.by_name[name].n_states)
    fixed = tuple(name for name in names if name != last)
    columns = [place[name] for name in fixed]
    table = np.zeros((len(codes), *shape_of(graph, (*fixed, last))))
    for cell in np.ndindex(table.shape[1:-1]):
        agrees = ((codes[:, columns] < 0) | (codes[:, columns] == cell)).all(axis=1)
        rows = np.flatnonzero(agrees & (log_partition > -np.inf))
        asked = codes[rows]
        asked[:, columns] = cell
        found = row_beliefs(graph, asked, (last,), memory)
        share = np.exp(found.log_partition - log_partition[rows])[:, None]
        table[(rows, *cell)] = np.where(share > 0, share * found.marginals[last], 0.0)
    total = table.sum(axis=tuple(range(1, table.ndim)), keepdims=True)
    table = np.divide(table, total, where=total > 0, out=table)
    return table.transpose(0, *(1 + (*fixed, last).index(name) for name in names))


def rows_one_by_one(graph: FactorGraph, codes: Codes, asked: Request, method: str) -> RowTables:
    """Each different row alone, by the method that was named."""
    rows, which = np.unique(codes, axis=0, return_inverse=True)
    singles = {name: np.zeros((len(rows), *shape_of(graph, (name,)))) for name in asked.variables}
    joints = {names: np.zeros((len(rows), *shape_of(graph, names))) for names in asked.joints}
    log_partition, accuracies = np.full(len(rows), -np.inf), [EXACT] * len(rows)
    for row, request in _requests(graph, rows, asked):
        with suppress(ImpossibleEvidence):
            _, found = answer(graph, request, method)
            log_partition[row], accuracies[row] = found.log_partition, found.accuracy
            for name, table in singles.items():
                table[row] = found.marginals[name]
            for names, table in joints.items():
                table[row] = found.joints[names]
    return RowTables(
        {name: table[which] for name, table in singles.items()},
        {names: table[which] for names, table in joints.items()},
        log_partition[which],
        _of_rows(accuracies, which),
    )


def best_rows_one_by_one(
    graph: FactorGraph, codes: Codes, asked: Request, method: str
) -> RowConfigurations:
    """Each different row alone, by the method that was named."""
    rows, which = np.unique(codes, axis=0, return_inverse=True)
    best, unique = np.full(rows.shape, -1), np.zeros(len(rows), dtype=np.bool_)
    upper, accuracies = np.full(len(rows), np.nan), [EXACT] * len(rows)
    for row, request in _requests(graph, rows, asked):
        with suppress(ImpossibleEvidence):
            _, found = most_probable(graph, request, method)
            best[row], unique[row] = [found.codes[name] for name in graph.names], found.unique
            accuracies[row] = found.accuracy
            if found.upper is not None or not found.accuracy.exact:
                upper[row] = np.inf if found.upper is None else found.upper
    scores = log_values(graph, best)
    return RowConfigurations(
        BestRows(best[which], scores[which], unique[which]),
        _of_rows(accuracies, which),
        np.where(np.isnan(upper), scores, upper)[which],
    )


def log_partitions_one_by_one(
    graph: FactorGraph, codes: Codes, asked: Request, method: str
) -> tuple[Array, Accuracies]:
    """log Z of each different row alone, by the method that was named."""
    rows, which = np.unique(codes, axis=0, return_inverse=True)
    found, accuracies = np.full(len(rows), -np.inf), [EXACT] * len(rows)
    for row, request in _requests(graph, rows, asked):
        value = log_partition(graph, request, method)
        found[row], accuracies[row] = value, value.accuracy
    return found[which], _of_rows(accuracies, which)


def _requests(graph: FactorGraph, rows: Codes, asked: Request) -> Iterator[tuple[int, Request]]:
    """The question about each row: one stream of random numbers, and its share of the time left."""
    generator = np.random.default_rng(asked.random_state)
    end = None if asked.seconds is None else monotonic() + asked.seconds
    for row, own in enumerate(rows):
        left = None if end is None else max((end - monotonic()) / (len(rows) - row), LEAST_SECONDS)
        evidence = Evidence(_observed(graph, own), asked.evidence.soft)
        yield row, replace(asked, evidence=evidence, random_state=generator, seconds=left)


def _of_rows(accuracies: list[Accuracy], which: Codes) -> Accuracies:
    """The accuracy of each row of the table; None if all are exact."""
    if all(each.exact for each in accuracies):
        return None
    return tuple(accuracies[i] for i in which)


def _observed(graph: FactorGraph, row: Codes) -> dict[str, int]:
    """The codes of the variables that a row observes."""
    return {name: int(code) for name, code in zip(graph.names, row, strict=True) if code >= 0}


def shape_of(graph: FactorGraph, names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(graph.by_name[name].n_states for name in names)
