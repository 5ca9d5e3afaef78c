"""How far an answer of inference may be from the exact one.

    log P(e) = log Z(e) − log Z        of an upper bound and an exact number: an upper bound

A difference of two bounds in the same direction bounds nothing, and is refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import hypot, nan
from typing import Literal, final

from likely._typing import Array
from likely.errors import NotAnswered, UnconvergedAnswer, warn_user
from likely.output.formatting import number

Bound = Literal["exact", "upper", "lower", "estimate", "none"]  # what a number is to the exact one
OPPOSITE: Mapping[Bound, Bound] = {"upper": "lower", "lower": "upper"}
WORDS: Mapping[Bound, str] = {
    "exact": "exact",
    "upper": "upper bound",
    "lower": "lower bound",
    "estimate": "estimate",
    "none": "not known",
}


@final
@dataclass(frozen=True, eq=False)
class Exactness:
    """Whether an answer is exact, how far off it may be, and how the method got there.

    An answer that is not exact knows nothing of log Z(e) unless its ``bound`` says what it knows.
    """

    exact: bool = True
    converged: bool = True
    bound: Bound = "exact"  # of log Z(e)
    log_partition_error: float | None = None  # its standard error; None where it is not known
    errors: Mapping[tuple[str, ...], Array] = field(default_factory=dict)
    """Standard errors of marginals and joints, by the names of their variables."""
    report: Mapping[str, object] = field(default_factory=dict)
    """Diagnostics by name, such as the number of sweeps or the effective sample size."""

    def __post_init__(self) -> None:
        if self.bound == "exact":
            object.__setattr__(self, "bound", "exact" if self.exact else "none")
            object.__setattr__(self, "log_partition_error", 0.0 if self.exact else None)

    def without_log_partition(self) -> "Exactness":
        """The same of an answer that has no log Z(e)."""
        return replace(self, bound="none", log_partition_error=None)

    def mark(self, method: str) -> str:
        """How an answer that is not exact is marked: "gibbs", or "gibbs, not converged"."""
        return method if self.converged else f"{method}, not converged"

    def sentence(self, method: str) -> str:
        """What a person reads below an answer that is not exact."""
        largest = [float(table.max()) for table in self.errors.values() if table.size]
        parts = [f"Approximate, by {self.mark(method)}"]
        if largest:
            parts.append(f"standard errors up to {number(max(largest))}")
        parts += [
            f"{name} {number(value) if isinstance(value, float) else value}"
            for name, value in self.report.items()
        ]
        return "; ".join(parts) + "."

    def warn(self, method: str) -> None:
        """Warn the caller of a public query whose method has not converged."""
        if not self.converged:
            warn_user(
                f"The answer by method={method!r} has not converged; one that has settled was "
                "expected. Give it more time (seconds=), other settings (options=), or use an "
                "exact method such as method='junction-tree'.",
                UnconvergedAnswer,
            )


EXACT = Exactness()
OF_METHOD = Exactness()  # of an answer that does not say: it is as exact as its method
NOT_STATED = Exactness(False, bound="estimate")  # of such an answer by a method that is not exact


@final
class LogPartition(float):
    """log Z(e), or a difference of two: a number that says whether it is exact.

    It is a float; one that is not exact shows its error and what it is to the exact number.
    """

    exactness: Exactness

    def __new__(cls, value: float, exactness: Exactness = EXACT) -> "LogPartition":
        made = super().__new__(cls, value)
        made.exactness = exactness
        return made

    @classmethod
    def of(cls, value: float) -> "LogPartition":
        """A number as it is; one that says nothing of its exactness is exact."""
        return value if isinstance(value, cls) else cls(value)

    @property
    def exact(self) -> bool:
        return self.bound == "exact"

    @property
    def bound(self) -> Bound:
        """What it is to the exact number: "exact", "upper", "lower", "estimate" or "none"."""
        return self.exactness.bound

    @property
    def standard_error(self) -> float | None:
        """None where it is not known."""
        return self.exactness.log_partition_error

    def minus(self, other: "LogPartition") -> "LogPartition":
        """The difference and what it is; refused where it bounds nothing."""
        mine, theirs = self.bound, OPPOSITE.get(other.bound, other.bound)
        if mine == "exact" or theirs == "exact":
            bound = theirs if mine == "exact" else mine
        elif mine == theirs:
            bound = mine
        else:
            bound = "none"
        if bound == "none":
            raise NotAnswered(
                f"The difference of two numbers was asked for, of which one is {WORDS[mine]} and "
                f"the other {WORDS[other.bound]}; it bounds nothing. Use log_partition of each, "
                "or an exact method such as method='junction-tree'."
            )
        both = (self.standard_error, other.standard_error)
        error = None if None in both else hypot(*(each or 0.0 for each in both))
        exactness = Exactness(
            bound == "exact",
            self.exactness.converged and other.exactness.converged,
            bound,
            error,
        )
        return LogPartition(float(self) - float(other), exactness)

    def __repr__(self) -> str:
        if self.exact:
            return float.__repr__(self)
        error = "" if self.standard_error is None else f" ± {number(self.standard_error)}"
        return f"{number(float(self))}{error} ({WORDS[self.bound]})"

    def __getnewargs__(self) -> tuple[float, Exactness]:  # type: ignore[override] # with exactness
        return float(self), self.exactness


RowExactness = tuple[Exactness, ...] | None  # of each row of a table; None where all are exact

NOT_KNOWN = LogPartition(nan, Exactness(False))


def marked_columns(
    marks: Sequence[str | None], taken: Iterable[str]
) -> dict[str, Sequence[str | None]]:
    """A column that marks rows which are not exact, under a name that no other column has."""
    name, names = "approximate", set(taken)
    while name in names:
        name += "_"
    return {name: marks} if any(marks) else {}
