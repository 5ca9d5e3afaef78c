"""What a query asks for: single variables, and joints of several.

"a"                 the marginal of a
["a", "b"]          the marginals of a and of b
[("a", "b"), "c"]   the joint of a and b, and the marginal of c

What is known about some variables: states that were seen, and likelihoods of states.

Hard evidence fixes the state of a variable.  Soft evidence on x multiplies the joint by a
likelihood λ(x) ≥ 0, as if a child of x had been seen whose conditional is λ.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import ArrayLike

from likely._typing import Array
from likely.errors import InvalidInput, UnknownName
from likely.graphical.model.variable import Variable, by_name
from likely.output.formatting import quoted

NULLS = ("<NA>", "NaT")  # pandas' missing values, which compare as neither true nor false

Given = Mapping[str, object]
Soft = Mapping[str, ArrayLike | Mapping[str, float]]


@final
@dataclass(frozen=True, eq=False)
class GraphEvidence:
    """Codes of observed states, and likelihoods of the states of other variables."""

    codes: Mapping[str, int] = field(default_factory=dict)
    soft: Mapping[str, Array] = field(default_factory=dict)

    @property
    def observed(self) -> frozenset[str]:
        return frozenset(self.codes)


def checked_evidence(
    variables: Mapping[str, Variable], given: Given | None = None, soft: Soft | None = None
) -> GraphEvidence:
    """Evidence by names of variables and states, checked against ``variables``.

    A value that is None, NaN or empty text is missing, unless it is the name of a state.
    """
    codes = {}
    for name, state in _by_name("given", given).items():
        variable = known_variable(variables, name)
        if not is_missing(state, variable):
            _refuse_likelihoods(variable, state)
            codes[variable.name] = variable.code(state)
    likelihoods = {}
    for name, values in _by_name("soft", soft).items():
        variable = known_variable(variables, name)
        likelihoods[variable.name] = _likelihood(variable, values)
    return GraphEvidence(codes, likelihoods)


def _refuse_likelihoods(variable: Variable, state: object) -> None:
    several = isinstance(state, list | tuple | Mapping) or getattr(state, "ndim", 0) > 0
    if several and variable.find(state) is None:
        raise InvalidInput(
            f"given has several values for {variable.name!r}: {state!r}; one of its states was "
            f"expected. Pass likelihoods of its states as soft={{{variable.name!r}: …}}."
        )


def _by_name(argument: str, values: object) -> Mapping[str, Any]:
    if is_series(values):
        return dict(values.to_dict())  # type: ignore[attr-defined]  # a Series has it
    if values is not None and not isinstance(values, Mapping):
        raise InvalidInput(
            f"{argument} is of the type {type(values).__name__}; a dictionary by names of "
            "variables was expected, such as {'rain': 'yes'}."
        )
    return values or {}


def is_series(values: object) -> bool:
    """Whether it is one row of a frame: a pandas Series, by the names of variables."""
    return getattr(values, "ndim", 0) == 1 and callable(getattr(values, "to_dict", None))


def is_blank(value: object) -> bool:
    """Whether it is text without a visible character, which stands for a missing value."""
    return isinstance(value, str) and not value.strip()


def is_missing(state: object, variable: Variable) -> bool:
    """Whether a cell says nothing: null or empty, and no state of that name."""
    if isinstance(state, str):
        return is_blank(state) and state not in variable.codes
    if state is None or isinstance(state, Real):
        return state is None or state != state
    return str(state) in NULLS and str(state) not in variable.codes


def known_variable(variables: Mapping[str, Variable], name: object) -> Variable:
    found = variables.get(name) if isinstance(name, str) else variables.get(str(name))
    if found is None:
        raise UnknownName("variable", name, variables)
    return found


def known_variables(variables: Mapping[str, Variable], names: Iterable[object]) -> Sequence[str]:
    return [known_variable(variables, name).name for name in names]


def _likelihood(variable: Variable, values: ArrayLike | Mapping[str, float]) -> Array:
    if isinstance(values, Mapping):
        values = _of_all_states(variable, values)
    try:
        numbers = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"Soft evidence on {variable.name!r} holds something that is no number ({error}); one "
            f"likelihood for each of its {variable.n_states} states was expected."
        ) from error
    if numbers.shape != (variable.n_states,):
        raise InvalidInput(
            f"Soft evidence on {variable.name!r} has the shape {numbers.shape}; one likelihood "
            f"for each of its {variable.n_states} states was expected "
            f"({', '.join(variable.states[:8])})."
        )
    if not np.isfinite(numbers).all() or (numbers < 0).any() or not numbers.any():
        raise InvalidInput(
            f"Soft evidence on {variable.name!r} is {numbers.tolist()}; finite likelihoods of at "
            "least 0 were expected, one of them above 0."
        )
    return numbers


def _of_all_states(variable: Variable, values: Mapping[Any, float]) -> list[float]:
    """Likelihoods by state in the order of the states; none may be left out."""
    by_code = {variable.code(state): value for state, value in values.items()}
    absent = [state for code, state in enumerate(variable.states) if code not in by_code]
    if absent:
        raise InvalidInput(
            f"Soft evidence on {variable.name!r} has no likelihood of {quoted(absent)}; one for "
            "each of its states was expected. Add it: 0 for a state that is excluded."
        )
    return [by_code[code] for code in range(variable.n_states)]


Wanted = str | Sequence[str | tuple[str, ...]]
WantedNames = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]  # of variables, and of joints
MOST_SHOWN = 4  # names in a message


def wanted_names(known: Mapping[str, Variable], variables: Wanted | None) -> WantedNames:
    """The names of single variables, and the tuples, that are asked for; all by default."""
    if variables is None:
        return tuple(known), ()
    if isinstance(variables, tuple) and len(variables) > 1:
        _refuse_bare_tuple(variables)
    wanted = [variables] if isinstance(variables, str | int) else list(variables)
    singles = [name for name in wanted if not isinstance(name, tuple | list)]
    joints = [
        tuple(known_variables(known, names)) for names in wanted if isinstance(names, tuple | list)
    ]
    for names in joints:
        by_name([known[name] for name in names])
    return tuple(known_variables(known, singles)), tuple(joints)


def _refuse_bare_tuple(names: tuple[Any, ...]) -> NoReturn:
    shown = ", ".join([*map(repr, names[:MOST_SHOWN]), *["…"] * (len(names) > MOST_SHOWN)])
    raise InvalidInput(
        f"The query is a tuple of {len(names)} names, which may mean each variable alone or all of "
        f"them together; a list was expected. Use [{shown}] for each alone, or [({shown})] for "
        "their joint."
    )
