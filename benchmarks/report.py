"""What a benchmark found: rows of ours against theirs, with goals that are met or missed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, final

from benchmarks.machine import environment

AGREEMENT = 1e-9  # of answers, relative: the same objective to rounding


@final
@dataclass(frozen=True)
class Goal:
    """A bound from the list of goals: on the ratio (at least) or on our figure (at most)."""

    on: Literal["ratio", "ours"]
    bound: float
    text: str

    def reached(self, ours: float, ratio: float | None) -> bool:
        if self.on == "ours":
            return ours <= self.bound
        return ratio is not None and ratio >= self.bound


def times_faster(factor: float) -> Goal:
    return Goal("ratio", factor, f"≥ {factor:g}×")


def at_most(bound: float, unit: str) -> Goal:
    return Goal("ours", bound, f"≤ {bound:g} {unit}")


@final
@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement.  Answers are objective values; gaps are how far they lie above the best.

    With a ``target`` our answer counts if its gap is within it.  Without, both answers have to
    agree.
    """

    work: str
    peer: str = ""  # where a benchmark has several
    ours: float
    theirs: float | None = None
    unit: str = "s"
    our_answer: float | None = None
    their_answer: float | None = None
    our_gap: float | None = None  # (f − f*) / max(1, |f*|)
    their_gap: float | None = None
    target: float | None = None  # for the gaps
    passes: float | None = None  # of ours over all the data
    our_peak: float | None = None  # bytes
    their_peak: float | None = None
    our_first_call: float | None = None  # seconds, nothing compiled on disk
    their_first_call: float | None = None
    goal: Goal | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times faster (or smaller) we are."""
        if self.theirs is None or self.ours <= 0:
            return None
        return self.theirs / self.ours

    @property
    def difference(self) -> float | None:
        if self.our_answer is None or self.their_answer is None:
            return None
        return self.our_answer - self.their_answer

    @property
    def same_answer(self) -> bool:
        if self.target is not None:
            return self.our_gap is not None and self.our_gap <= self.target
        if self.difference is None or self.their_answer is None:
            return True
        return abs(self.difference) <= AGREEMENT * max(1.0, abs(self.their_answer))

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; an answer to an easier problem never reaches it.

        None where there is nothing to compare with.
        """
        if self.goal is None or (self.goal.on == "ratio" and self.theirs is None):
            return None
        return self.same_answer and self.goal.reached(self.ours, self.ratio)


@final
@dataclass(frozen=True)
class Report:
    """All that one benchmark says."""

    title: str
    claim: str  # what is computed by both sides, and how it is measured
    rows: Sequence[Row]
    theirs: str = "scikit-learn"
    answer: str = "log-likelihood, nats per row"
    sizes: Mapping[str, Any] | None = None

    def as_json(self, name: str, shrink: int) -> dict[str, Any]:
        rows = [
            {
                **asdict(row),
                "ratio": row.ratio,
                "difference": row.difference,
                "same_answer": row.same_answer,
                "met": row.met,
            }
            for row in self.rows
        ]
        return {
            "name": name,
            "title": self.title,
            "claim": self.claim,
            "theirs": self.theirs,
            "answer": self.answer,
            "sizes": dict(self.sizes or {}),
            "shrink": shrink,
            "environment": environment(),
            "rows": rows,
        }
