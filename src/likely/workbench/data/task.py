"""The task of a target column: its kind, its classes and their order.

text, Booleans, categories         two of them: binary; more: classes; with an order: ordinal
whole numbers, few and repeated    binary or classes; counts if there are 8, and large ones rare
whole numbers from 0 up            count
such numbers with an exposure      count, also if they are few and repeated
such numbers that are amounts      positive, if none is 0
numbers above 0                    positive
numbers from 0 up, some exactly 0  real, with zeros
other numbers                      real

Prices, populations and salaries are whole numbers, but amounts: they are large (2,000 and more),
their variance is far above their mean, and they are mostly different (as many as half of the rows,
or more than 500 values) or mostly round (multiples of 10).  Hospital days are not.

Whether whole numbers are counts, amounts or other numbers need not be known: as counts they are
scored by the probability of each whole number, on which scale models of all three are compared
(``Task.beside``).  Amounts of which some are exactly 0 (``Task.zeros``, their share) have models of
such amounts beside, and an exposure may multiply their means; fractions among them are scored by
the probability of 0 and the density of the others.

The rule uses only the target and the roles of other columns, and ``reason`` says what it found;
``kind`` overrides it.  Where the values could mean something else, ``doubt`` says so, and how to
give the kind.  If models are named and none of them is for that kind, a kind that suits all of
them is used, if the values allow it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from sklearn.base import is_classifier, is_regressor

from likely._typing import Array, Codes
from likely.data.arrow import decoded
from likely.data.labels import (
    TargetValues,
    are_names,
    are_repeated,
    refuse_names,
    refuse_target,
    target_values,
)
from likely.errors import InvalidInput, UnknownName
from likely.inputs.targets import alphabetical
from likely.kinds import CLASS_KINDS, IN_WORDS, TARGET_KINDS, TargetKind
from likely.output.formatting import all_listed, listed, percent
from likely.workbench.data.roles import Roles
from likely.workbench.models.model_entry import ModelEntry
from likely.workbench.models.registry import AMOUNTS, BASELINE, entries_of

if TYPE_CHECKING:
    import pyarrow as pa

NO_ROLES = Roles()
WITH_EXPOSURE: tuple[TargetKind, ...] = ("count", "positive")  # whose mean it multiplies
PREFERRED: tuple[TargetKind, ...] = ("binary", "classes", "ordinal", "real", "count", "positive")
MANY_ZEROS = 0.1  # share from which on zeros are worth a word, and a family that has them


@final
@dataclass(frozen=True)
class Task:
    """A target column, its kind and its classes."""

    kind: TargetKind
    target: str
    classes: tuple[Any, ...] = ()  # labels in their order; none for numbers
    order: tuple[Any, ...] | None = None  # of an ordinal task, from lowest to highest
    reason: str = ""  # why it is this kind; empty where the kind was given
    doubt: str = ""  # a sentence, where the values could mean something else
    beside: frozenset[TargetKind] = frozenset()  # other kinds whose models are tried too
    zeros: float = 0.0  # the share of exact zeros, of amounts
    text: str = ""  # "beside" where other columns hold text too, "alone" where all of them do

    @property
    def has_classes(self) -> bool:
        return self.kind in CLASS_KINDS

    @property
    def with_zeros(self) -> bool:
        """Whether it holds amounts of which some are 0."""
        return self.zeros > 0

    @property
    def many_zeros(self) -> bool:
        """Whether a family of numbers would miss what most models of such amounts see."""
        return self.zeros >= MANY_ZEROS

    @property
    def takes_exposure(self) -> bool:
        """Whether an exposure can multiply its means."""
        return self.kind in WITH_EXPOSURE or self.with_zeros

    def codes(self, table: "pa.Table") -> Codes:
        """The position of each row's label among the classes; −1 is missing or another label."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = decoded(table.column(self.target))
        known = pa.array(self.classes, type=column.type)
        found = pc.fill_null(pc.index_in(column, value_set=known), -1)
        return np.asarray(found.to_numpy(), dtype=np.int64)

    def numbers(self, table: "pa.Table") -> Array:
        """The target as float64; NaN is missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = pc.cast(decoded(table.column(self.target)), pa.float64())
        return np.asarray(pc.fill_null(column, float("nan")).to_numpy())

    def strata(self, table: "pa.Table") -> Codes:
        """The class of each row, one stratum for numbers: used to stratify folds and subsets.

        Codes are of the sorted labels, so that folds do not depend on the order of the classes.
        """
        if not self.has_classes:
            return np.zeros(table.num_rows, dtype=np.int64)
        return replace(self, classes=tuple(sorted(self.classes))).codes(table)

    def known(self, table: "pa.Table") -> Array:
        """Which rows have a target."""
        if self.has_classes:
            return np.asarray(self.codes(table) >= 0)
        return ~np.isnan(self.numbers(table))


def task_of(
    table: "pa.Table",
    target: str,
    *,
    ordered: bool | Sequence[Any] | None = None,
    kind: TargetKind | None = None,
    roles: Roles = NO_ROLES,
) -> Task:
    """The task of a column.

    ``ordered``: True for classes in sorted order, a sequence for another order, False for none;
    None uses the type of the column.  ``kind`` overrides the rule: ``"count"`` for few
    different whole numbers, ``"classes"`` for many.  An order makes the task ordinal; an order of
    one class, or one beside ``"binary"``, says which of two is the positive one: the last.
    ``roles`` are those of other columns: an exposure, or an offset, rules out classes of
    numbers.

    >>> import pyarrow as pa
    >>> task_of(pa.table({"y": ["no", "yes", "no"]}), "y").classes
    ('no', 'yes')
    """
    if target not in table.column_names:
        raise UnknownName("column", target, table.column_names)
    if kind is not None and kind not in TARGET_KINDS:
        raise UnknownName("kind of task", kind, TARGET_KINDS)
    seen = target_values(table, target)
    if ordered is not None and not isinstance(ordered, bool):
        _refuse_unordered(target, kind)
        if kind == "binary" or (kind is None and len(ordered) == 1):
            return _with_positive(seen, ordered)
        return _in_order(seen, tuple(ordered))
    if kind is not None:
        return _as_given(seen, kind)
    if ordered or (ordered is None and seen.ordered and len(seen.values) > 2):
        return _ordinal(seen, "the target's categories have an order" if seen.ordered else "")
    if not seen.numeric:
        return _labels(seen)
    found = _whole(seen) if seen.whole else _measured(seen)
    return _with_roles(found, seen, roles)


def task_for_models(
    table: "pa.Table",
    target: str,
    models: Any = None,
    *,
    kind: TargetKind | None = None,
    order: Sequence[Any] | None = None,
    roles: Roles = NO_ROLES,
) -> Task:
    """The task by which models, as in ``compare``, are scored.

    A kind or an order that was given, here or in a seal, is taken as it is.

    >>> import pyarrow as pa
    >>> visits = pa.table({"visits": [0, 1, 2, 1, 0] * 20})
    >>> task_for_models(visits, "visits").kind
    'classes'
    >>> task_for_models(visits, "visits", "glm-poisson").kind
    'count'
    """
    usual = task_of(table, target, ordered=order, kind=kind, roles=roles)
    if kind is not None or order is not None:
        return usual
    entries = [entry for entry in entries_of(models) if entry.name != BASELINE]
    if not entries or any(usual.kind in entry.suits for entry in entries):
        return usual
    shared = frozenset.intersection(*(entry.suits for entry in entries))
    first = [entry.first_kind for entry in entries if entry.first_kind is not None]
    for other in (*first, *PREFERRED):
        task = _allowed(table, usual, other) if other in shared else None
        if task is not None:
            return _explained(task, usual, entries, shared)
    return usual


def task_of_fit(
    model: Any,
    table: "pa.Table",
    target: str,
    *,
    kind: TargetKind | None = None,
    order: Sequence[Any] | None = None,
) -> Task:
    """The task for which a model was fitted, to score these rows, which may be other rows.

    A classifier is scored by its own classes and a regressor by numbers, for any
    values; ``kind`` and ``order`` are those that it was trained with.
    """
    numbers = is_regressor(model)
    if not (numbers or is_classifier(model)):
        raise InvalidInput(
            f"{type(model).__name__} is neither a classifier nor a regressor; a score is of "
            "predictions of the target. Choose a model that predicts it."
        )
    try:
        found = task_for_models(table, target, model, kind=kind, order=None if numbers else order)
    except InvalidInput:  # these values are not of the kind in training
        found = None
    if numbers:
        found = task_of(table, target) if found is None else found
        return task_of(table, target, kind="real") if found.has_classes else found
    labels = tuple(np.asarray(model.classes_).tolist())
    if found is not None and {*found.classes} == {*labels}:
        return found
    if kind == "ordinal":
        order = tuple(order) if order and {*order} == {*labels} else labels
        return Task("ordinal", target, order, order)
    if len(labels) == 2 and order and order[-1] in labels:
        labels = tuple(
            sorted(labels, key=lambda label: label == order[-1])
        )  # the positive one last
    return Task("binary" if len(labels) == 2 else "classes", target, labels)


def _labels(seen: TargetValues) -> Task:
    if are_names(len(seen.values), seen.n_rows):
        refuse_names(seen.target, seen.values, seen.n_rows)
    return _classes(seen, f"the target holds {len(seen.values)} different labels")


def _whole(seen: TargetValues) -> Task:
    """Whole numbers: few and repeated are classes."""
    n = len(seen.values)
    if are_repeated(n, seen.n_rows, seen.above):
        number: TargetKind = "count" if seen.values[0] >= 0 else "real"
        doubt = (
            f"{n} different whole numbers: taken as classes; use kind='{number}' (--kind {number}) "
            f"if they are {IN_WORDS[number]}, 'ordinal' if ordered."
        )
        reason = f"the target holds {n} different whole numbers, each in many rows"
        return _classes(seen, reason, "" if n == 2 else doubt)
    if seen.values[0] > 0 and seen.are_amounts:
        return _amounts(seen)
    if seen.values[0] < 0:
        return _measured(seen)
    above = seen.values[0] > 0
    few = are_repeated(n, seen.n_rows, above=1.0)  # classes, were large ones not rare
    codes = ", or for classes if they are codes" if few else ""
    tried = "counts, of amounts and of numbers" if above else "counts and of numbers"
    return Task(
        "count",
        seen.target,
        reason="the target holds whole numbers from 0 up",
        doubt=f"Whole numbers from 0 up, counted or measured: models of {tried} are compared by "
        f"the probability of each whole number; kind= (--kind) decides for one{codes}.",
        beside=AMOUNTS if above else frozenset(),
        zeros=seen.zeros_of_amounts,
    )


def _with_roles(found: Task, seen: TargetValues, roles: Roles) -> Task:
    """The task where an exposure, or an offset with several classes, makes numbers counts."""
    if roles.exposure is not None:
        rules_out = seen.whole and found.kind not in WITH_EXPOSURE
    else:
        rules_out = roles.offset is not None and found.kind == "classes"
    if not rules_out or seen.values[0] < 0:
        return found
    role, name = ("exposure", roles.exposure) if roles.exposure else ("offset", roles.offset)
    doubt = f"Whole numbers with the {role} {name!r}: taken as counts; use kind= (--kind) if not."
    reason = f"the target holds whole numbers from 0 up, with the {role} {name!r}"
    return Task("count", seen.target, reason=reason, doubt=doubt)


def _amounts(seen: TargetValues) -> Task:
    """Whole numbers such as prices."""
    task = _measured(seen)
    found = f"{len(seen.values):,} different whole numbers up to {seen.values[-1]:,}"
    doubt = (
        f"{found}: taken as {IN_WORDS[task.kind]}, not as counts; use kind='count' (--kind count) "
        "if they were counted."
    )
    return replace(task, reason=f"the target holds {found}", doubt=doubt)


def _measured(seen: TargetValues) -> Task:
    if seen.values[0] > 0:
        return Task("positive", seen.target, reason="the target holds numbers, all above 0")
    if seen.values[0] < 0:
        reason = "the target holds numbers, negative ones among them"
        return Task("real", seen.target, reason=reason)
    share = percent(seen.zeros)
    doubt = f"Numbers from 0 up, {share} of them exactly 0: models are compared by the probability "
    return Task(
        "real",
        seen.target,
        reason=f"the target holds numbers from 0 up, {share} of them exactly 0",
        doubt=f"{doubt}of 0 and the density of the others." if seen.zeros >= MANY_ZEROS else "",
        zeros=seen.zeros,
    )


def _classes(seen: TargetValues, reason: str, doubt: str = "") -> Task:
    kind: TargetKind = "binary" if len(seen.values) == 2 else "classes"
    return Task(kind, seen.target, seen.values, reason=reason, doubt=doubt)


def _ordinal(seen: TargetValues, reason: str) -> Task:
    has_order = seen.ordered or not isinstance(seen.values[0], str)  # words have none of their own
    doubt = "" if has_order else alphabetical(seen.values)
    return Task("ordinal", seen.target, seen.values, seen.values, reason, doubt)


def _refuse_unordered(target: str, kind: TargetKind | None) -> None:
    if kind not in (None, "ordinal", "binary"):
        raise InvalidInput(
            f"An order of {target!r} was given with the kind {kind!r}; an order is of ordinal "
            "targets. Leave one of them out."
        )


def _in_order(seen: TargetValues, order: tuple[Any, ...]) -> Task:
    order = tuple(_as_in_column(label, seen) for label in order)
    missing = [value for value in seen.values if value not in order]
    if missing or len(set(order)) < len(order):
        what = f"lacks {missing[0]!r}" if missing else "names a class twice"
        raise InvalidInput(
            f"The order {list(order)!r} {what}; it must name each class of {seen.target!r} once. "
            f"The classes are {', '.join(map(repr, seen.values[:10]))}."
        )
    order = tuple(value for value in order if value in seen.values)
    return Task("ordinal", seen.target, order, order, "the target's order was given")


def _with_positive(seen: TargetValues, given: Sequence[Any]) -> Task:
    """Two classes, the positive one last; it is given alone, or behind the other."""
    *others, positive = (_as_in_column(label, seen) for label in given)
    found = f"{seen.target!r} has the classes {listed(list(map(repr, seen.values)), 10)}"
    if others and others != [value for value in seen.values if value != positive]:
        raise InvalidInput(
            f"The order {list(given)!r} and the kind 'binary' were given, and {found}; each of two "
            "classes was expected once. Use positive= (--positive) with one of them instead of the "
            "order, or leave both out."
        )
    if len(seen.values) != 2 or positive not in seen.values:
        raise InvalidInput(
            f"The positive class {positive!r} was given, and {found}; one of two classes was "
            "expected. Name one of them, or leave it out."
        )
    order = (*(value for value in seen.values if value != positive), positive)
    return Task("binary", seen.target, order, order, "the positive class was given")


def _as_in_column(label: Any, seen: TargetValues) -> Any:
    """A label that was written as text, as the value of the column that it means."""
    label = label.item() if isinstance(label, np.generic) else label
    if label in seen.values or not isinstance(label, str):
        return label
    if seen.numeric:
        try:
            return float(label) if "." in label else int(label)
        except ValueError:
            return label
    words = {str(value).lower(): value for value in seen.values if isinstance(value, bool)}
    return words.get(label.lower(), label)


def _as_given(seen: TargetValues, kind: TargetKind) -> Task:
    if kind in CLASS_KINDS:
        if seen.numeric and not seen.whole and are_names(len(seen.values), seen.n_rows):
            found = f"holds {len(seen.values):,} different numbers, with fractions; classes were"
            refuse_target(
                seen.target, found, "Use the kind 'real', or cut the numbers into classes"
            )
        if kind == "binary" and len(seen.values) != 2:
            found = f"holds {len(seen.values)} different values; two were"
            refuse_target(seen.target, found, "Use the kind 'classes'")
        if kind == "ordinal":
            return _ordinal(seen, "")
        return Task(kind, seen.target, seen.values)
    least = seen.values[0]
    if not seen.numeric:
        advice = "Leave the kind out, or use 'classes'"
        refuse_target(seen.target, f"holds labels such as {least!r}; numbers were", advice)
    if kind == "count" and not (seen.whole and least >= 0):
        found = "holds other than whole numbers from 0 up; counts were"
        refuse_target(seen.target, found, "Use the kind 'real'")
    if kind == "positive" and least <= 0:
        refuse_target(seen.target, f"holds {least:g}; numbers above 0 were", "Use the kind 'real'")
    return Task(kind, seen.target, zeros=seen.zeros_of_amounts if kind == "real" else 0.0)


def _allowed(table: "pa.Table", usual: Task, kind: TargetKind) -> Task | None:
    """The target as that kind; None if its values do not allow it."""
    try:
        task = task_of(table, usual.target, kind=kind)
    except InvalidInput:
        return None
    if task.has_classes and not usual.has_classes:  # numbers: whole, and repeated as classes are
        whole = all(float(value).is_integer() for value in task.classes)
        return task if whole and not are_names(len(task.classes), table.num_rows) else None
    return task


def _explained(
    task: Task, usual: Task, models: Sequence[ModelEntry], shared: frozenset[TargetKind]
) -> Task:
    """The task with the reason why it is not the usual kind, and the alternative."""
    names = list(dict.fromkeys(model.name for model in models))
    named = all_listed(names)
    are = "is" if len(names) == 1 else "are"
    found = _found(usual)
    counts = task.kind == "real" and "count" in shared and usual.classes[0] >= 0
    other = "; use kind='count' (--kind count) if they are counts" if counts else ""
    doubt = f"{found}: taken as {IN_WORDS[task.kind]}, which {named} {are} for{other}."
    return replace(
        task,
        reason=f"{named} {are} for such targets",
        doubt=" ".join(filter(None, [doubt, task.doubt])),
    )


def _found(usual: Task) -> str:
    if not usual.has_classes:
        return "Whole numbers"
    labels = isinstance(usual.classes[0], str | bool)
    return f"{len(usual.classes)} different {'labels' if labels else 'whole numbers'}"
