"""The columns of a table as variables of a network: how cells become codes of states, and back.

LearnedColumns   categories and bins were found in training; a value not seen there is missing
NamedStates      a network was given: a cell is the state that has its text, any other is refused

Blank text is missing in both, unless it is the name of a state, as it is wherever a graph reads a
table.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes, Matrix, NumbersAndCodes
from likely.data.block import ArrayBlocks
from likely.data.categories import CodedValues, codes_of_factor
from likely.data.frames import InMemoryTable, as_table, frame_of, side_by_side
from likely.data.layouts.base import Design
from likely.data.layouts.intercept import Mixed
from likely.data.schema import Schema
from likely.distributions.responsibility import refuse_infinity
from likely.errors import BadCell, InvalidInput, UnknownName
from likely.features.discretize import Discretizer
from likely.generative.events import (
    EventPlan,
    bins_in_words,
    cut_numbers,
    fit_bins,
    joined_numbers,
    numbers_to_cut,
)
from likely.graphical.learning.coded_rows import CodedRows, array_blocks
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.evidence_table import codes_by_state, restored
from likely.graphical.model.graph_evidence import (
    is_blank,
    known_variable,
)
from likely.graphical.model.variable import Variable, state_text
from likely.inputs.rows import RowsInMemory, encode_checked
from likely.inputs.tables import (
    as_frame,
    check_table,
    is_frame,
    refuse_file,
    without_columns,
)
from likely.kinds import ColumnKind
from likely.output.formatting import listed
from likely.storage.declarations import SameCount
from likely.storage.values import same_count

USUAL = ("class", "target", "label")  # names of the class where y has none: the first that is free
NO_VALUE = "any"  # the one state of a column that is empty in every row of training
ARROW_TYPES: Mapping[str, str] = {"number": "float64", "boolean": "bool", "category": "string"}


class NetworkColumns(ABC):
    """The contract: one variable for each column of X."""

    variables: tuple[Variable, ...]
    kinds: tuple[ColumnKind, ...]

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """How many codes each column can have."""

    @abstractmethod
    def codes(self, estimator: Any, X: Any) -> Codes:
        """New rows as codes, (n, n_columns) int32; −1 is missing."""

    @abstractmethod
    def codes_of_some(self, estimator: Any, X: Any) -> Codes:
        """The codes of a frame that has some of the columns; the others are missing."""

    @abstractmethod
    def values(self, column: int, codes: Codes) -> Array:
        """The codes of one column as values of the user; −1 is missing."""

    @abstractmethod
    def rows(self, codes: Codes, library: str | None) -> Any:
        """Rows of codes in the user's form."""


class EncodedColumns(NamedTuple):
    """How the columns of training were read, and their codes."""

    columns: NetworkColumns
    codes: Codes  # (n, n_columns)


@final
@dataclass(frozen=True, eq=False)
class LearnedColumns(NetworkColumns):
    """Columns as they were found in training; numbers are binned."""

    saved_rules = (SameCount("schema.kinds", "plan.events"),)

    variables: tuple[Variable, ...]
    plan: EventPlan
    schema: Schema
    bins: Discretizer | None

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]  # read-only here
        return self.schema.kinds

    @property
    def sizes(self) -> tuple[int, ...]:
        binned = () if self.bins is None else tuple(len(edges) + 1 for edges in self.bins.edges_)
        stored = (*self.schema.sizes, *binned)
        return tuple(stored[place] for place in _places(self.plan))

    def codes(self, estimator: Any, X: Any) -> Codes:
        refuse_file(X, "a prediction", "Read it into a frame first.")
        table = check_table(estimator, X, reset=False, sparse=False)
        design = encode_checked(self.schema, WithoutBlanks(table)).design
        _refuse_infinity(design, self.plan)
        return _in_columns(design, self.plan, self.bins)

    def codes_of_some(self, estimator: Any, X: Any) -> Codes:
        names = [variable.name for variable in self.variables]
        return self.codes(estimator, _with_empty_columns(X, names, self.kinds))

    def values(self, column: int, codes: Codes) -> Array:
        some = np.full((len(codes), len(self.variables)), -1, dtype=np.int32)
        some[:, column] = codes
        return self.schema.decoded_columns(*self._stored(some))[column]

    def rows(self, codes: Codes, library: str | None) -> Any:
        return self.schema.decode(*self._stored(codes), library)

    def _stored(self, codes: Codes) -> NumbersAndCodes:
        """Codes in the order of the columns as the numbers and codes of the schema."""
        stored = np.empty_like(codes)
        stored[:, _places(self.plan)] = np.where(np.array(self.sizes) > 0, codes, -1)
        together = NumbersAndCodes(np.empty((len(codes), 0)), stored)
        if self.bins is None:
            return together
        return joined_numbers(together, self.plan, self.bins)

    def check_saved(self) -> None:
        """Refuse bins of other columns than those that are cut."""
        found = 0 if self.bins is None else self.bins.n_features_in_
        same_count("The bins", found, sum(self.plan.discretised))


