"""What inference returns: marginals, log Z, and the most probable configuration.

P(x_i | e) = Σ_rest F(x, e) / Z(e)        log_evidence = log Z(e) − log Z
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, final

from likely._typing import Array
from likely.caching import cached_property
from likely.data.frames import frame_of
from likely.errors import UnknownName
from likely.formatting import fixed, number, text_table
from likely.graphical.variable import State, Variable, column_of_states, state_text


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
    """

    variables: Mapping[str, Variable]
    marginals: Mapping[str, Array]
    joints: Mapping[tuple[str, ...], Array]
    log_partition: float  # log Z(e), or its bound
    method: str
    exact: bool = True
    converged: bool = True
    log_prior_partition: Callable[[], float] = field(default=lambda: 0.0, repr=False)
    library: str | None = None  # of what was observed, or of the data that the graph has learned

    @cached_property
    def log_evidence(self) -> float:
        """log P(e) = log Z(e) − log Z."""
        return self.log_partition - self.log_prior_partition()

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
        that of the frame from which the graph was learned, else Arrow's.
        """
        names: list[str] = []
        states: list[State] = []
        probabilities: list[float] = []
        for name, own, values in self._rows():
            names += [name] * len(own)
            states += self.variables[name].values if name in self.marginals else own
            probabilities += values
        columns = {"variable": names, "state": column_of_states(states)}
        return frame_of(columns | {"probability": probabilities}, library or self.library)

    def __str__(self) -> str:
        rows = [
            [name if i == 0 else "", state, fixed(value, 4)]
            for name, states, values in self._rows()
            for i, (state, value) in enumerate(zip(states, values, strict=True))
        ]
        return "\n".join(text_table(["variable", "state", "probability"], rows, words=(0, 1)))

    def __repr__(self) -> str:
        return str(self)

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
    whether no other configuration has the same score.
    """

    states: Mapping[str, State]
    log_score: float
    unique: bool
    method: str
    exact: bool = True
    log_partition: Callable[[], float] = field(default=lambda: 0.0, repr=False)
    library: str | None = None  # of what was observed, or of the data that the graph has learned

    @cached_property
    def log_probability(self) -> float:
        """log P(x* | e) = log score − log Z(e)."""
        return self.log_score - self.log_partition()

    def __getitem__(self, name: str) -> State:
        if name not in self.states:
            raise UnknownName("variable", name, self.states)
        return self.states[name]

    def to_frame(self, library: str | None = None) -> Any:
        """One row for each variable: variable, state (see ``Beliefs.to_frame``)."""
        states = column_of_states(self.states.values())
        return frame_of({"variable": list(self.states), "state": states}, library or self.library)

    def __str__(self) -> str:
        tie = "" if self.unique else "\nAnother configuration has the same score."
        rows = [[name, state_text(state)] for name, state in self.states.items()]
        table = text_table(["variable", "state"], rows, words=(0, 1))
        return "\n".join([*table, f"log score {number(self.log_score)} ({self.method}).{tie}"])

    def __repr__(self) -> str:
        return str(self)
