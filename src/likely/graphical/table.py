"""Inference for a whole table: each row is one set of observations, and all are answered together.

    P(x_i | e_r)        log_evidence_r = log Z(e_r) − log Z        for every row r

A cell that names a state is an observation; any other empty or null cell is missing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.data.frames import frame_of, index_of, library_of
from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput, UnknownName
from likely.formatting import count, fixed, shortened, text_table
from likely.graphical.evidence import Evidence, Soft, checked_evidence
from likely.graphical.evidence_table import codes_of_frame
from likely.graphical.inference.contract import Request
from likely.graphical.inference.memory import memory_in_bytes, memory_limit
from likely.graphical.inference.propagation import row_beliefs, row_most_probable
from likely.graphical.inference.row_inference import (
    best_rows_one_by_one,
    rows_one_by_one,
    rows_together,
    shape_of,
    with_likelihoods,
)
from likely.graphical.learning.coded_rows import SourceCodes, codes_of, source_of
from likely.graphical.variable import State, Variable, column_of_states
from likely.names import known_name

if TYPE_CHECKING:
    from likely.graphical.factor_graph import FactorGraph, Memory

TOGETHER = "junction-tree"  # the method that answers many rows at once
IMPOSSIBLE = ("raise", "nan")
SHOWN_ROWS, SHOWN_COLUMNS = 10, 8  # of a printed table


@final
@dataclass(frozen=True, eq=False)
class TableBeliefs(Mapping[Any, Array]):
    """Marginal probabilities of variables in every row of a table, and joints that were asked for.

    ``beliefs["A"]`` is an array (n_rows, n_states) in the order of A's states;
    ``beliefs["A", "B"]`` is the joint of a pair that was asked for, (n_rows, n_A, n_B).
    Rows that are impossible are nan, where that was allowed.
    """

    variables: Mapping[str, Variable]
    marginals: Mapping[str, Array]
    joints: Mapping[tuple[str, ...], Array]
    log_partition: Array  # log Z(e_r), (n_rows,)
    method: str
    exact: bool = True
    library: str | None = None  # of the frame of evidence
    index: Any = field(default=None, repr=False)  # of its rows, if it is one of pandas
    log_prior_partition: Callable[[], float] = field(default=lambda: 0.0, repr=False)

    @property
    def n_rows(self) -> int:
        return len(self.log_partition)

    @cached_property
    def log_evidence(self) -> Array:
        """log P(e_r) = log Z(e_r) − log Z of each row; −inf where it is impossible."""
        return self.log_partition - self.log_prior_partition()

    def __getitem__(self, name: str | tuple[str, ...]) -> Array:
        if isinstance(name, tuple):
            if name not in self.joints:
                asked = [", ".join(names) for names in self.joints]
                raise UnknownName("joint among the beliefs", ", ".join(name), asked)
            return self.joints[name]
        if name not in self.marginals:
            raise UnknownName("variable among the beliefs", name, self.marginals)
        return self.marginals[name]

    def __iter__(self) -> Iterator[Any]:
        yield from self.marginals
        yield from self.joints

    def __len__(self) -> int:
        return len(self.marginals) + len(self.joints)

    def to_frame(self, library: str | None = None) -> Any:
        """One row for each row of evidence, with the columns ``A=state``, in the caller's library.

        A joint has the columns ``A=state, B=state``.  A pandas frame has the index of the evidence.
        """
        return frame_of(self._columns(), library or self.library, self.index)

    def _columns(self) -> dict[str, Array]:
        columns: dict[str, Array] = {}
        for names, table in self._tables():
            cells = product(*(self.variables[name].states for name in names))
            flat = table.reshape(self.n_rows, table[:1].size or int(np.prod(table.shape[1:])))
            for j, cell in enumerate(cells):
                pairs = zip(names, cell, strict=True)
                columns[", ".join(f"{name}={state}" for name, state in pairs)] = flat[:, j]
        return columns

    def _tables(self) -> Iterator[tuple[tuple[str, ...], Array]]:
        """The names and probabilities of each marginal, then of each joint."""
        for name, table in self.marginals.items():
            yield (name,), table
        yield from self.joints.items()

    def __repr__(self) -> str:
        named = ", ".join(", ".join(names) for names, _ in self._tables())
        return (
            f"<TableBeliefs of {shortened(named, 60)}: {count(self.n_rows, 'row')}, {self.method}>"
        )

    def __str__(self) -> str:
        """The first rows and columns."""
        columns = dict(list(self._columns().items())[:SHOWN_COLUMNS])
        rows = [
            [str(i), *(fixed(float(column[i]), 4) for column in columns.values())]
            for i in range(min(self.n_rows, SHOWN_ROWS))
        ]
        return "\n".join([repr(self), *text_table(["row", *columns], rows)])


@final
@dataclass(frozen=True, eq=False)
class TableConfigurations:
    """The most probable states of all variables together, in every row of a table.

    ``log_score`` (n_rows,) is the natural log of the product of the factors there; ``unique``
    (n_rows,) says whether no other configuration has the same score.  A row that is impossible has
    none, where that was allowed.
    """

    variables: Mapping[str, Variable]
    codes: Codes  # (n_rows, n_variables); −1 in a row that is impossible
    log_score: Array
    unique: Array
    method: str
    exact: bool = True
    library: str | None = None
    index: Any = field(default=None, repr=False)
    log_partition: Callable[[], Array] = field(default=lambda: np.array(0.0), repr=False)

    @property
    def states(self) -> Any:
        """A frame of states, a column for each variable, in the caller's library."""
        return self.to_frame()

    @cached_property
    def log_probability(self) -> Array:
        """log P(x* | e_r) = log score − log Z(e_r) of each row; nan where it is impossible."""
        with np.errstate(invalid="ignore"):  # −inf − (−inf)
            return self.log_score - self.log_partition()

    def __getitem__(self, name: str) -> Array:
        """The state of a variable in each row."""
        names = list(self.variables)
        if name not in names:
            raise UnknownName("variable", name, names)
        values = self.variables[name].values
        return _states_at(values, self.codes[:, names.index(name)])

    def __len__(self) -> int:
        return len(self.codes)

    def to_frame(self, library: str | None = None) -> Any:
        """One row for each row of evidence, one column for each variable; see ``TableBeliefs``."""
        codes = dict(zip(self.variables, self.codes.T, strict=True))
        return states_frame(self.variables, codes, library or self.library, self.index)

    def __repr__(self) -> str:
        return f"<TableConfigurations: {count(len(self), 'row')}, {self.method}>"