def learned_columns(
    given: RowsInMemory, discretize: str | Discretizer | None, names: tuple[str, ...]
) -> EncodedColumns:
    """The columns of rows in memory; numbers are binned, unless ``discretize`` is None."""
    kinds = given.kinds.kinds
    cut = tuple(discretize is not None and kind == "number" for kind in kinds)
    plan = EventPlan(("categorical",) * len(kinds), cut)
    rows = replace(given, table=WithoutBlanks(given.table)).encode(plan.as_codes)
    assert isinstance(rows.blocks, ArrayBlocks)  # the rows are in memory
    _refuse_infinity(rows.blocks.X, plan)
    bins = fit_bins(discretize, plan, rows.blocks, names)
    words = bins_in_words(plan, bins)
    variables = tuple(
        Variable(name, words[j] if values is None else _state_names(values, kinds[j]))
        for j, (name, values) in enumerate(zip(names, rows.coding.categories, strict=True))
    )
    codes = _in_columns(rows.blocks.X, plan, bins)
    return EncodedColumns(LearnedColumns(variables, plan, rows.coding, bins), codes)


@final
@dataclass(frozen=True, eq=False)
class WithoutBlanks(InMemoryTable):
    """A table in which blank text is missing."""

    inner: InMemoryTable

    @property
    def names(self) -> tuple[str, ...] | None:  # type: ignore[override]  # read-only here
        return self.inner.names

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        return self.inner.kinds

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return self.inner.n_rows

    @property
    def native(self) -> Any:
        return self.inner.native

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        return self.inner.nbytes

    def numbers(self, j: int) -> Array:
        return self.inner.numbers(j)

    def factor(self, j: int) -> CodedValues:
        factor = self.inner.factor(j)
        blank = [code for code, value in enumerate(factor.values.tolist()) if is_blank(value)]
        if not blank:
            return factor
        return CodedValues(np.where(np.isin(factor.codes, blank), -1, factor.codes), factor.values)

    def matrix(self, columns: Sequence[int]) -> Matrix:
        return self.inner.matrix(columns)

    def take(self, rows: Array) -> "WithoutBlanks":
        return WithoutBlanks(self.inner.take(rows))

    def integers(self) -> Array | None:
        return self.inner.integers()


def _state_names(values: Array, kind: ColumnKind) -> list[str]:
    """Categories as names of states: their texts, unless two are equal, as those of 1 and "1"."""
    names = [state_text(value) for value in restored(values, kind)] or [NO_VALUE]
    return names if len(set(names)) == len(names) else [repr(value) for value in values.tolist()]


def _in_columns(design: Design, plan: EventPlan, bins: Discretizer | None) -> Codes:
    """The codes of a design in the order of the columns, int32."""
    coded = design if bins is None else cut_numbers(design, plan, bins)
    assert isinstance(coded, Mixed)  # no number is left
    return np.ascontiguousarray(coded.codes[:, _places(plan)], dtype=np.int32)


