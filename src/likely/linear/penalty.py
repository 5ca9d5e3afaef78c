"""The penalty of a model: given by ``l1`` and ``l2`` or as an object, and spread to parameters.

    Σ_j λ_j|β_j| + ½ Σ_j κ_j β_j² + Σ_g γ_g‖β_g‖        λ: l1, κ: l2, γ: of groups of columns

The categories of a column share its strength and its group.  A penalised intercept takes the
largest strength, and is a group of its own.
"""

from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput, UnknownName
from likely.inputs.estimators import feature_names
from likely.output.formatting import short_number
from likely.penalties import L1, L2, ElasticNet, Group, Penalty, PenaltySum, Strengths

if TYPE_CHECKING:
    from likely.data.coding import Coding
    from likely.fitting.framing import Framing


def strengths_of(estimator: Any) -> Strengths:
    """What an estimator was asked to penalise: by ``penalty``, or by ``l1`` and ``l2``."""
    given = estimator.penalty
    if given is None:  # l2="auto" is refused below, unless the model has chosen it
        chosen = vars(estimator).get("l2_") if is_auto(estimator.l2) else None
        return Strengths(estimator.l1, estimator.l2 if chosen is None else chosen)
    if not isinstance(given, Penalty):
        raise InvalidInput(
            f"penalty={given!r} was given; a penalty of likely.penalties was expected. "
            f"{_advice_for(given)}"
        )
    for name in ("l1", "l2"):
        value, default = vars(estimator)[name], signature(type(estimator)).parameters[name].default
        if not isinstance(value, float | int) or value not in (default, 0.0):
            raise InvalidInput(
                f"penalty={given!r} and {name}={value!r} were given; one of the two was expected. "
                f"Add {name.upper()}(…) to the penalty, or leave {name} out."
            )
    return given.strengths


def _advice_for(given: Any) -> str:
    name = str(given).lower()
    if name in ("elasticnet", "elastic-net", "elastic_net"):
        return "Use penalty=ElasticNet(1.0, 1.0), or l1=1.0 and l2=1.0, which is the same."
    name = "l1" if name in ("l1", "lasso") else "l2"
    return f"Use penalty={name.upper()}(1.0), or {name}=1.0, which is the same."


def is_auto(strength: Any) -> bool:
    """Whether a strength is to be chosen."""
    return isinstance(strength, str) and strength == "auto"


def is_rough(estimator: Any) -> bool:
    """Whether a fit has a kink at 0: by l1, or by groups."""
    l1, _, groups = strengths_of(estimator)
    return is_penalised(l1) or has_groups(groups)


def has_groups(groups: tuple[Group, ...]) -> bool:
    return any(np.any(group.strength) for group in groups)


def has_penalty(estimator: Any) -> bool:
    """Whether an estimator is penalised at all; a wrong argument is for ``fit`` to refuse."""
    try:
        l1, l2, groups = strengths_of(estimator)
        return is_penalised(l1, l2) or has_groups(groups)
    except InvalidInput:
        return True


def penalty_described(estimator: Any) -> str:
    """The penalty of an estimator in a few words; empty where there is none."""
    if vars(estimator).get("firth"):
        return "Firth's"
    l1, l2, groups = strengths_of(estimator)
    words = [
        f"{name}={_strength_text(s)}" for name, s in (("l1", l1), ("l2", l2)) if is_penalised(s)
    ]
    for group in groups:
        if np.any(group.strength):
            words.append(f"group={_strength_text(group.strength)}")
    return " + ".join(words)


def _strength_text(strength: Any) -> str:
    values = np.unique(numbers(strength))
    if values.size == 1:
        return short_number(float(values[0]))
    return f"{short_number(float(values[0]))} to {short_number(float(values[-1]))}"


def is_penalised(*strengths: Any) -> bool:
    """Whether any strength is above 0."""
    return any(np.asarray(numbers(strength)).any() for strength in strengths)


