"""Inference for whole tables: all rows together, or one by one by any method.

    P(a, b | e) = Z(a, e) / Z(e) · P(b | a, e)        joints, from marginals and log Z of rows

Codes are (n_rows, n_variables); −1 is not observed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import TypeGuard

import numpy as np

from likely._typing import Array, Codes
from likely.data.frames import index_of, library_of
from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput, UnknownName
from likely.graphical.contract import Request
from likely.graphical.exact.cost import memory_limit
from likely.graphical.exact.row_propagation import (
    BestRows,
    RowTables,
    row_beliefs,
    row_evidence,
    row_most_probable,
)
from likely.graphical.learning.coded_rows import SourceCodes, codes_of, source_of
from likely.graphical.methods import (
    answer,
    checked_name,
    is_exact,
    log_partition,
    log_partition_like,
    most_probable,
    other_methods_named,
)
from likely.graphical.model.evidence_table import codes_of_frame
from likely.graphical.model.exactness import EXACT, Exactness, RowExactness
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import Given, checked_evidence
from likely.graphical.model.table_beliefs import TableBeliefs, TableConfigurations
from likely.names import known_name
from likely.output.formatting import count

TOGETHER = "junction-tree"  # the method that answers many rows at once
IMPOSSIBLE = ("raise", "nan")
LEAST_SECONDS = 1e-3  # of a row, where the time for all rows has passed


def table_beliefs(
    graph: FactorGraph, frame: object, asked: Request, method: str, impossible: str
) -> TableBeliefs:
    """Beliefs for every row of a data frame, or of a list of mappings, of observed states."""
    return beliefs_of_codes(graph, evidence_codes(graph, frame), asked, method, impossible, frame)


def beliefs_of_codes(
    graph: FactorGraph,
    codes: Codes,
    asked: Request,
    method: str = "auto",
    impossible: str = "raise",
    like: object = None,
) -> TableBeliefs:
    """Beliefs for every row of codes (n_rows, n_variables); −1 is not observed.

    ``like`` is the frame that they were read from: answers are frames of its library.
    """
    known_name("value of impossible", impossible, IMPOSSIBLE)
    wanted = [*((name,) for name in asked.variables), *asked.joints]
    _refuse_large_answer(graph, len(codes), wanted, asked.memory)
    name = _method_of_rows(asked, method)
    if name == TOGETHER:
        with other_methods_named(lambda method: method.marginals, asked):
            found = rows_together(graph, codes, asked)
    else:
        found = rows_one_by_one(graph, codes, asked, name)
    answers = [*found.marginals.values(), *found.joints.values()]
    _mark_impossible(found.log_partition, impossible, answers)
    _warn(found.row_exactness, name)
    return TableBeliefs(
        graph.by_name,
        found.marginals,
        found.joints,
        found.log_partition,
        name,
        found.row_exactness,
        library_of(like),
        index_of(like),
        lambda: log_partition_like(graph, asked.of_log_partition(), name),
    )


def table_configurations(
    graph: FactorGraph, frame: object, asked: Request, method: str, impossible: str
) -> TableConfigurations:
    """The most probable configuration for every row of a frame, or of a list of mappings."""
    known_name("value of impossible", impossible, IMPOSSIBLE)
    codes, limit = evidence_codes(graph, frame), asked.memory
    known = with_likelihoods(graph, asked.evidence.soft)
    asked = asked.of_log_partition()
    name = _method_of_rows(asked, method)
    if name == TOGETHER:
        with other_methods_named(lambda method: method.best, asked):
            best = row_most_probable(known, codes, limit)
    else:
        best = best_rows_one_by_one(known, codes, asked, name)
    _mark_impossible(best.log_score, impossible, [])
    _warn(best.row_exactness, name)

    def log_partition() -> tuple[Array, RowExactness]:
        if is_exact(name):
            return row_beliefs(known, codes, (), limit).log_partition, None
        return log_partitions_one_by_one(known, codes, asked, name)

    return TableConfigurations(
        graph.by_name,
        np.where((best.log_score > -np.inf)[:, None], best.codes, -1),
        best.log_score,
        best.unique,
        name,
        best.row_exactness,
        best.upper,
        library_of(frame),
        index_of(frame),
        log_partition,
    )


def _method_of_rows(asked: Request, method: str) -> str:
    """The name of the method that answers the rows: ``auto`` is the junction tree."""
    name = checked_name(asked, method)
    return TOGETHER if name == "auto" else name


def evidence_codes(graph: FactorGraph, frame: object) -> Codes:
    """The code of each variable in each row, (n_rows, n_variables); −1 where it is not observed.

    ``frame`` is a data frame, a file, or a list with one mapping from names to states for each row.
    """
    source = source_of(frame)
    if source is not None:
        blocks = [codes_of(block) for block in SourceCodes(source, graph.variables)]
        return np.concatenate([np.empty((0, len(graph.names)), dtype=np.int32), *blocks])
    if not _is_list_of_rows(frame):
        return codes_of_frame(graph.variables, frame)
    place = {name: j for j, name in enumerate(graph.names)}
    codes = np.full((len(frame), len(place)), -1, dtype=np.int32)
    for row, given in enumerate(frame):
        try:
            observed = checked_evidence(graph.by_name, given).codes
        except UnknownName as error:
            raise InvalidInput(f"Row {row} of the evidence: {error}") from None
        for name, code in observed.items():
            codes[row, place[name]] = code
    return codes


def _is_list_of_rows(frame: object) -> TypeGuard[Sequence[Given]]:
    return isinstance(frame, list | tuple) and all(isinstance(row, Mapping) for row in frame)


def _refuse_large_answer(
    graph: FactorGraph, n_rows: int, asked: Sequence[tuple[str, ...]], memory: int | None
) -> None:
    cells = sum(float(np.prod(shape_of(graph, names), dtype=float)) for names in asked)
    needed, limit = 8.0 * n_rows * cells, memory_limit(memory)
    if needed > limit:
        raise GraphTooLarge(
            f"The answer for {count(n_rows, 'row')}",
            needed,
            limit,
            "Ask for fewer variables, or for fewer rows at a time.",
        )


def _mark_impossible(log_partition: Array, impossible: str, answers: Sequence[Array]) -> None:
    """Refuse the first row of probability 0, or write nan in the answers of such rows."""
    rows = np.flatnonzero(log_partition == -np.inf)
    if rows.size and impossible == "raise":
        raise ImpossibleEvidence(int(rows[0]))
    for table in answers:
        table[rows] = np.nan


def _warn(row_exactness: RowExactness, method: str) -> None:
    """One warning for all rows that have not converged."""
    for each in row_exactness or ():
        if not each.converged:
            each.warn(method)
            return


# ── rows of codes ────────────────────────────────────────────────────────────────────────────


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


def rows_together(graph: FactorGraph, codes: Codes, asked: Request) -> RowTables:
    known = with_likelihoods(graph, asked.evidence.soft)
    found = row_beliefs(known, codes, asked.variables, asked.memory)
    joints = {
        names: _row_joint(known, codes, names, found.log_partition, asked.memory)
        for names in asked.joints
    }
    return found._replace(joints=joints)


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
    log_partition, row_exactness = np.full(len(rows), -np.inf), [EXACT] * len(rows)
    for row, request in _requests(graph, rows, asked):
        with suppress(ImpossibleEvidence):
            _, found = answer(graph, request, method)
            log_partition[row], row_exactness[row] = found.log_partition, found.exactness
            for name, table in singles.items():
                table[row] = found.marginals[name]
            for names, table in joints.items():
                table[row] = found.joints[names]
    return RowTables(
        {name: table[which] for name, table in singles.items()},
        {names: table[which] for names, table in joints.items()},
        log_partition[which],
        _of_rows(row_exactness, which),
    )


def best_rows_one_by_one(graph: FactorGraph, codes: Codes, asked: Request, method: str) -> BestRows:
    """Each different row alone, by the method that was named."""
    rows, which = np.unique(codes, axis=0, return_inverse=True)
    best, unique = np.full(rows.shape, -1), np.zeros(len(rows), dtype=np.bool_)
    upper, row_exactness = np.full(len(rows), np.nan), [EXACT] * len(rows)
    for row, request in _requests(graph, rows, asked):
        with suppress(ImpossibleEvidence):
            _, found = most_probable(graph, request, method)
            best[row], unique[row] = [found.codes[name] for name in graph.names], found.unique
            row_exactness[row] = found.exactness
            if found.upper is not None or not found.exactness.exact:
                upper[row] = np.inf if found.upper is None else found.upper
    scores = log_values(graph, best)
    upper = np.where(np.isnan(upper), scores, upper)[which]
    exactness = _of_rows(row_exactness, which)
    return BestRows(best[which], scores[which], unique[which], exactness, upper)


def log_partitions_one_by_one(
    graph: FactorGraph, codes: Codes, asked: Request, method: str
) -> tuple[Array, RowExactness]:
    """log Z of each different row alone, by the method that was named."""
    rows, which = np.unique(codes, axis=0, return_inverse=True)
    found, row_exactness = np.full(len(rows), -np.inf), [EXACT] * len(rows)
    for row, request in _requests(graph, rows, asked):
        value = log_partition(graph, request, method)
        found[row], row_exactness[row] = value, value.exactness
    return found[which], _of_rows(row_exactness, which)


def _requests(graph: FactorGraph, rows: Codes, asked: Request) -> Iterator[tuple[int, Request]]:
    """The question about each row: one stream of random numbers, and its share of the time left."""
    generator = np.random.default_rng(asked.random_state)
    end = None if asked.seconds is None else monotonic() + asked.seconds
    for row, own in enumerate(rows):
        left = None if end is None else max((end - monotonic()) / (len(rows) - row), LEAST_SECONDS)
        evidence = row_evidence(graph, own, asked.evidence.soft)
        yield row, replace(asked, evidence=evidence, random_state=generator, seconds=left)


def _of_rows(row_exactness: list[Exactness], which: Codes) -> RowExactness:
    """The exactness of each row of the table; None if all are exact."""
    if all(each.exact for each in row_exactness):
        return None
    return tuple(row_exactness[i] for i in which)


def shape_of(graph: FactorGraph, names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(graph.by_name[name].n_states for name in names)
