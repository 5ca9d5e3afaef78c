"""What a RUN folder holds for the report.  Every file but ``run.json`` may be absent.

run.json            written by ``train``, ``tune`` and whatever else leaves a model:
    command, seed, time, model, parameters, target, columns, classes, versions
    data            {name, sha256, rows}
    scores          ``Score.to_json()`` of the rows that were held out, or null
    task            {kind, reason}                                          (optional)
    group, by_time  the column by which rows were held out, or null         (optional)
    seal            {path, name, looks, budget, judge, rows, count, head}   (optional) of the sealed
                    folder that the data came from: count and head are those of its ledger when
                    the RUN was written, so that a cut tail shows
look.json           ``Look.facts()``
comparison.json     a list of ``Comparison.facts()``, or one; with those in the sealed folder.  On
                    the same folds by the same metric they are one, and the newest of a model wins
curve.json          ``Curve.facts()``, or a list of them; with those in the sealed folder, which are
                    newer.  Each may have ``chosen`` (an x), ``constant`` (the best constant's
                    score) and ``run`` (the name of the run whose settings it has)
study.json          {model, metric, better, search, trials: [{number, parameters, mean, low, high,
                    seconds}], best, constant, nested: {value, low, high} or null}
final.json          the fields of ``FinalScore`` but ``model``; the newest look
validation.parquet  one row per row of the training data that was held out once:
    row             its place in the training data, from 0
    fold            the fold that held it out
    truth           the code of its class, or the number
    log_p_0 …       log p of each class, in the order of ``classes``
    mean            of numbers: what was predicted
    log_density     of numbers: log p(y | x); absent where a model has none
    pit             of numbers: where y lies in what was predicted, in (0, 1); may be absent
    weight          how much the row counts; absent where all count the same
validation.json     kind, target, classes, seed, by_time, rows, and
    score           ``Score.to_json()`` of all rows held out, as in run.json
    surprising      [{row, truth, said, loss, cells: {column: value}}], the largest loss first
    moved           whether offsets move the best constant
    identifier      the column that names rows, or null

``validation.write`` writes the last two from training rows that were held out, so no sealed row can
be among them.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from likely.errors import BrokenLedger, InvalidFile, InvalidInput
from likely.report.comparisons import joined_comparisons
from likely.report.validation import Validation, read_validation

RUN, LOOK, COMPARISON, CURVE = "run.json", "look.json", "comparison.json", "curve.json"
STUDY, FINAL = "study.json", "final.json"
PARTING = {"group": "--group", "by_time": "--by-time"}
SCORING = ("compare", "tune")  # verbs that take these options

Record = Mapping[str, Any]


@final
@dataclass(frozen=True)
class LedgerFacts:
    """The ledger of the seal that a run came from, and whether it is as it was written."""

    name: str
    sound: bool
    problems: tuple[str, ...]
    entries: tuple[Record, ...]
    head: str
    budget: int
    judge: str
    n_test: int

    @property
    def looks(self) -> int:
        return sum(entry["event"] == "commit" for entry in self.entries)


@final
@dataclass(frozen=True, eq=False)
class RunFacts:
    """All that is known about a run; None is what its folder does not hold."""

    name: str
    run: Record
    look: Record | None = None
    comparisons: tuple[Record, ...] = ()
    curves: tuple[Record, ...] = ()
    study: Record | None = None
    validation: Validation | None = None
    final: Record | None = None
    ledger: LedgerFacts | None = None
    page: Record | None = None  # what ``likely explain --json`` says of the model
    steps: tuple[tuple[str, str], ...] = ()  # how each column was prepared
    n_iter: int | None = None  # the steps that the fit took
    path: str = "RUN"  # as a command names it

    def command(self, verb: str, *words: str) -> str:
        """``likely VERB DATA WORDS``, with the target where the data do not know it.

        What scores models holds rows out as this run did.
        """
        seal, data = self.run.get("seal"), self.run.get("data") or {}
        name = str(seal["path"] if seal and seal.get("path") else data.get("name", "DATA"))
        target = self.run.get("target")
        asked = [] if seal or target is None else ["--target", str(target)]
        for key, option in PARTING.items() if verb in SCORING else ():
            if self.run.get(key) is not None:
                asked += [option, str(self.run[key])]
        return shlex.join(["likely", verb, name, *words, *asked])


def read_run(
    folder: str | Path,
    *,
    page: Record | None = None,
    steps: Sequence[tuple[str, str]] = (),
    n_iter: int | None = None,
) -> RunFacts:
    """The facts in a RUN folder; the caller asks its model for ``page``, ``steps``, ``n_iter``."""
    place = Path(folder)
    run = read_json(place / RUN)
    if run is None:
        raise InvalidInput(
            f"{folder} has no {RUN}; a report tells how a model came about. Give a folder that "
            "likely train wrote, not a model file."
        )
    seal = _seal(place, run)
    places = (place,) if seal is None else (place, seal)
    return RunFacts(
        name=place.name or str(place),
        run=run,
        look=read_json(place / LOOK),
        comparisons=joined_comparisons(*map(comparisons_in, places)),
        curves=joined_curves(*map(curves_in, places)),
        study=read_json(place / STUDY),
        validation=read_validation(place),
        final=read_json(place / FINAL),
        ledger=None if seal is None else _ledger(seal, run["seal"]),
        page=page,
        steps=tuple((str(name), str(what)) for name, what in steps),
        n_iter=n_iter,
        path=place.name if place.is_absolute() else str(place),
    )


def read_json(path: Path) -> Any:
    """What the file says; None where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise InvalidFile(
            path, f"it cannot be read as JSON ({error}). Remove it, or run its command again."
        ) from None