def per_column(estimator: Any, name: str, strength: Any, n_columns: int) -> Array:
    """One strength per input column."""
    if isinstance(strength, Mapping):
        known = list(feature_names(estimator))
        given = {str(column): float(value) for column, value in strength.items()}
        for column in given:
            if column not in known:
                raise UnknownName(f"column for {name}", column, known)
        return np.array([given.get(column, 0.0) for column in known])
    values = numbers(strength, name)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_columns):
        raise InvalidInput(
            f"{name} has shape {values.shape}; X has {n_columns} columns. "
            "Give one number, one per column, or a mapping from names to numbers."
        )
    return np.broadcast_to(values, (n_columns,))


def numbers(strength: Any, name: str = "a penalty") -> Array:
    if isinstance(strength, Mapping):
        strength = list(strength.values())
    if isinstance(strength, L1 | L2):
        if name in ("l1", "l2") and name != type(strength).__name__.lower():
            raise InvalidInput(
                f"{name}={strength!r} was given; {name} takes a number or an {name.upper()}. "
                f"Give it as {type(strength).__name__.lower()}."
            )
        strength = strength.l1 if isinstance(strength, L1) else strength.l2
    try:
        if strength is None or isinstance(strength, str):
            raise TypeError("no number")
        return np.asarray(strength, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{name}={repr(strength)[:80]} is not a strength; a number of at least 0 was expected. "
            "Use 0 for no penalty."
        ) from error


class Spread(NamedTuple):
    """A penalty with one strength for each parameter of a predictor; 0 is no penalty."""

    l1: Array
    l2: Array
    group: Group | None = None

    @property
    def penalty(self) -> Penalty:
        net = ElasticNet(self.l1, self.l2)
        return net if self.group is None else PenaltySum((net, self.group))

    @property
    def is_round(self) -> Array:
        """Where a ridge or a group decides between weights that differ by a shift, a mask."""
        return ~self._replace(l1=np.zeros(len(self.l1))).penalty.free(len(self.l1))

    def repeated(self, times: int) -> "Spread":
        """For several predictors; a group has the parameters of all."""
        group = self.group
        if group is not None:
            group = Group(np.tile(group.members(len(self.l1)), times), group.strength)
        return Spread(np.tile(self.l1, times), np.tile(self.l2, times), group)

    def with_free(self, free: int) -> "Spread":
        """With further parameters without a penalty."""
        group, more = self.group, np.zeros(free)
        if group is not None:
            codes = np.append(group.members(len(self.l1)), np.full(free, -1))
            group = Group(codes, group.strength)
        return Spread(np.append(self.l1, more), np.append(self.l2, more), group)


def spread(
    estimator: Any, coding: "Coding", framing: "Framing", given: Strengths, *, intercept: bool
) -> Spread:
    """The penalty on all parameters; that of the intercept is 0 unless it is penalised."""
    n_columns, column_of = len(coding.schema.kinds), coding.column_of_coefficient()
    l1, l2 = (
        _per_parameter(
            per_column(estimator, name, strength, n_columns), column_of, framing, intercept
        )
        for name, strength in (("l1", given.l1), ("l2", given.l2))
    )
    ElasticNet(l1, l2)  # refuses values that are not strengths
    if framing.intercept:
        column_of = np.append(column_of, n_columns if intercept else -1)
    names = list(feature_names(estimator)) if given.groups else []
    own = tuple(group.on_columns(names, column_of) for group in given.groups)
    return Spread(l1, l2, PenaltySum(own).grouped(len(l1)))


def in_a_group(estimator: Any, given: Strengths, n_columns: int) -> Array:
    """Which columns are in a group that is penalised, a mask."""
    if not given.groups:
        return np.zeros(n_columns, dtype=bool)
    names, each = list(feature_names(estimator)), np.arange(n_columns)
    own = tuple(group.on_columns(names, each) for group in given.groups)
    return ~PenaltySum(own).free(n_columns)


def _per_parameter(columns: Array, column_of: Array, framing: "Framing", intercept: bool) -> Array:
    out = columns[column_of]
    if not framing.intercept:
        return out
    return np.append(out, columns.max(initial=0.0) if intercept else 0.0)