def _refuse_infinity(design: Design, plan: EventPlan) -> None:
    """Refuse an infinite number among those that are binned."""
    try:
        refuse_infinity(numbers_to_cut(design, plan))
    except BadCell as error:
        binned = [j for j, cut in enumerate(plan.discretised) if cut]
        raise error.moved(column=binned[error.column]) from None


def _places(plan: EventPlan) -> Array:
    """The position of each column among the codes of a design: categories first, then bins."""
    cut = np.array(plan.discretised, dtype=bool)
    return np.where(cut, (~cut).sum() + np.cumsum(cut) - 1, np.cumsum(~cut) - 1)


def _with_empty_columns(X: Any, names: list[str], kinds: tuple[ColumnKind, ...]) -> Any:
    """A frame with all columns in order; those that it does not have are empty."""
    frame = as_frame(X)
    if not is_frame(frame):
        return X  # an array has all columns
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    own = nw.from_native(frame, eager_only=True)
    for name in own.columns:
        if name not in names:
            raise UnknownName("column of the model", name, names)
    if len(own.columns) == len(names):
        return own.select(names).to_native()
    table = own.to_arrow()
    empty = {
        name: pa.nulls(len(own), pa.type_for_alias(ARROW_TYPES[kind]))
        for name, kind in zip(names, kinds, strict=True)
    }
    return pa.table(
        {name: table.column(name) if name in own.columns else empty[name] for name in names}
    )


@final
@dataclass(frozen=True, eq=False)
class NamedStates(NetworkColumns):
    """Columns whose states a given network names."""

    variables: tuple[Variable, ...]
    kinds: tuple[ColumnKind, ...]
    named: bool  # whether the columns of training had names

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(variable.n_states for variable in self.variables)

    def codes(self, estimator: Any, X: Any) -> Codes:
        return self.read(check_table(estimator, X, reset=False, sparse=False))

    def codes_of_some(self, estimator: Any, X: Any) -> Codes:
        return self.read(as_table(as_frame(X)))

    def read(self, table: InMemoryTable) -> Codes:
        """The codes of the states that the cells name; a bad cell is named by its column."""
        try:
            return codes_by_state(self.variables, table)
        except BadCell as error:
            raise error.named([variable.name for variable in self.variables]) from None

    def values(self, column: int, codes: Codes) -> Array:
        states = self.variables[column].states
        if self.kinds[column] == "number":
            return np.array([*map(_number_of, states), np.nan])[codes]
        return np.array([*states, None], dtype=object)[codes]

    def rows(self, codes: Codes, library: str | None) -> Any:
        columns = [self.values(j, own) for j, own in enumerate(codes.T)]
        if self.named:
            names = [variable.name for variable in self.variables]
            return frame_of(dict(zip(names, columns, strict=True)), library)
        numbers = all(column.dtype.kind == "f" for column in columns)
        return side_by_side(columns, len(codes), np.float64 if numbers else object)


def named_states(
    given: RowsInMemory, variables: Mapping[str, Variable], names: tuple[str, ...]
) -> EncodedColumns:
    """The columns of rows in memory, with the states of the variables of a network.

    Columns without names are the variables in their order.
    """
    table = given.table
    if table.names is not None:
        own = tuple(known_variable(variables, name) for name in names)
    elif len(names) == len(variables):
        own = tuple(variables.values())
    else:
        raise InvalidInput(
            f"X has {len(names)} columns without names; the network has {len(variables)} variables "
            "besides the target. Pass a data frame, whose columns have names."
        )
    columns = NamedStates(own, given.kinds.kinds, table.names is not None)
    return EncodedColumns(columns, columns.read(table))


def _number_of(state: str) -> float:
    try:
        return float(state)
    except ValueError:
        return np.nan


def labels_of(given: RowsInMemory) -> Codes:
    """The codes of the labels of rows that have classes."""
    assert given.y is not None  # the rows have classes
    return given.y


def coded_rows_of(variables: tuple[Variable, ...], codes: Codes, given: RowsInMemory) -> CodedRows:
    """Codes of all variables as rows to learn from; what has one state is in it."""
    coded = np.ascontiguousarray(codes, dtype=np.int32)
    coded[:, [variable.n_states == 1 for variable in variables]] = 0
    return CodedRows(variables, array_blocks(variables, coded, given.weight), given.executor)


