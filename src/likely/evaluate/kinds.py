"""The kinds of task, and which of them are about classes; imports nothing heavy."""

from typing import Literal, get_args

Kind = Literal["binary", "classes", "ordinal", "count", "positive", "real"]

KINDS: tuple[Kind, ...] = get_args(Kind)
CLASS_KINDS: frozenset[Kind] = frozenset({"binary", "classes", "ordinal"})
NUMBER_KINDS: frozenset[Kind] = frozenset({"count", "positive", "real"})
