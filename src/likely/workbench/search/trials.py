"""The trials of a search, and the folder in which they are saved.

    study.json        the definition: model, space, search, folds, seed, a hash of the data; written
                      once, and again where the budget is raised
    trials.jsonl      one line per trial, in order
    added.jsonl       one line per trial that was added by hand
    outer.jsonl       one line per outer fold of a nested study
    outer-0/ …        trials.jsonl of the search inside each outer fold

A study continues where it stopped.  A folder with another definition is refused.  A log is an
append-only file of JSON lines: an incomplete last line is removed when the log
is opened again, and the trial is run again.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypeVar, final

from likely.errors import InvalidFile, InvalidInput
from likely.numerics.intervals import Estimate
from likely.spaces import Parameters
from likely.storage.files import alone_in, append_line, make_folder, write_atomically

E = TypeVar("E")
FORMAT = 1
QUESTION, TRIALS, OUTER = "study.json", "trials.jsonl", "outer.jsonl"
ADDED = "added.jsonl"
BUDGET = "budget"  # may differ from one run to the next


class Proposal(NamedTuple):
    """Settings to be tried, with the share of the training rows to try them on."""

    number: int  # of the trial, from 0
    parameters: Parameters
    share: float = 1.0

    @property
    def key(self) -> str:
        """Equal for equal settings on the same rows; a tuple equals a list read from a file."""
        return json.dumps([self.parameters, self.share], sort_keys=True)


class TrialScore(NamedTuple):
    """The score of some settings."""

    estimate: Estimate  # of all held-out rows together
    per_fold: tuple[float, ...]
    seconds: float
    warnings: tuple[str, ...] = ()


class Objective(Protocol):
    """The objective of a search: a score of settings, on a share of the training rows."""

    def evaluate(self, parameters: Mapping[str, Any], *, share: float = 1.0) -> TrialScore: ...


@final
@dataclass(frozen=True)
class Trial:
    """A proposal and its result; ``problem`` says why there is no score of all folds."""

    number: int
    parameters: Parameters
    share: float
    score: TrialScore | None
    problem: str = ""
    elapsed: float = field(default=0.0, compare=False)  # seconds of search until it had ended
    partial: tuple[float, ...] = ()  # the scores of its folds, where it was stopped as unpromising

    @property
    def value(self) -> float:
        """The score, nan where there is none."""
        return self.score.estimate.value if self.score is not None else nan

    @property
    def stopped(self) -> bool:
        """Whether it was stopped after some of the folds, as unpromising."""
        return bool(self.partial)

    @property
    def per_fold(self) -> tuple[float, ...]:
        """The score of each fold that was computed; none for a trial that failed."""
        return self.partial if self.score is None else self.score.per_fold

    @property
    def proposal(self) -> Proposal:
        return Proposal(self.number, self.parameters, self.share)

    def answers(self, proposal: Proposal) -> bool:
        """Whether it is the trial of that proposal."""
        return self.number == proposal.number and self.proposal.key == proposal.key

    def to_line(self) -> str:
        record: dict[str, Any] = {
            "n": self.number,
            "parameters": self.parameters,
            "share": self.share,
            "elapsed": round(self.elapsed, 6),
        }
        if self.score is None:
            record["problem"] = self.problem
            if self.partial:
                record["partial"] = [number_text(x) for x in self.partial]
        else:
            record |= {
                **estimate_record(self.score.estimate),
                "folds": [number_text(x) for x in self.score.per_fold],
                "seconds": round(self.score.seconds, 6),
                "warnings": list(self.score.warnings),
            }
        return json.dumps(record, sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> Self:
        record = json.loads(line)
        score = None
        if "problem" not in record:
            score = TrialScore(
                estimate_of(record),
                per_fold=tuple(float(x) for x in record["folds"]),
                seconds=record["seconds"],
                warnings=tuple(record["warnings"]),
            )
        return cls(
            record["n"],
            record["parameters"],
            record["share"],
            score,
            record.get("problem", ""),
            record["elapsed"],
            tuple(float(x) for x in record.get("partial", ())),
        )


class TrialLog:
    """Trials by number, in memory and, where there is a path, in an append-only file."""

    def __init__(self, path: Path | None = None, past: Iterable[Trial] = ()) -> None:
        self.path = path
        self.trials = {trial.number: trial for trial in past}
        if path is not None and path.exists():
            problem = (
                "this is not a trial; expected the JSON line that tune wrote. Put the line back as "
                "it was, or start a study in another folder."
            )
            read = entries_of(path, Trial.from_line, problem)
            self.trials |= {trial.number: trial for trial in read}

    def append(self, trial: Trial) -> None:
        """Keep a trial; it is on disk when this returns."""
        if self.path is not None:
            append_line(self.path, trial.to_line())
        self.trials[trial.number] = trial

    @property
    def elapsed(self) -> float:
        """Seconds that the trials took, over all runs of the search."""
        return max((trial.elapsed for trial in self.trials.values()), default=0.0)


def entries_of(path: Path, parse: Callable[[str], E], problem: str) -> list[E]:
    """The entries of a log of JSON lines; an incomplete last line is removed."""
    whole, newline, cut = path.read_bytes().rpartition(b"\n")
    if cut:  # killed in the middle of a line: that entry is incomplete
        write_atomically(path, whole + newline)
    found = []
    # not ``splitlines``, which would also cut at the line separators inside a value
    for place, line in enumerate(whole.decode().split("\n") if whole else [], start=1):
        try:
            found.append(parse(line))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile(path, problem, line=place) from error
    return found


def column_of(values: Sequence[Any]) -> Any:
    """Settings as a column: numbers as floats, nan where unused; anything else as text."""
    import numpy as np  # here: the command line imports this module for --help

    numbers = all(value is None or isinstance(value, int | float) for value in values)
    if numbers and not any(isinstance(value, bool) for value in values):
        return np.array([nan if value is None else value for value in values], dtype=np.float64)
    return np.array([None if value is None else str(value) for value in values], dtype=object)


def estimate_record(found: Estimate) -> dict[str, Any]:
    """As every score is written, but exact where it is infinite or NaN."""
    ends = [number_text(found.low), number_text(found.high)]
    value, baseline = number_text(found.value), number_text(found.baseline)
    return {"value": value, "interval": ends, "baseline": baseline}


def estimate_of(record: Mapping[str, Any]) -> Estimate:
    """Read what ``estimate_record`` wrote."""
    low, high = record["interval"]
    return Estimate(*map(float, (record["value"], low, high, record["baseline"])))


def number_text(x: float) -> float | str:
    """The number, or its text where it is infinite or NaN: JSON has neither."""
    return float(x) if isfinite(x) else str(float(x))


@final
@dataclass(frozen=True)
class StudyFolder:
    """The paths of a study; None keeps everything in memory."""

    path: Path | None

    @property
    def trials(self) -> Path | None:
        return self.path and self.path / TRIALS

    @property
    def added(self) -> Path | None:
        return self.path and self.path / ADDED

    @property
    def outer(self) -> Path | None:
        return self.path and self.path / OUTER

    def inner(self, fold: int) -> Path | None:
        """The trials of the search inside an outer fold, in a folder that exists."""
        return self.path and make_folder(self.path / f"outer-{fold}") / TRIALS

    def alone(self) -> AbstractContextManager[None]:
        """A lock: no other process or thread works on the study in the block."""
        return nullcontext() if self.path is None else alone_in(make_folder(self.path))

    def begin(self, question: Mapping[str, Any]) -> None:
        """Write the definition, or check that it equals that of the folder."""
        if self.path is None:
            return
        file = make_folder(self.path) / QUESTION
        question = json.loads(json.dumps({"format": FORMAT, **question}))  # tuples become lists
        if file.exists():
            earlier = read_question(self.path)
            _check_same(file, earlier, question)
            if earlier == question:
                return
        elif (self.path / TRIALS).exists():
            raise InvalidFile(
                file,
                f"it is missing from the folder of {TRIALS}. Put it back, or use another folder.",
            )
        write_atomically(file, (json.dumps(question, indent=1, sort_keys=True) + "\n").encode())


def read_question(folder: Path) -> dict[str, Any]:
    """The definition in ``study.json`` of a folder."""
    file = folder / QUESTION
    if not file.exists():
        raise InvalidInput(
            f"{folder} holds no {QUESTION}; expected the folder of a study. Run tune."
        )
    try:
        question: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        known = question["format"] == FORMAT
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidFile(file, f"it cannot be read ({error}). Use another folder.") from None
    if not known:
        raise InvalidFile(
            file,
            f"its format is {question['format']!r} and this version writes {FORMAT}. "
            "Use another folder, or the version that wrote it.",
        )
    return question


def _check_same(file: Path, earlier: Mapping[str, Any], question: Mapping[str, Any]) -> None:
    for name in sorted(earlier.keys() | question.keys()):
        if name == BUDGET or earlier.get(name) == question.get(name):
            continue
        was, now = (_short(each.get(name)) for each in (earlier, question))
        raise InvalidInput(
            f"The study in {file.parent} has {name} = {was}; now it is {now}. The settings of a "
            "study are fixed: use the same settings to continue it, or use another folder."
        )


def _short(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 60 else text[:57] + "…"
