"""Inference for a whole table: each row is one set of observations, and all are answered together.

    P(x_i | e_r)        log_evidence_r = log Z(e_r) − log Z        for every row r

A cell that names a state is an observation; any other empty or null cell is missing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.data.frames import frame_of, index_of, library_of
from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput, UnknownName
from likely.formatting import count, fixed, shortened, text_table
from likely.graphical.accuracy import EXACT, Accuracy, Bound, LogPartition, marked_columns
from likely.graphical.evidence import Evidence, checked_evidence
from likely.graphical.evidence_table import codes_of_frame
from likely.graphical.inference.contract import Request
from likely.graphical.inference.memory import memory_limit
from likely.graphical.inference.methods import checked_name, log_partition_like
from likely.graphical.inference.propagation import row_beliefs, row_most_probable
from likely.graphical.inference.row_inference import (
    Accuracies,
    RowConfigurations,
    best_rows_one_by_one,
    log_partitions_one_by_one,
    rows_one_by_one,
    rows_together,
    shape_of,
    with_likelihoods,
)
from likely.graphical.learning.coded_rows import SourceCodes, codes_of, source_of
from likely.graphical.variable import State, Variable, column_of_states
from likely.names import known_name

if TYPE_CHECKING:
    from likely.graphical.factor_graph import FactorGraph

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
    log_partition: Array  # log Z(e_r), (n_rows,), or what the method knows of it: see ``bounds``
    method: str
    accuracies: Accuracies = None  # of each row; None where all are exact
    library: str | None = None  # of the frame of evidence
    index: Any = field(default=None, repr=False)  # of its rows, if it is one of pandas
    log_prior_partition: Callable[[], float] = field(default=lambda: 0.0, repr=False)

    @property
    def n_rows(self) -> int:
        return len(self.log_partition)

    @property
    def exact(self) -> bool:
        """Whether the answers of all rows are exact; ``accuracies`` has each row."""
        return self.accuracies is None

    @property
    def converged(self) -> Array:
        """Whether the method has converged in each row, (n_rows,)."""
        return converged_rows(self.accuracies, self.n_rows)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """What each ``log_partition`` is: "exact", "upper", "lower", "estimate" or "none"."""
        return tuple(each.bound for each in self.accuracies or [EXACT] * self.n_rows)

    @cached_property
    def log_evidence(self) -> Array:
        """log P(e_r) = log Z(e_r) − log Z of each row; −inf where it is impossible.

        Both are by the same method; a difference of bounds that bounds nothing is refused.
        """
        prior = LogPartition.of(self.log_prior_partition())
        return minus_rows(self.log_partition, self.accuracies, prior)

    def standard_errors(self, name: str | tuple[str, ...]) -> Array:
        """Of a marginal or joint in every row: 0 in exact rows, nan where it is not known."""
        errors = np.zeros(self[name].shape)
        names = name if isinstance(name, tuple) else (name,)
        for row, each in enumerate(self.accuracies or ()):
            if not each.exact:
                errors[row] = each.errors.get(names, np.nan)
        return errors

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
        Where rows are not exact, each column is followed by one with its standard errors, and the
        column ``approximate`` has the method's name in such rows.
        """
        columns: dict[str, Any] = dict(self._columns())
        if self.accuracies is not None:
            errors = self._columns(self.standard_errors)
            columns = {
                title: values
                for name, own in columns.items()
                for title, values in ((name, own), (f"{name}, standard error", errors[name]))
            }
            columns |= marked_columns(row_marks(self.accuracies, self.method), columns)
        return frame_of(columns, library or self.library, self.index)

    def _columns(
        self, values: "Callable[[str | tuple[str, ...]], Array] | None" = None
    ) -> dict[str, Array]:
        """The probabilities, or other ``values`` of their shape, by their titles."""
        columns: dict[str, Array] = {}
        for names, table in self._tables():
            if values is not None:
                table = values(names if names in self.joints else names[0])
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
            f"<TableBeliefs of {shortened(named, 60)}: {count(self.n_rows, 'row')}, "
            f"{method_words(self.method, self.accuracies)}>"
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
    accuracies: Accuracies = None  # of each row; None where all are exact
    upper: Array | None = None  # log scores that no configuration exceeds; None: those found
    library: str | None = None
    index: Any = field(default=None, repr=False)
    log_partition: Callable[[], tuple[Array, Accuracies]] = field(
        default=lambda: (np.array(0.0), None), repr=False
    )

    @property
    def exact(self) -> bool:
        """Whether the configurations of all rows are the best; ``accuracies`` has each row."""
        return self.accuracies is None

    @property
    def converged(self) -> Array:
        """Whether the method has converged in each row, (n_rows,)."""
        return converged_rows(self.accuracies, len(self))

    @property
    def upper_bound(self) -> Array:
        """The log score that no configuration of a row exceeds; infinite where none is known."""
        return self.log_score if self.upper is None else self.upper

    @property
    def states(self) -> Any:
        """A frame of states, a column for each variable, in the caller's library."""
        return self.to_frame()

    @cached_property
    def log_probability(self) -> Array:
        """log P(x* | e_r) = log score − log Z(e_r) of each row; nan where it is impossible."""
        log_partition, accuracies = self.log_partition()
        with np.errstate(invalid="ignore"):  # −inf − (−inf)
            return -minus_rows(log_partition, accuracies, LogPartition(0.0)) + self.log_score

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
        """One row for each row of evidence, one column for each variable; see ``TableBeliefs``.

        The column ``approximate`` has the method's name in rows that are not exact, if there are.
        """
        codes = dict(zip(self.variables, self.codes.T, strict=True))
        marks = marked_columns(row_marks(self.accuracies or (), self.method), codes)
        return states_frame(self.variables, codes, library or self.library, self.index, marks)

    def __repr__(self) -> str:
        words = method_words(self.method, self.accuracies)
        return f"<TableConfigurations: {count(len(self), 'row')}, {words}>"


