"""Answers for a whole table: each row is one set of observations.

    P(x_i | e_r)        log_evidence_r = log Z(e_r) − log Z        for every row r

A cell that names a state is an observation; any other empty or null cell is missing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.data.frames import frame_of
from likely.errors import UnknownName
from likely.graphical.model.exactness import (
    EXACT,
    Bound,
    Exactness,
    LogPartition,
    RowExactness,
    marked_columns,
)
from likely.graphical.model.variable import State, Variable, column_of_states
from likely.output.formatting import (
    count,
    fixed,
    html_block,
    html_paragraph,
    html_table,
    shortened,
    text_table,
)

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
    row_exactness: RowExactness = None  # of each row; None where all are exact
    library: str | None = None  # of the frame of evidence
    index: Any = field(default=None, repr=False)  # of its rows, if it is one of pandas
    log_prior_partition: Callable[[], float] = field(default=lambda: 0.0, repr=False)

    @property
    def n_rows(self) -> int:
        return len(self.log_partition)

    @property
    def exact(self) -> bool:
        """Whether the answers of all rows are exact; ``row_exactness`` has each row."""
        return self.row_exactness is None

    @property
    def converged(self) -> Array:
        """Whether the method has converged in each row, (n_rows,)."""
        return converged_rows(self.row_exactness, self.n_rows)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """What each ``log_partition`` is: "exact", "upper", "lower", "estimate" or "none"."""
        return tuple(each.bound for each in self.row_exactness or [EXACT] * self.n_rows)

    @cached_property
    def log_evidence(self) -> Array:
        """log P(e_r) = log Z(e_r) − log Z of each row; −inf where it is impossible.

        Both are by the same method; a difference of bounds that bounds nothing is refused.
        """
        return minus_rows(self.log_partition, self.row_exactness, self._log_prior_partition)

    @property
    def log_evidence_errors(self) -> Array:
        """The standard error of each ``log_evidence``: 0 if it is exact, nan if not known."""
        prior = self._log_prior_partition.standard_error
        own = [each.log_partition_error for each in self.row_exactness or [EXACT] * self.n_rows]
        return np.hypot(np.array(own, dtype=float), np.nan if prior is None else prior)

    @cached_property
    def _log_prior_partition(self) -> LogPartition:
        return LogPartition.of(self.log_prior_partition())

    def standard_errors(self, name: str | tuple[str, ...]) -> Array:
        """Of a marginal or joint in every row: 0 in exact rows, nan where it is not known."""
        errors = np.zeros(self[name].shape)
        names = name if isinstance(name, tuple) else (name,)
        for row, each in enumerate(self.row_exactness or ()):
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
        if self.row_exactness is not None:
            errors = self._columns(self.standard_errors)
            columns = {
                title: values
                for name, own in columns.items()
                for title, values in ((name, own), (f"{name}, standard error", errors[name]))
            }
            columns |= marked_columns(row_marks(self.row_exactness, self.method), columns)
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
            f"{method_words(self.method, self.row_exactness)}>"
        )

    def __str__(self) -> str:
        """The first rows and columns."""
        return "\n".join([repr(self), *text_table(*self._shown())])

    def html(self) -> str:
        """The table for a notebook."""
        return html_block(html_paragraph(repr(self)[1:-1], bold=True), html_table(*self._shown()))

    _repr_html_ = html

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        columns = dict(list(self._columns().items())[:SHOWN_COLUMNS])
        rows = [
            [str(i), *(fixed(float(column[i]), 4) for column in columns.values())]
            for i in range(min(self.n_rows, SHOWN_ROWS))
        ]
        return ["row", *columns], rows


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
    row_exactness: RowExactness = None  # of each row; None where all are exact
    upper: Array | None = None  # log scores that no configuration exceeds; None: those found
    library: str | None = None
    index: Any = field(default=None, repr=False)
    log_partition: Callable[[], tuple[Array, RowExactness]] = field(
        default=lambda: (np.array(0.0), None), repr=False
    )

    @property
    def exact(self) -> bool:
        """Whether the configurations of all rows are the best; ``row_exactness`` has each row."""
        return self.row_exactness is None

    @property
    def converged(self) -> Array:
        """Whether the method has converged in each row, (n_rows,)."""
        return converged_rows(self.row_exactness, len(self))

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
        log_partition, row_exactness = self.log_partition()
        with np.errstate(invalid="ignore"):  # −inf − (−inf)
            return -minus_rows(log_partition, row_exactness, LogPartition(0.0)) + self.log_score

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
        marks = marked_columns(row_marks(self.row_exactness or (), self.method), codes)
        return states_frame(self.variables, codes, library or self.library, self.index, marks)

    def __repr__(self) -> str:
        words = method_words(self.method, self.row_exactness)
        return f"<TableConfigurations: {count(len(self), 'row')}, {words}>"

    def html(self) -> str:
        """The table for a notebook."""
        names = list(self.variables)[:SHOWN_COLUMNS]
        columns = [self[name][:SHOWN_ROWS].tolist() for name in names]
        rows = [[str(i), *map(str, row)] for i, row in enumerate(zip(*columns, strict=True))]
        table = html_table(["row", *names], rows)
        return html_block(html_paragraph(repr(self)[1:-1], bold=True), table)

    _repr_html_ = html


def converged_rows(row_exactness: RowExactness, n_rows: int) -> Array:
    return np.array([each.converged for each in row_exactness or [EXACT] * n_rows], dtype=np.bool_)


def minus_rows(values: Array, row_exactness: RowExactness, other: LogPartition) -> Array:
    """log Z of each row minus another; refused where the difference bounds nothing."""
    if row_exactness is None and other.exact:
        return values - float(other)
    each = zip(values.tolist(), row_exactness or [EXACT] * len(values), strict=True)
    return np.array([float(LogPartition(x, exactness).minus(other)) for x, exactness in each])


def row_marks(row_exactness: Sequence[Exactness], method: str) -> list[str | None]:
    """The method's name in rows that are not exact."""
    return [None if each.exact else each.mark(method) for each in row_exactness]


def method_words(method: str, row_exactness: RowExactness) -> str:
    """The method, and in how many rows it is approximate or has not converged."""
    if row_exactness is None:
        return method
    n_not = sum(not each.exact for each in row_exactness)
    n_open = sum(not each.converged for each in row_exactness)
    words = (
        f"{method}, approximate"
        if n_not == len(row_exactness)
        else (f"{method}, approximate in {count(n_not, 'row')}")
    )
    return f"{words}, not converged in {count(n_open, 'row')}" if n_open else words


def states_frame(
    variables: Mapping[str, Variable],
    codes: Mapping[str, Array],
    library: str | None,
    index: object = None,
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


def _states_at(states: Sequence[State], codes: Array) -> Array:
    """The state of each code, an array of objects; None where the code is −1."""
    with_none = np.empty(len(states) + 1, dtype=object)  # np.array would read a tuple as an axis
    with_none[:-1] = states
    return with_none[codes]
