"""What a target is and what a column is: the two vocabularies; imports nothing heavy."""

from collections.abc import Iterable
from typing import Literal, get_args

TargetKind = Literal["binary", "classes", "ordinal", "count", "positive", "real"]

TARGET_KINDS: tuple[TargetKind, ...] = get_args(TargetKind)
CLASS_KINDS: frozenset[TargetKind] = frozenset({"binary", "classes", "ordinal"})
NUMBER_KINDS: frozenset[TargetKind] = frozenset({"count", "positive", "real"})

# decided by a column's type, never by its values, so that all blocks of a table agree
ColumnKind = Literal["number", "boolean", "category", "date", "other"]
FEATURE_KINDS: frozenset[ColumnKind] = frozenset({"number", "boolean", "category"})  # as they are


def kinds_in_order(kinds: Iterable[TargetKind]) -> list[TargetKind]:
    """The kinds of target in the order of ``TARGET_KINDS``."""
    return [kind for kind in TARGET_KINDS if kind in kinds]