def table_beliefs(
    graph: "FactorGraph", frame: Any, asked: Request, method: str, impossible: str
) -> TableBeliefs:
    """Beliefs for every row of a data frame, or of a list of mappings, of observed states."""
    return beliefs_of_codes(graph, evidence_codes(graph, frame), asked, method, impossible, frame)


def beliefs_of_codes(
    graph: "FactorGraph",
    codes: Codes,
    asked: Request,
    method: str = "auto",
    impossible: str = "raise",
    like: Any = None,
) -> TableBeliefs:
    """Beliefs for every row of codes (n_rows, n_variables); −1 is not observed.

    ``like`` is the frame that they were read from: answers are frames of its library.
    """
    known_name("value of impossible", impossible, IMPOSSIBLE)
    wanted = [*((name,) for name in asked.variables), *asked.joints]
    _refuse_large_answer(graph, len(codes), wanted, asked.memory)
    name = _method_of_rows(asked, method)
    if name == TOGETHER:
        found = rows_together(graph, codes, asked)
    else:
        found = rows_one_by_one(graph, codes, asked, name)
    answers = [*found.marginals.values(), *found.joints.values()]
    _mark_impossible(found.log_partition, impossible, answers)
    _warn(found.accuracies, name)
    return TableBeliefs(
        graph.by_name,
        found.marginals,
        found.joints,
        found.log_partition,
        name,
        found.accuracies,
        library_of(like),
        index_of(like),
        log_partition_like(graph, replace(asked, evidence=Evidence()), name),
    )


def table_configurations(
    graph: "FactorGraph", frame: Any, asked: Request, method: str, impossible: str
) -> TableConfigurations:
    """The most probable configuration for every row of a frame, or of a list of mappings."""
    known_name("value of impossible", impossible, IMPOSSIBLE)
    codes, limit = evidence_codes(graph, frame), asked.memory
    known = with_likelihoods(graph, asked.evidence.soft)
    asked = replace(asked, evidence=Evidence())
    name = _method_of_rows(asked, method)
    if name == TOGETHER:
        found = RowConfigurations(row_most_probable(known, codes, limit))
    else:
        found = best_rows_one_by_one(known, codes, asked, name)
    best = found.best
    _mark_impossible(best.log_score, impossible, [])
    _warn(found.accuracies, name)

    def log_partition() -> tuple[Array, Accuracies]:
        if found.accuracies is None:
            return row_beliefs(known, codes, (), limit).log_partition, None
        return log_partitions_one_by_one(known, codes, asked, name)

    return TableConfigurations(
        graph.by_name,
        np.where((best.log_score > -np.inf)[:, None], best.codes, -1),
        best.log_score,
        best.unique,
        name,
        found.accuracies,
        found.upper,
        library_of(frame),
        index_of(frame),
        log_partition,
    )


def _method_of_rows(asked: Request, method: str) -> str:
    """The name of the method that answers the rows: ``auto`` is the junction tree."""
    name = checked_name(asked, method)
    return TOGETHER if name == "auto" else name


# ── rows that are not exact ──────────────────────────────────────────────────────────────────


def converged_rows(accuracies: Accuracies, n_rows: int) -> Array:
    return np.array([each.converged for each in accuracies or [EXACT] * n_rows], dtype=np.bool_)


def minus_rows(values: Array, accuracies: Accuracies, other: LogPartition) -> Array:
    """log Z of each row minus another; refused where the difference bounds nothing."""
    if accuracies is None and other.exact:
        return values - float(other)
    each = zip(values.tolist(), accuracies or [EXACT] * len(values), strict=True)
    return np.array([float(LogPartition(x, accuracy).minus(other)) for x, accuracy in each])


def row_marks(accuracies: Sequence[Accuracy], method: str) -> list[str | None]:
    """The method's name in rows that are not exact."""
    return [None if each.exact else each.mark(method) for each in accuracies]


def method_words(method: str, accuracies: Accuracies) -> str:
    """The method, and in how many rows it is approximate or has not converged."""
    if accuracies is None:
        return method
    n_not = sum(not each.exact for each in accuracies)
    n_open = sum(not each.converged for each in accuracies)
    words = (
        f"{method}, approximate"
        if n_not == len(accuracies)
        else (f"{method}, approximate in {count(n_not, 'row')}")
    )
    return f"{words}, not converged in {count(n_open, 'row')}" if n_open else words


def _warn(accuracies: Accuracies, method: str) -> None:
    """One warning for all rows that have not converged."""
    for each in accuracies or ():
        if not each.converged:
            each.warn(method)
            return


def states_frame(
    variables: Mapping[str, Variable],
    codes: Mapping[str, Array],
    library: str | None,
    index: Any = None,
    more: Mapping[str, Sequence[str | None]] | None = None,
) -> Any:
    """A frame of states, by the codes of each variable; −1 is missing.

    They are as they were declared, unless a variable has states that are text and others.
    ``more`` are other columns behind them.
    """
    columns: dict[str, Any] = {
        name: _states_at(column_of_states(variables[name].values), own).tolist()
        for name, own in codes.items()
    }
    return frame_of(columns | dict(more or {}), library, index)


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
