"""What a target is, and which kinds of target have classes; imports nothing heavy."""

from typing import Literal, get_args

TargetKind = Literal["binary", "classes", "ordinal", "count", "positive", "real"]

TARGET_KINDS: tuple[TargetKind, ...] = get_args(TargetKind)
CLASS_KINDS: frozenset[TargetKind] = frozenset({"binary", "classes", "ordinal"})
NUMBER_KINDS: frozenset[TargetKind] = frozenset({"count", "positive", "real"})
