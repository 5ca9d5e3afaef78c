"""The fit of a linear model: which categories have a coefficient, its penalty, and the driver.

Without a penalty, one category of a column is the reference and has no coefficient: the one that
``reference`` names, or the first, in the order of a categorical column or sorted.  With a penalty
every category has one, so that all are treated alike.

A penalty is given by ``l1`` and ``l2`` or as an object, and spread to parameters:

    Σ_j λ_j|β_j| + ½ Σ_j κ_j β_j² + Σ_g γ_g‖β_g‖        λ: l1, κ: l2, γ: of groups of columns

The categories of a column share its strength and its group.  A penalised intercept takes the
largest strength, and is a group of its own.

``fitted`` is the fit of a model by the driver; ``model_objective`` is what that fit minimises, on
rows as they came: not centred, θ = [W b].  Its vectors are stored in a model as the result of a fit
is.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any, NamedTuple, Protocol

import numpy as np

from likely._typing import Array
from likely.data.block import ArrayBlocks, first_rows
from likely.data.coding import Coding
from likely.data.layouts.base import Csr
from likely.data.schema import Schema
from likely.errors import InvalidInput, UnknownName
from likely.fitting.covariance import kind_of_errors
from likely.fitting.driver import DesignRows, FitSettings, LinearFit, Specification, fit, given_fit
from likely.fitting.framing import Framing, block_sums, start_share
from likely.fitting.predictor import OnePredictor
from likely.inputs.coding import refuse_gaps
from likely.inputs.estimators import columns_named, feature_names
from likely.inputs.rows import AT_PREDICTION, EncodedRows, RowExtras, TargetForm, check_rows
from likely.likelihoods.base import Likelihood
from likely.objectives.model import ModelObjective, Reduction
from likely.output.formatting import short_number
from likely.penalties.base import L1, L2, ElasticNet, Penalty, PenaltySum, Strengths
from likely.penalties.group import Group

Specify = Callable[[DesignRows], Specification]
LinearRows = EncodedRows[Coding]  # designs without an intercept


class Penalised(Protocol):
    """An estimator with the arguments of a penalty."""

    @property
    def l1(self) -> Any: ...
    @property
    def l2(self) -> Any: ...
    @property
    def penalty(self) -> Penalty | None: ...


class WithIntercept(Penalised, Protocol):
    """An estimator with an intercept, which may be penalised too."""

    @property
    def fit_intercept(self) -> bool: ...
    @property
    def penalise_intercept(self) -> bool: ...


def open_linear(
    estimator: Any,
    X: Any,
    y: Any,
    extras: RowExtras,
    *,
    target: TargetForm,
    given: Strengths,
    reference: Mapping[Any, Any] | None = None,
) -> LinearRows:
    """Check everything, and cut it into blocks.

    X is an array, a CSR array, a frame, or a file; y and the extras may be names of columns of a
    frame or a file.  ``reference`` names the reference category of some columns.
    """
    refuse_idle_groups(estimator, extras.groups)
    vars(estimator).pop("formula_", None)  # of an earlier fit
    estimator.beside_ = tuple(name for name in (y, *extras) if isinstance(name, str))
    estimator.moved_by_ = tuple(name for name in AT_PREDICTION if getattr(extras, name) is not None)
    found = check_rows(estimator, X, y, extras, target=target)
    rows = found.with_categories()
    chosen = _chosen_references(rows.coding, reference)
    flags = _references(estimator, rows.coding, given, chosen)
    orders = found.orders() if any(rows.coding.as_codes) else ()
    coding = Coding(rows.coding, flags, _order(rows.coding, orders, chosen))
    with columns_named(estimator):
        blocks = coding.to_fit(rows.blocks)
    return EncodedRows(blocks, coding, *rows[2:])


def refuse_idle_groups(estimator: object, groups: object) -> None:
    """Refuse groups unless the standard errors are clustered."""
    if groups is not None and kind_of_errors(estimator) != "clustered":
        raise InvalidInput(
            "groups were given, which only clustered standard errors use; the kind asked for is "
            f"{kind_of_errors(estimator)!r}. Ask for 'clustered', or leave the groups out."
        )


def _references(
    estimator: object, schema: Schema, given: Strengths, chosen: Mapping[int, int]
) -> tuple[bool, ...]:
    """Per column of codes, whether its coefficients are free and need a reference."""
    n = len(schema.kinds)
    free = np.zeros(n, dtype=bool)
    if any(schema.as_codes):
        l1, l2 = (
            per_column(estimator, name, strength, n)
            for name, strength in (("l1", given.l1), ("l2", given.l2))
        )
        free = (l1 == 0) & (l2 == 0) & ~in_a_group(estimator, given, n)
    idle = [j for j in chosen if not free[j]]
    if idle:
        name = idle[0] if schema.names is None else schema.names[idle[0]]
        raise InvalidInput(
            f"reference names the column {name!r}, which is penalised: with a penalty every "
            "category has a coefficient, so there is no reference. Use l1=0 and l2=0, or leave "
            "the reference out."
        )
    coded = [j for j, is_coded in enumerate(schema.as_codes) if is_coded]
    flags = [bool(free[j]) for j in coded]
    if not vars(estimator).get("fit_intercept", True) and True in flags:
        # one column has all its levels in place of an intercept: rather one without a reference
        places = sorted((j in chosen, k) for k, j in enumerate(coded) if flags[k])
        flags[places[0][1]] = False
    return tuple(flags)


def _chosen_references(schema: Schema, given: Mapping[Any, Any] | None) -> dict[int, int]:
    """By column, the code of the category that ``reference`` names."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"reference={given!r} was given; a mapping from columns to categories was expected. "
            "Use reference={'colour': 'red'}, for instance."
        )
    labels = [str(j) for j in range(len(schema.kinds))] if schema.names is None else schema.names
    found = {}
    for name, value in given.items():
        if str(name) not in labels:
            raise UnknownName("column for reference", str(name), list(labels))
        j = list(labels).index(str(name))
        found[j] = _code_of(schema, j, name, value)
    return found


