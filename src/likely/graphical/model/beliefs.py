"""What inference returns: marginals, log Z, and the most probable configuration.

P(x_i | e) = Σ_rest F(x, e) / Z(e)        log_evidence = log Z(e) − log Z

Answers of a method that is not exact say so: printed, in frames, and in their fields.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from math import inf
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.data.frames import frame_of
from likely.errors import UnknownName
from likely.graphical.model.exactness import EXACT, Bound, Exactness, LogPartition, marked_columns
from likely.graphical.model.variable import State, Variable, column_of_states, state_text
from likely.output.formatting import (
    DASH,
    count,
    fixed,
    html_block,
    html_paragraph,
    html_table,
    number,
    text_table,
)

MOST_SHOWN = 60  # rows of a printed table; frames have all


@final
class StateProbabilities(dict[State, float]):
    """The probability of each state of a variable, in their order.

    The keys are the states as they were declared; 38 and "38" find the same one.
    """

    def __missing__(self, state: object) -> float:
        for known, probability in self.items():
            if state_text(known) == state_text(state):
                return probability
        raise UnknownName("state", state_text(state), map(state_text, self))

    def __contains__(self, state: object) -> bool:
        return state_text(state) in map(state_text, self)

    def get(self, state: object, default: Any = None) -> Any:
        """The probability of a state, or ``default`` where there is no such state."""
        found = {state_text(known): probability for known, probability in self.items()}
        return found.get(state_text(state), default)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Beliefs(Mapping[Any, Any]):
    """Marginal probabilities of variables, and joints that were asked for.

    ``beliefs["A"]`` maps each state of A to its probability, in the order of A's states;
    ``beliefs["A", "B"]`` is the joint of a pair that was asked for, with its axes in that order.
    ``exact`` says whether they are exact; if not, ``exactness`` says more: whether the method
    converged, what its log Z(e) is (a bound or an estimate), and its diagnostics.
    """

    variables: Mapping[str, Variable]
    marginals: Mapping[str, Array]
    joints: Mapping[tuple[str, ...], Array]
    log_partition: float  # log Z(e), or what the method knows of it: see ``bound``
    method: str
    exactness: Exactness = EXACT
    log_prior_partition: Callable[[], float] = field(default=lambda: 0.0, repr=False)
    library: str | None = None  # of what was observed, or of the data that the graph has learned

    @property
    def exact(self) -> bool:
        return self.exactness.exact

    @property
    def converged(self) -> bool:
        """Whether the method ended because its answer had settled."""
        return self.exactness.converged

    @property
    def bound(self) -> Bound:
        """What ``log_partition`` is: "exact", "upper", "lower", "estimate" or "none"."""
        return self.exactness.bound

    @cached_property
    def log_evidence(self) -> LogPartition:
        """log P(e) = log Z(e) − log Z, both by the same method; it knows its own error."""
        mine = LogPartition(self.log_partition, self.exactness)
        return mine.minus(LogPartition.of(self.log_prior_partition()))

    def standard_error(self, name: str | tuple[str, ...]) -> Array | None:
        """Of each probability of a marginal or a joint; 0 if it is exact, None if not known."""
        table = self[name] if isinstance(name, tuple) else self.marginal(name)
        if self.exact:
            return np.zeros(table.shape)
        return self.exactness.errors.get(name if isinstance(name, tuple) else (name,))

    def marginal(self, name: str) -> Array:
        """The probabilities of the states of a variable, an array in their order."""
        if name not in self.marginals:
            raise UnknownName("variable among the beliefs", name, self.marginals)
        return self.marginals[name]

    def __getitem__(self, name: str | tuple[str, ...]) -> Any:
        if isinstance(name, tuple):
            if name not in self.joints:
                asked = [", ".join(names) for names in self.joints]
                raise UnknownName("joint among the beliefs", ", ".join(name), asked)
            return self.joints[name]
        values = self.marginal(name).tolist()
        return StateProbabilities(zip(self.variables[name].values, values, strict=True))

    def __iter__(self) -> Iterator[Any]:
        yield from self.marginals
        yield from self.joints

    def __len__(self) -> int:
        return len(self.marginals) + len(self.joints)

    def to_frame(self, library: str | None = None) -> Any:
        """One row for each variable and state: variable, state, probability.

        States are as they were declared, unless some are text and some are not.  ``library`` is
        "pandas", "polars" or "pyarrow"; by default that of the Series that was observed, then
        that of the frame from which the graph was learned, else Arrow's.  Answers that are not
        exact have two columns more: standard_error, and approximate with the method's name.
        """
        names: list[str] = []
        states: list[State] = []
        probabilities: list[float] = []
        for name, own, values in self._rows():
            names += [name] * len(own)
            states += self.variables[name].values if name in self.marginals else own
            probabilities += values
        columns: dict[str, Any] = {"variable": names, "state": column_of_states(states)}
        columns["probability"] = probabilities
        if not self.exact:
            columns["standard_error"] = self._errors()
            columns |= marked_columns([self.exactness.mark(self.method)] * len(names), columns)
        return frame_of(columns, library or self.library)

    def __str__(self) -> str:
        table = text_table(*self._cells(), words=(0, 1))
        return "\n".join([*table, *self._limits()])

    def html(self) -> str:
        """The table for a notebook."""
        limits = map(html_paragraph, self._limits())
        return html_block(html_table(*self._cells(), words=(0, 1)), *limits)

    _repr_html_ = html

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """A head, and a row for each state; those that are not exact have a standard error."""
        every = (
            [name if i == 0 else "", state, fixed(value, 4)]
            for name, states, values in self._rows()
            for i, (state, value) in enumerate(zip(states, values, strict=True))
        )
        rows = list(islice(every, MOST_SHOWN))
        head = ["variable", "state", "probability"]
        if self.exact:
            return head, rows
        errors = [DASH if e is None else fixed(e, 4) for e in self._errors()[: len(rows)]]
        return [*head, "std err"], [[*row, error] for row, error in zip(rows, errors, strict=True)]

    def _limits(self) -> list[str]:
        tables = (*self.marginals.values(), *self.joints.values())
        limit = [] if self.exact else [self.exactness.sentence(self.method)]
        return [*_rest(sum(each.size for each in tables)), *limit]

    def __repr__(self) -> str:
        return str(self)

    def _errors(self) -> list[float | None]:
        """The standard error of each number of ``_rows``; None where it is not known."""
        found: list[float | None] = []
        tables = {(name,): table for name, table in self.marginals.items()} | dict(self.joints)
        for names, table in tables.items():
            errors = self.exactness.errors.get(names)
            found += [None] * table.size if errors is None else errors.ravel().tolist()
        return found

    def _rows(self) -> Iterator[tuple[str, list[str], list[float]]]:
        """The name, states and probabilities of each marginal, then of each joint."""
        for name, values in self.marginals.items():
            yield name, list(self.variables[name].states), values.tolist()
        for names, table in self.joints.items():
            cells = product(*(self.variables[name].states for name in names))
            yield ", ".join(names), [", ".join(cell) for cell in cells], table.ravel().tolist()


@final
@dataclass(frozen=True, eq=False, repr=False)
class Configuration:
    """The most probable states of all variables together.

    ``log_score`` is the natural log of the product of the factors there; ``unique`` says
    whether no other configuration has the same score.  One that is not ``exact`` is the best that
    its method has found; none has a log score above ``upper_bound``.
    """

    states: Mapping[str, State]
    log_score: float
    unique: bool
    method: str
    exactness: Exactness = EXACT
    upper: float | None = None  # a log score that no configuration exceeds, where it is known
    log_partition: Callable[[], float] = field(default=lambda: 0.0, repr=False)
    library: str | None = None  # of what was observed, or of the data that the graph has learned

    @property
    def exact(self) -> bool:
        return self.exactness.exact

    @property
    def upper_bound(self) -> float:
        """The log score that no configuration exceeds; infinite where none is known."""
        if self.upper is not None:
            return self.upper
        return self.log_score if self.exact else inf

    @cached_property
    def log_probability(self) -> LogPartition:
        """log P(x* | e) = log score − log Z(e), by the same method; it knows its own error."""
        return LogPartition(self.log_score).minus(LogPartition.of(self.log_partition()))

    def __getitem__(self, name: str) -> State:
        if name not in self.states:
            raise UnknownName("variable", name, self.states)
        return self.states[name]

    def to_frame(self, library: str | None = None) -> Any:
        """One row for each variable: variable, state (see ``Beliefs.to_frame``)."""
        states = column_of_states(self.states.values())
        columns: dict[str, Any] = {"variable": list(self.states), "state": states}
        if not self.exact:
            columns |= marked_columns([self.exactness.mark(self.method)] * len(states), columns)
        return frame_of(columns, library or self.library)

    def __str__(self) -> str:
        return "\n".join([*text_table(*self._cells(), words=(0, 1)), *self._sentences()])

    def html(self) -> str:
        """The table for a notebook."""
        table = html_table(*self._cells(), words=(0, 1))
        return html_block(table, *map(html_paragraph, self._sentences()))

    _repr_html_ = html

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        shown = islice(self.states.items(), MOST_SHOWN)
        return ["variable", "state"], [[name, state_text(state)] for name, state in shown]

    def _sentences(self) -> list[str]:
        """The score, whether another configuration ties, and how near the best it is."""
        score = f"log score {number(self.log_score)} ({self.method})."
        rest = _rest(len(self.states))
        if self.exact:
            tie = "Another configuration has the same score."
            return [*rest, score] if self.unique else [*rest, score, tie]
        limit = self.exactness.sentence(self.method)
        if self.upper_bound < inf:
            limit += f" No log score is above {number(self.upper_bound)}."
        return [*rest, score, limit]

    def __repr__(self) -> str:
        return str(self)


def _rest(n_rows: int) -> list[str]:
    """A line below a table about the rows that are not shown; none where all are."""
    left = n_rows - MOST_SHOWN
    return [f"  … and {count(left, 'more row')}; to_frame() has all."] if left > 0 else []
