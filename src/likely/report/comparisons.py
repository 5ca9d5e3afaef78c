"""Comparisons that were kept, joined: of the same rows, classes, folds and metric they are one
table.

A model that was compared twice is there once, as it was last scored; the paired tests and the order
are made again from the scores of the folds, so that a small comparison after a large one hides
nothing of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np

from likely._typing import Array
from likely.workbench.models import BASELINE
from likely.workbench.paired import corrected_test

SAME = (
    "rows",
    "target",
    "kind",
    "classes",  # in their order
    "metric",
    "folds",
    "repeats",
    "seed",
    "group",
    "by_time",
)

Record = Mapping[str, Any]


def joined_comparisons(*lists: Iterable[Record]) -> tuple[Record, ...]:
    """All of them, the newest last; those on the same folds by the same metric are one."""
    found: dict[tuple[str, ...], Record] = {}
    for each in (comparison for comparisons in lists for comparison in comparisons):
        about = (Path(str(each.get("data"))).name, *(str(each.get(key)) for key in SAME))
        before = found.pop(about, None)  # so that the newest is the last
        found[about] = each if before is None else _joined(before, each)
    return tuple(found.values())


def models_in(comparisons: Iterable[Record]) -> list[str]:
    """Every model that was compared, without the constant, as they came."""
    names = (str(entry["model"]) for each in comparisons for entry in each["models"])
    return [name for name in dict.fromkeys(names) if name != BASELINE]


def _joined(before: Record, after: Record) -> Record:
    entries = {str(each["model"]): each for each in (*before["models"], *after["models"])}
    ranked = _ranked(list(entries.values()), after)
    tried = set(entries)
    slow = (name for each in (before, after) for name in each.get("left_out") or ())
    left_out = [name for name in dict.fromkeys(slow) if name not in tried]
    return {**after, "models": ranked, "best": ranked[0]["model"], "left_out": left_out}


def _ranked(entries: Sequence[Record], about: Record) -> list[Record]:
    """The best first, those that failed last, each tested against the best and the constant."""
    sign = 1 if about["better"] == "lower" else -1
    failed = [each for each in entries if each.get("problem")]
    scored = sorted(
        (each for each in entries if not each.get("problem")),
        key=lambda each: sign * _known(each["value"], sign * inf),
    )
    constant = next((each for each in scored if each["model"] == BASELINE), None)
    ratio = float(about.get("test_per_train") or 1 / (int(about["folds"]) - 1))
    tested = [
        {
            **each,
            "against_best": _test(each, scored[0], ratio),
            "against_baseline": _test(each, constant, ratio),
        }
        for each in scored
    ]
    return [*tested, *failed]


def _test(each: Record, other: Record | None, ratio: float) -> dict[str, Any] | None:
    if other is None or each["model"] == other["model"]:
        return None
    gap = _folds(each) - _folds(other)
    if not np.isfinite(gap).all():
        return None
    return corrected_test(gap, test_per_train=ratio)._asdict()


def _folds(each: Record) -> Array:
    """The score of each fold; what JSON has not is no number."""
    return np.array([_known(value, nan) for value in each["folds"]], dtype=np.float64)


def _known(value: Any, otherwise: float) -> float:
    return otherwise if value is None or value != value else float(value)
