"""One trial of a search, and the log that keeps trials on disk as they end.

A log is a file of JSON lines that only grows.  A line that a kill cut short is no trial: it is
taken off when the log is opened again, and the trial is run again.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypeVar, final

import numpy as np

from likely.errors import InvalidFile
from likely.files import append_line, write_atomically
from likely.spaces import Parameters

E = TypeVar("E")


class Proposal(NamedTuple):
    """Settings to be tried, with the share of the training rows to try them on."""

    number: int  # of the trial, from 0
    parameters: Parameters
    share: float = 1.0

    @property
    def key(self) -> str:
        """The same for the same settings on the same rows; a tuple is the list it is in a file."""
        return json.dumps([self.parameters, self.share], sort_keys=True)


class TrialScore(NamedTuple):
    """What an objective says of some settings, with the ends of its interval."""

    mean: float  # the score of all held-out rows together
    per_fold: tuple[float, ...]
    seconds: float
    low: float = nan
    high: float = nan
    warnings: tuple[str, ...] = ()


class Objective(Protocol):
    """What a search improves: a score of settings, on a share of the training rows."""

    def evaluate(self, parameters: Mapping[str, Any], *, share: float = 1.0) -> TrialScore: ...


@final
@dataclass(frozen=True)
class Trial:
    """A proposal and how it went; ``problem`` says why there is no score."""

    number: int
    parameters: Parameters
    share: float
    score: TrialScore | None
    problem: str = ""
    elapsed: float = field(default=0.0, compare=False)  # seconds of search until it had ended

    @property
    def mean(self) -> float:
        """The score, nan where there is none."""
        return self.score.mean if self.score is not None else nan

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
        else:
            record |= {
                "mean": number_text(self.score.mean),
                "folds": [number_text(x) for x in self.score.per_fold],
                "low": number_text(self.score.low),
                "high": number_text(self.score.high),
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
                mean=float(record["mean"]),
                per_fold=tuple(float(x) for x in record["folds"]),
                seconds=record["seconds"],
                low=float(record["low"]),
                high=float(record["high"]),
                warnings=tuple(record["warnings"]),
            )
        return cls(
            record["n"],
            record["parameters"],
            record["share"],
            score,
            record.get("problem", ""),
            record["elapsed"],
        )


class TrialLog:
    """Trials by number, in memory and, where there is a path, in a file that only grows."""

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
        """Seconds of search that the trials took, over all sittings."""
        return max((trial.elapsed for trial in self.trials.values()), default=0.0)


def entries_of(path: Path, parse: Callable[[str], E], problem: str) -> list[E]:
    """The entries of a log of JSON lines; what a kill has cut short is taken off the file."""
    whole, newline, cut = path.read_bytes().rpartition(b"\n")
    if cut:  # a kill in the middle of a line: that entry had not ended
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
    """Numbers as floats, nan where idle; anything else as it prints."""
    numbers = all(value is None or isinstance(value, int | float) for value in values)
    if numbers and not any(isinstance(value, bool) for value in values):
        return np.array([nan if value is None else value for value in values], dtype=np.float64)
    return np.array([None if value is None else str(value) for value in values], dtype=object)


def number_text(x: float) -> float | str:
    """JSON has no infinities."""
    return float(x) if isfinite(x) else str(float(x))