def _code_of(schema: Schema, j: int, name: object, value: object) -> int:
    """The code of a category, as it is, as text or as the number that it is written as."""
    found: Array | None = schema.categories[j]
    if found is None:
        raise InvalidInput(
            f"reference names the column {name!r}, which holds {schema.kinds[j]}s; a reference is "
            "one of the categories of a column of text. Leave it out, or make the column text."
        )
    values = found.tolist()
    same = [code for code, known in enumerate(values) if known == value]
    same = same or [code for code, known in enumerate(values) if str(known) == str(value)]
    same = same or [code for code, known in enumerate(values) if _number(known) == _number(value)]
    if len(same) != 1:
        raise UnknownName(f"category of {name!r} for reference", str(value), map(str, values))
    return same[0]


def _number(value: object) -> float | str:
    """The number that a text is, such as 1 for the code 01; other text as it is."""
    try:
        return float(value)  # type: ignore[arg-type]  # refused below
    except (TypeError, ValueError):
        return str(value)


def _order(
    schema: Schema, orders: Sequence[list[Any] | None], chosen: Mapping[int, int]
) -> tuple[tuple[int, ...], ...]:
    """Per column of codes, the codes in order: the reference, then as the column's type says."""
    if not chosen and not any(order is not None for order in orders):
        return ()
    found = []
    for j, values in enumerate(schema.categories):
        if values is None:
            continue
        given = {value: k for k, value in enumerate(orders[j] or [])}
        labels = values.tolist()
        places = sorted(range(len(labels)), key=lambda k: given.get(labels[k], k))
        if j in chosen:
            places.remove(chosen[j])
            places.insert(0, chosen[j])
        found.append(tuple(places))
    if all(list(places) == sorted(places) for places in found):
        return ()
    return tuple(found)


def remember_means(model: Any, rows: LinearRows) -> None:
    """Store the means of the columns of the design as ``column_means_``; of sparse ones, 0.

    Of a large table the means of some rows, and of a file those of its first block: where
    contributions are 0 need not be exact.
    """
    if vars(model).get("coding_") is rows.coding:  # the next penalty of a path, on the same rows
        return
    blocks = rows.blocks
    model.column_means_ = np.zeros(blocks.n_features)
    first = next(iter(blocks))
    if isinstance(first.X, Csr):
        return
    if isinstance(blocks, ArrayBlocks):
        share = start_share(blocks.n_rows, blocks.n_features)
        some = blocks if share >= 1 else first_rows(blocks, share)
        total = rows.executor.sum(block_sums, some)
    else:
        total = block_sums(first)
    means = np.asarray(total.x / total.weight)
    if np.isfinite(means).all():
        model.column_means_ = means


def design_rows(rows: LinearRows) -> DesignRows:
    """Encoded rows, as the driver takes them."""
    coding = rows.coding
    return DesignRows(rows.blocks, rows.executor, coding.names, rows.n_groups, coding.references)


def fitted(
    estimator: Any, rows: DesignRows, specify: Specify, *, warned_by: Any = None
) -> LinearFit:
    """The fit of an estimator; ``warned_by`` is the one that warnings name, if it is another."""
    with columns_named(estimator):
        found = fit(specify, rows, FitSettings.of(estimator, warned_by=warned_by))
    if found.held_out is not None:
        estimator.held_out_ = found.held_out
    return found


def model_objective(
    model: Any,
    rows: DesignRows,
    specify: Specify,
    store: Callable[[LinearFit], Any],
    reduction: Reduction,
    position: Array | None = None,
) -> ModelObjective:
    """The objective of a model that is not fitted; ``store`` makes the model of a fit."""
    with columns_named(model), rows.executor.session():
        refuse_gaps(rows.blocks, rows.names)
        specification = specify(rows)
        problem = specification.problem(centre=False)
        start = specification.begin(problem).start
    return ModelObjective(
        problem.on,
        problem.data.blocks,
        rows.executor,
        specification.packing,
        start,
        lambda theta: store(given_fit(specification, problem, theta)),
        type(model).__name__,
        reduction,
        position,
    )