def table_beliefs(
    graph: "FactorGraph",
    frame: Any,
    singles: tuple[str, ...],
    joints: tuple[tuple[str, ...], ...],
    *,
    soft: Soft | None = None,
    method: str = "auto",
    memory: "Memory" = None,
    impossible: str = "raise",
) -> TableBeliefs:
    """Beliefs for every row of a data frame, or of a list of mappings, of observed states."""
    return beliefs_of_codes(
        graph,
        evidence_codes(graph, frame),
        singles,
        joints,
        soft=soft,
        method=method,
        memory=memory,
        impossible=impossible,
        like=frame,
    )


def beliefs_of_codes(
    graph: "FactorGraph",
    codes: Codes,
    singles: tuple[str, ...],
    joints: tuple[tuple[str, ...], ...] = (),
    *,
    soft: Soft | None = None,
    method: str = "auto",
    memory: "Memory" = None,
    impossible: str = "raise",
    like: Any = None,
) -> TableBeliefs:
    """Beliefs for every row of codes (n_rows, n_variables); −1 is not observed.

    ``like`` is the frame that they were read from: answers are frames of its library.
    """
    known_name("value of impossible", impossible, IMPOSSIBLE)
    limit = memory_in_bytes(memory)
    _refuse_large_answer(graph, len(codes), [*((name,) for name in singles), *joints], limit)
    likelihoods = checked_evidence(graph.by_name, None, soft).soft
    asked = Request(singles, joints, Evidence({}, likelihoods), limit)
    name = TOGETHER if method == "auto" else method.replace("_", "-")
    if name == TOGETHER:
        found = rows_together(graph, codes, asked)
    else:
        found = rows_one_by_one(graph, codes, asked, name)
    answers = [*found.marginals.values(), *found.joints.values()]
    _mark_impossible(found.log_partition, impossible, answers)
    return TableBeliefs(
        graph.by_name,
        found.marginals,
        found.joints,
        found.log_partition,
        name,
        found.exact,
        library_of(like),
        index_of(like),
        lambda: graph.log_partition(memory=memory),
    )


def table_configurations(
    graph: "FactorGraph",
    frame: Any,
    *,
    soft: Soft | None = None,
    method: str = "auto",
    memory: "Memory" = None,
    impossible: str = "raise",
) -> TableConfigurations:
    """The most probable configuration for every row of a frame, or of a list of mappings."""
    known_name("value of impossible", impossible, IMPOSSIBLE)
    codes, limit = evidence_codes(graph, frame), memory_in_bytes(memory)
    known = with_likelihoods(graph, checked_evidence(graph.by_name, None, soft).soft)
    name = TOGETHER if method == "auto" else method.replace("_", "-")
    if name == TOGETHER:
        best = row_most_probable(known, codes, limit)
    else:
        best = best_rows_one_by_one(known, codes, name, limit)
    _mark_impossible(best.log_score, impossible, [])
    return TableConfigurations(
        graph.by_name,
        np.where((best.log_score > -np.inf)[:, None], best.codes, -1),
        best.log_score,
        best.unique,
        name,
        library=library_of(frame),
        index=index_of(frame),
        log_partition=lambda: row_beliefs(known, codes, (), limit).log_partition,
    )


def states_frame(
    variables: Mapping[str, Variable],
    codes: Mapping[str, Array],
    library: str | None,
    index: Any = None,
) -> Any:
    """A frame of states, by the codes of each variable; −1 is missing.

    They are as they were declared, unless a variable has states that are text and others.
    """
    columns = {
        name: _states_at(column_of_states(variables[name].values), own).tolist()
        for name, own in codes.items()
    }
    return frame_of(columns, library, index)


def evidence_codes(graph: "FactorGraph", frame: Any) -> Codes:
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


def _states_at(states: Sequence[State], codes: Array) -> Array:
    """The state of each code, an array of objects; None where the code is −1."""
    with_none = np.empty(len(states) + 1, dtype=object)  # np.array would read a tuple as an axis
    with_none[:-1] = states
    return with_none[codes]


def _is_list_of_rows(frame: Any) -> bool:
    return isinstance(frame, list | tuple) and all(isinstance(row, Mapping) for row in frame)


def _refuse_large_answer(
    graph: "FactorGraph", n_rows: int, asked: Sequence[tuple[str, ...]], memory: int | None
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
