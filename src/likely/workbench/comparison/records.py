"""Saved comparisons and curves, in a SEAL or in a RUN: lists that each command extends.

Comparisons of the same rows, columns, weights, classes, folds and metric are one table.  A model
that was compared twice appears once, with its newest score; the paired tests and the order are
recomputed from the scores of the folds, so that a small comparison does not replace a larger one.

A curve of the same model and weights along the same axis replaces the previous one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from likely.errors import CannotWrite
from likely.metrics.numbers import LogLikelihood
from likely.storage.files import lock
from likely.storage.json import plain, read_json, write_json
from likely.workbench.models.registry import BASELINE
from likely.workbench.scoring.paired import standings

COMPARISONS, CURVES = "comparison.json", "curve.json"
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
    "roles",
    "columns",
    "categories",  # declared
)

Record = Mapping[str, Any]


def comparisons_in(folder: Path) -> tuple[Record, ...]:
    """The comparisons that a folder holds."""
    return _list_in(folder / COMPARISONS)


def curves_in(folder: Path) -> tuple[Record, ...]:
    """The curves that a folder holds."""
    return _list_in(folder / CURVES)


def keep_comparison(folder: Path, facts: Record) -> tuple[Path, ...]:
    """Add a comparison to those of a folder; the file, or none if the folder is not writable."""
    path = folder / COMPARISONS
    return _keep(path, lambda: joined_comparisons(comparisons_in(folder), (facts,)))


def keep_curve(folder: Path, facts: Record) -> tuple[Path, ...]:
    """Add a curve to those of a folder; the file, or none if the folder is not writable."""
    return _keep(folder / CURVES, lambda: joined_curves(curves_in(folder), (facts,)))


def kept_files(folder: Path) -> dict[str, bytes]:
    """The comparisons and curves saved in a folder, by the name of their file."""
    paths = (folder / name for name in (COMPARISONS, CURVES))
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def joined_comparisons(*lists: Iterable[Record]) -> tuple[Record, ...]:
    """All comparisons, the newest last; those on the same folds by the same metric are one."""
    found: dict[tuple[str, ...], Record] = {}
    for each in (comparison for comparisons in lists for comparison in comparisons):
        about = (Path(str(each.get("data"))).name, *(str(each.get(key)) for key in SAME))
        before = found.pop(about, None)  # so that the newest is the last
        found[about] = each if before is None else _joined(before, each)
    return tuple(found.values())


def joined_curves(*lists: Sequence[Record]) -> tuple[Record, ...]:
    """All curves; of several with the same model, rows, weights and axis, the last.

    A curve of a run has the settings of the run, so no other replaces it.
    """
    found: dict[tuple[str, ...], Record] = {}
    for each in (curve for curves in lists for curve in curves):
        about = tuple(str(each.get(key)) for key in ("target", "model", "of", "run", "roles"))
        found[(Path(str(each.get("data"))).name, *about)] = each
    return tuple(found.values())


def models_in(comparisons: Iterable[Record]) -> list[str]:
    """Every model that was compared, without the constant, in order."""
    names = (str(entry["model"]) for each in comparisons for entry in each["models"])
    return [name for name in dict.fromkeys(names) if name != BASELINE]


def _keep(path: Path, joined: Callable[[], Sequence[Record]]) -> tuple[Path, ...]:
    """Write the result of ``joined``; with two commands at once, one waits."""
    try:
        with lock(path.parent):
            return (write_json(path, joined()),)
    except CannotWrite:
        return ()


def _list_in(path: Path) -> tuple[Record, ...]:
    """The records of a file that may hold one or many."""
    found = read_json(path)
    if found is None:
        return ()
    return tuple(found) if isinstance(found, list) else (found,)


def _joined(before: Record, after: Record) -> Record:
    entries = {str(each["model"]): each for each in (*before["models"], *after["models"])}
    ranked = _ranked(entries, after)
    slow = (name for each in (before, after) for name in each.get("left_out") or ())
    left_out = [name for name in dict.fromkeys(slow) if name not in entries]
    reference = after.get("reference") or before.get("reference")
    best = ranked[0]["model"]
    found = {"models": ranked, "best": best, "left_out": left_out, "reference": reference}
    return {**after, **found}


def _ranked(entries: Mapping[str, Record], about: Record) -> list[Record]:
    """The best first, those that failed last, each tested against the best and the constant."""
    failed = [each for each in entries.values() if each.get("problem")]
    scored = {name: each for name, each in entries.items() if not each.get("problem")}
    order = standings(
        {
            name: np.array([_nan_if_null(score) for score in each["folds"]])
            for name, each in scored.items()
        },
        {name: _nan_if_null(each["value"]) for name, each in scored.items()},
        better=about["better"],
        baseline=BASELINE,
        test_per_train=float(about.get("test_per_train") or 1 / (int(about["folds"]) - 1)),
        never_best=[name for name, each in scored.items() if each.get("worse_by")],
        r2={
            name: _nan_if_null((each.get("others") or {}).get("r2"))
            for name, each in scored.items()
        }
        if about["metric"] == LogLikelihood.name
        else None,
    )
    tested = [
        {
            **entries[each.name],
            "against_best": each.against_best and plain(each.against_best._asdict()),
            "against_baseline": each.against_baseline and plain(each.against_baseline._asdict()),
        }
        for each in order
    ]
    return [*tested, *failed]


def _nan_if_null(score: float | None) -> float:
    """The score, or NaN where JSON has null."""
    return nan if score is None else score
