"""The class as one of the variables of a network: its name, its labels and its states."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.data.categories import codes_of_factor
from likely.data.frames import as_table
from likely.errors import InvalidInput, UnknownName
from likely.formatting import listed
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.graph_evidence import is_blank
from likely.graphical.model.variable import Variable, state_text
from likely.inputs.tables import as_frame, is_frame, without_columns

USUAL = ("class", "target", "label")  # names of the class where y has none: the first that is free


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


def checked_network(network: Any) -> BayesianNetwork:
    if not isinstance(network, BayesianNetwork):
        raise InvalidInput(
            f"network is a {type(network).__name__}; a BayesianNetwork was expected. Pass "
            "BayesianNetwork.from_edges(…), or leave it out and set structure."
        )
    return network


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
