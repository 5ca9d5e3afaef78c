"""A labelled fit by both sides: time, objective, peak memory, and the price of the first call."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from benchmarks.child import Sizes, first_call, peak_of_fit, side
from benchmarks.problems import Labelled
from benchmarks.report import Goal, Row, at_most
from benchmarks.workbench import Work, best_of

COLD_JIT, WARM_JIT = 6.0, 0.5  # seconds: the goals for the first fit of a process


@final
@dataclass(frozen=True)
class Contest:
    """``fit`` and ``parameters`` name functions that the adapters of both sides have."""

    module: str  # the benchmark's, for child processes
    data: Callable[[Sizes], Labelled]
    fit: str
    parameters: str

    def prepare(self, name: str, sizes: Sizes) -> Work:
        return self._work(name, self.data(sizes))

    def row(self, work: str, sizes: Sizes, *, repeats: int, goal: Goal) -> Row:
        """Best times on fresh copies; both answers judged by the same function."""
        problem = self.data(sizes)
        best = best_of(
            repeats,
            {
                "theirs": lambda: self._work("theirs", problem.copy()),
                "ours": lambda: self._work("ours", problem.copy()),
            },
        )
        return Row(
            work=work,
            ours=best["ours"].seconds,
            theirs=best["theirs"].seconds,
            our_answer=self._value("ours", best["ours"].answer, problem),
            their_answer=self._value("theirs", best["theirs"].answer, problem),
            our_peak=peak_of_fit(self.module, "ours", sizes),
            their_peak=peak_of_fit(self.module, "theirs", sizes),
            goal=goal,
        )

    def first_fits(self, sizes: Sizes) -> list[Row]:
        """What the first fit of a process costs beyond a later one: compiling, or loading."""
        ours = first_call(self.module, "ours", sizes)
        theirs = first_call(self.module, "theirs", sizes)
        return [
            Row(
                work="first fit − a later one, nothing compiled yet",
                ours=ours.empty_cache,
                theirs=theirs.empty_cache,
                goal=at_most(COLD_JIT, "s"),
            ),
            Row(
                work="first fit − a later one, compiled by an earlier process",
                ours=ours.filled_cache,
                theirs=theirs.filled_cache,
                goal=at_most(WARM_JIT, "s"),
            ),
        ]

    def _work(self, name: str, problem: Labelled) -> Work:
        fit = getattr(side(name), self.fit)
        return lambda: fit(*problem)

    def _value(self, name: str, model: Any, problem: Labelled) -> float:
        value: float = getattr(side(name), self.parameters)(model).value(*problem)
        return value