def comparisons_in(folder: Path) -> tuple[Record, ...]:
    """The comparisons that a folder holds."""
    return _list_in(folder / COMPARISON)


def curves_in(folder: Path) -> tuple[Record, ...]:
    """The curves that a folder holds."""
    return _list_in(folder / CURVE)


def _list_in(path: Path) -> tuple[Record, ...]:
    """The records of a file that may hold one or many."""
    found = read_json(path)
    if found is None:
        return ()
    return tuple(found) if isinstance(found, list) else (found,)


def joined_curves(*lists: Sequence[Record]) -> tuple[Record, ...]:
    """All of them; of the same model, rows and axis the last.

    A curve of a run has the settings of the run, so no other takes its place.
    """
    found: dict[tuple[str, ...], Record] = {}
    for each in (curve for curves in lists for curve in curves):
        about = tuple(str(each.get(key)) for key in ("target", "model", "of", "run"))
        found[(Path(str(each.get("data"))).name, *about)] = each
    return tuple(found.values())


def _seal(place: Path, run: Record) -> Path | None:
    """The sealed folder that the run names, where it still is."""
    told = run.get("seal")
    if not told or not told.get("path"):
        return None
    given = Path(told["path"])
    near = (place, place.parent, place.parent.parent)
    places = (given, *(folder / given.name for folder in near))
    return next((path for path in places if path.is_dir()), None)


def _ledger(path: Path, seal: Record) -> LedgerFacts:
    from likely.sealing.folder import SealFolder

    folder = SealFolder(path)
    verdict = folder.ledger.verdict()
    try:
        manifest = folder.manifest
        entries = tuple(folder.ledger.entries()) if verdict.sound else ()
    except BrokenLedger as error:
        return LedgerFacts(path.name, False, (str(error),), (), verdict.head, 0, "", 0)
    problems = verdict.problems or _cut(seal, entries, verdict.head)
    return LedgerFacts(
        path.name,
        not problems,
        problems,
        entries,
        verdict.head,
        manifest.budget,
        manifest.judge,
        manifest.n_test,
    )


def _cut(seal: Record, entries: Sequence[Record], head: str) -> tuple[str, ...]:
    """Whether the ledger still goes on from the line that the run has written down."""
    count = seal.get("count")
    if count is None or seal.get("head") is None:
        return ()
    if count > len(entries):
        return (f"The run has seen {count} lines, and the ledger has {len(entries)}.",)
    then = head if count == len(entries) else entries[count]["previous"]
    if then != seal["head"]:
        return (f"Line {count - 1} of the ledger is not the one that the run has seen.",)
    return ()