def predictor_of(
    estimator: WithIntercept,
    coding: Coding,
    likelihood: Likelihood,
    *,
    classes: bool = False,
    student: bool = False,
) -> Callable[..., OnePredictor]:
    """The specification of one predictor with the settings of an estimator."""
    firth = ", or firth=True" if "firth" in vars(estimator) else ""
    return partial(
        OnePredictor,
        likelihood=likelihood,
        penalty=lambda framing: (
            spread(
                estimator,
                coding,
                framing,
                strengths_of(estimator),
                intercept=estimator.penalise_intercept,
            ).penalty
        ),
        intercept=estimator.fit_intercept,
        centre=not estimator.penalise_intercept,
        classes=classes,
        student=student,
        given=vars(estimator).get("start"),
        remedy=Specification.remedy + firth,
    )


def strengths_of(estimator: Penalised) -> Strengths:
    """What an estimator was asked to penalise: by ``penalty``, or by ``l1`` and ``l2``."""
    given = estimator.penalty
    if given is None:  # l2="auto" is refused below, unless the model has chosen it
        chosen = vars(estimator).get("l2_") if is_auto(estimator.l2) else None
        if is_auto(estimator.l2) and is_penalised(estimator.l1):
            raise InvalidInput(
                f"l1={estimator.l1!r} and l2='auto' were given; the marginal likelihood that "
                "chooses l2 is that of a ridge alone. Give l2 as a number, or leave l1 out."
            )
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


def _advice_for(given: object) -> str:
    name = str(given).lower()
    if name in ("elasticnet", "elastic-net", "elastic_net"):
        return "Use penalty=ElasticNet(1.0, 1.0), or l1=1.0 and l2=1.0, which is the same."
    name = "l1" if name in ("l1", "lasso") else "l2"
    return f"Use penalty={name.upper()}(1.0), or {name}=1.0, which is the same."


def is_auto(strength: object) -> bool:
    """Whether a strength is to be chosen."""
    return isinstance(strength, str) and strength == "auto"


def is_rough(estimator: Penalised) -> bool:
    """Whether a fit has a kink at 0: by l1, or by groups."""
    l1, _, groups = strengths_of(estimator)
    return is_penalised(l1) or has_groups(groups)


def has_groups(groups: tuple[Group, ...]) -> bool:
    return any(np.any(group.strength) for group in groups)


def has_penalty(estimator: Penalised) -> bool:
    """Whether an estimator is penalised at all; a wrong argument is for ``fit`` to refuse."""
    try:
        l1, l2, groups = strengths_of(estimator)
        return is_penalised(l1, l2) or has_groups(groups)
    except InvalidInput:
        return True


def penalty_described(estimator: Penalised) -> str:
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


def _strength_text(strength: object) -> str:
    values = np.unique(numbers(strength))
    if values.size == 1:
        return short_number(float(values[0]))
    return f"{short_number(float(values[0]))} to {short_number(float(values[-1]))}"


def is_penalised(*strengths: object) -> bool:
    """Whether any strength is above 0."""
    return any(np.asarray(numbers(strength)).any() for strength in strengths)


def per_column(estimator: object, name: str, strength: object, n_columns: int) -> Array:
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


def numbers(strength: object, name: str = "a penalty") -> Array:
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


class ParameterPenalty(NamedTuple):
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

    def repeated(self, times: int) -> "ParameterPenalty":
        """For several predictors; a group has the parameters of all."""
        group = self.group
        if group is not None:
            group = Group(np.tile(group.members(len(self.l1)), times), group.strength)
        return ParameterPenalty(np.tile(self.l1, times), np.tile(self.l2, times), group)

    def with_free(self, free: int) -> "ParameterPenalty":
        """With further parameters without a penalty."""
        group, more = self.group, np.zeros(free)
        if group is not None:
            codes = np.append(group.members(len(self.l1)), np.full(free, -1))
            group = Group(codes, group.strength)
        return ParameterPenalty(np.append(self.l1, more), np.append(self.l2, more), group)


def spread(
    estimator: object, coding: Coding, framing: Framing, given: Strengths, *, intercept: bool
) -> ParameterPenalty:
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
    return ParameterPenalty(l1, l2, PenaltySum(own).grouped(len(l1)))


def in_a_group(estimator: object, given: Strengths, n_columns: int) -> Array:
    """Which columns are in a group that is penalised, a mask."""
    if not given.groups:
        return np.zeros(n_columns, dtype=bool)
    names, each = list(feature_names(estimator)), np.arange(n_columns)
    own = tuple(group.on_columns(names, each) for group in given.groups)
    return ~PenaltySum(own).free(n_columns)


def _per_parameter(columns: Array, column_of: Array, framing: Framing, intercept: bool) -> Array:
    out = columns[column_of]
    if not framing.intercept:
        return out
    return np.append(out, columns.max(initial=0.0) if intercept else 0.0)
