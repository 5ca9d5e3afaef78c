"""The kinds of targets and of columns; imports no large library."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from likely.errors import InvalidInput
from likely.output.formatting import all_listed, count

TargetKind = Literal["binary", "classes", "ordinal", "count", "positive", "real"]

TARGET_KINDS: tuple[TargetKind, ...] = get_args(TargetKind)
CLASS_KINDS: frozenset[TargetKind] = frozenset({"binary", "classes", "ordinal"})
NUMBER_KINDS: frozenset[TargetKind] = frozenset({"count", "positive", "real"})

IN_WORDS: Mapping[TargetKind, str] = {
    "binary": "two classes",
    "classes": "classes",
    "ordinal": "ordered classes",
    "count": "counts",
    "positive": "amounts above 0",
    "real": "numbers",
}

# decided by a column's type, never by its values, so that all blocks of a table agree
# a word is a sparse column: how often it occurs in a document
ColumnKind = Literal["number", "boolean", "category", "word", "date", "other"]
FEATURE_KINDS: frozenset[ColumnKind] = frozenset({"number", "boolean", "category", "word"})  # as is


def order_with_positive(
    positive: Any, order: Sequence[Any] | None, kind: TargetKind | None
) -> Sequence[Any] | None:
    """The order of classes; a positive class is an order of one, beside no other order or kind.

    >>> order_with_positive("yes", None, "binary"), order_with_positive(None, None, "count")
    (('yes',), None)
    """
    if positive is None:
        return order
    if order is not None:
        raise InvalidInput(
            f"An order of classes and the positive class {positive!r} were given; an order is of "
            "ordinal targets, and one of two classes is the positive one. Leave one of them out, "
            "order (--order) or positive (--positive)."
        )
    if kind not in (None, "binary"):
        raise InvalidInput(
            f"The positive class {positive!r} and the kind {kind!r} were given; only one of two "
            "classes is the positive one. Leave one of them out, positive (--positive) or kind "
            "(--kind)."
        )
    return (positive,)


def kinds_in_order(kinds: Iterable[TargetKind]) -> list[TargetKind]:
    """The kinds of target in the order of ``TARGET_KINDS``."""
    return [kind for kind in TARGET_KINDS if kind in kinds]


def target_in_words(kind: TargetKind | None, n_classes: int | None) -> str:
    """The kind of a target in words, with the number of its classes; None is an unknown kind.

    >>> target_in_words("ordinal", 5), target_in_words("count", None), target_in_words(None, None)
    ('5 ordered classes', 'counts', 'numbers')
    """
    if n_classes is None:
        return IN_WORDS[kind or "real"]
    classes = ("ordered class", "ordered classes") if kind == "ordinal" else ("class", "classes")
    return count(n_classes, *classes)


def kinds_in_words(kinds: Collection[TargetKind]) -> str:
    """The targets that a model is for.

    >>> kinds_in_words({"ordinal"}), kinds_in_words(CLASS_KINDS), kinds_in_words(())
    ('ordered classes', 'classes', 'no target')
    """
    if len(kinds) == 1:
        return IN_WORDS[next(iter(kinds))]
    classes = ["classes"] if CLASS_KINDS.intersection(kinds) else []
    numbers = ["numbers"] if NUMBER_KINDS.intersection(kinds) else []
    return " or ".join(classes + numbers) or "no target"


def kinds_unlike(kinds: Collection[TargetKind], other: TargetKind) -> str:
    """The targets that a model is for, in words that distinguish them from another kind.

    >>> kinds_unlike(NUMBER_KINDS, "binary"), kinds_unlike({"count", "positive"}, "real")
    ('numbers', 'counts or amounts above 0')
    """
    family = CLASS_KINDS if other in CLASS_KINDS else NUMBER_KINDS
    if family.isdisjoint(kinds):
        return kinds_in_words(kinds)
    return all_listed([IN_WORDS[kind] for kind in kinds_in_order(kinds)], "or")


def task_in_words(kind: TargetKind) -> str:
    """``classification, two classes``; ``regression, counts``: the task of a kind of target.

    >>> task_in_words("ordinal"), task_in_words("real")
    ('classification, ordered classes', 'regression')
    """
    name = "classification" if kind in CLASS_KINDS else "regression"
    return name if kind in ("classes", "real") else f"{name}, {IN_WORDS[kind]}"