def codes_of_all(network: BayesianNetwork, columns: NetworkColumns, codes: Codes) -> Codes:
    """The codes of columns among those of all variables; what has one state is in it."""
    place = {name: v for v, name in enumerate(network.names)}
    single = [variable.n_states == 1 for variable in network.variables]
    out = np.full((len(codes), len(place)), -1, dtype=np.int32)
    out[:, [place[variable.name] for variable in columns.variables]] = codes
    out[:, single] = 0
    return out


# ── The class among the variables ─────────────────────────────────────────────────────────────────


class WithoutTarget(NamedTuple):
    """A table without the column of the target, and the codes of its labels, −1 for missing."""

    X: Any
    labels: Codes | None  # None where the table has no such column


def target_name(given: str | None, y: Any, names: Sequence[str]) -> str:
    """The name of the class: the one that is given, that of y, or a usual one that is free."""
    if given is not None:
        if given in names:
            raise InvalidInput(
                f"target={given!r} was given, which is the name of a column; another name was "
                "expected. Rename one of them, or drop the column."
            )
        return given
    free = [name for name in (*_name_of(y), *USUAL) if name not in names]
    if not free:
        raise InvalidInput(
            f"The columns are called {listed(USUAL)}; a name for the class was expected that no "
            "column has. Pass target='…'."
        )
    return free[0]


def target_among(network: BayesianNetwork, given: str | None, y: Any, names: Sequence[str]) -> str:
    """The variable of a network that is the class."""
    if given is not None:
        if given not in network.names:
            raise UnknownName("variable of the network for target", given, network.names)
        return given
    free = [name for name in network.names if name not in names]
    for name in (*_name_of(y), *USUAL):
        if name in free:
            return name
    if len(free) == 1:
        return free[0]
    raise InvalidInput(
        f"The network has the variables {listed(network.names)}, and none is known to be the "
        "class; one was expected. Pass target='…', its name."
    )


def labels_of_states(target: Variable, seen: Array) -> Array:
    """A label for each state of the class, sorted: those of y, and others of the same type."""
    found = {state_text(label): label for label in seen.tolist()}
    for text in found:
        target.code(text)  # an unknown one is refused
    kind = type(seen.tolist()[0])
    labels = [found[state] if state in found else _label(state, kind) for state in target.states]
    return np.sort(np.array(labels, dtype=object if seen.dtype.kind == "O" else None))


def without_target(X: Any, target: str, classes: Array) -> WithoutTarget:
    """A frame without the column of the target, if it has one, and the codes of its labels."""
    frame = as_frame(X)
    if not is_frame(frame):
        return WithoutTarget(X, None)
    table = as_table(frame)
    if target not in (table.names or ()):
        return WithoutTarget(X, None)
    factor = table.factor((table.names or ()).index(target))
    codes = codes_of_factor(factor, classes.astype(object))
    blank = np.array([*map(is_blank, factor.values.tolist()), True])  # and null, the last
    unknown = (codes < 0) & ~blank[factor.codes]
    if unknown.any():
        label = factor.values.tolist()[factor.codes[int(unknown.argmax())]]
        raise UnknownName(f"class of {target!r}", label, map(str, classes.tolist()))
    return WithoutTarget(without_columns(frame, [target]), codes)


def _name_of(y: Any) -> list[str]:
    """The name that y is, or has; none where it has none."""
    if isinstance(y, str):
        return [y]
    import narwhals.stable.v2 as nw

    if not nw.dependencies.is_into_series(y):
        return []
    name = nw.from_native(y, series_only=True).name
    return [] if name in (None, "") else [str(name)]


def _label(state: str, kind: type) -> Any:
    """A state that no label has, as a label of the same type."""
    try:
        return state == "True" if kind is bool else kind(state)
    except ValueError:
        raise InvalidInput(
            f"The class has the state {state!r} in the network, and the labels in y are of type "
            f"{kind.__name__}; labels that are states were expected. Give them as text."
        ) from None
