"""Several libraries to the same optimum: the time to a stated gap, and what each reached.

    gap = (f − f*) / max(1, |f*|)        f* the least that anyone reached, ours run tightly too

Each library climbs its tolerances, the loosest first, until its gap is within the target; that
tolerance is then timed, in turns.  A peer that is not installed is skipped, and said so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from math import inf, isfinite
from typing import Any, NamedTuple, Protocol, final

from benchmarks.child import Sizes, first_call, peak_of_fit
from benchmarks.contest import COLD_JIT, WARM_JIT
from benchmarks.report import Goal, Row, at_most
from benchmarks.workbench import Work, best_of, clocked

OURS = "likely"
PATIENCE = 60.0  # seconds: after a fit that takes longer, no tighter one is tried
SLOW = 10.0  # seconds: a fit that takes longer is timed once


class Skipped(Exception):
    """Why a library cannot take part."""


class Fit(NamedTuple):
    """A finished fit.  ``point`` reads the parameters, after the clock has stopped."""

    point: Callable[[], Any]
    passes: float | None = None


class Problem(Protocol):
    """Data with a stated objective."""

    def value(self, point: Any) -> float:
        """f at the parameters reached; the lower the better."""

    def copy(self) -> "Problem":
        """Arrays of one's own."""


@final
@dataclass(frozen=True)
class Entrant:
    """A library as it takes part: ``fit(problem, tolerance, **settings) -> Fit`` in ``module``."""

    name: str
    module: str
    fit: str
    tolerances: tuple[float, ...]  # the loosest first
    settings: Mapping[str, Any] = field(default_factory=dict)
    goal: Goal | None = None
    target: float | None = None  # its own, where the goal allows it a looser one
    peak: bool = True  # False: too slow to be run once more for its memory
    rival: "Entrant | None" = None  # which of ours does the same work; None: that of the race

    def work(self, problem: Problem, tolerance: float) -> Work:
        fit = getattr(import_module(self.module), self.fit)
        return lambda: fit(problem, tolerance, **self.settings)


class Trial(NamedTuple):
    tolerance: float
    seconds: float
    value: float
    passes: float | None


class Finish(NamedTuple):
    trial: Trial  # with the best time
    gap: float
    peak: float | None  # bytes


@final
@dataclass(frozen=True)
class Race:
    """``problem`` makes the data of given sizes; ``ours`` races the ``peers`` to the ``target``."""

    module: str  # the benchmark's, for child processes
    problem: Callable[[Sizes], Problem]
    ours: Entrant
    peers: Sequence[Entrant]
    target: float
    tight: float = 1e-13  # our tolerance for the reference
    optimum: float | None = None  # f*, where it is known
    repeats: int = 3

    @property
    def mine(self) -> tuple[Entrant, ...]:
        """Ours, and what else of ours is raced."""
        rivals = {peer.rival.name: peer.rival for peer in self.peers if peer.rival}
        return (self.ours, *rivals.values())

    def prepare(self, name: str, sizes: Sizes) -> Work:
        """For child processes; ``sizes["tolerance"]`` says how tight."""
        problem = self.problem(sizes)
        entrant = next(each for each in (*self.mine, *self.peers) if each.name == name)
        return entrant.work(problem, sizes.get("tolerance", self.ours.tolerances[0]))

    def rows(self, work: str, sizes: Sizes) -> list[Row]:
        problem = self.problem(sizes)
        best = self._reference(problem)
        tried = {each.name: self._trials(each, problem, best=best) for each in self.mine}
        skipped: dict[str, str] = {}
        for peer in self.peers:
            try:
                tried[peer.name] = self._trials(peer, problem, best=best)
            except Skipped as reason:
                skipped[peer.name] = f"skipped: {reason}"
        if self.optimum is None:
            best = min([best, *(trial.value for trials in tried.values() for trial in trials)])
        finished = self._finished(problem, sizes, tried, best)
        return [self._row(work, peer, finished, skipped.get(peer.name, "")) for peer in self.peers]

    def first_fits(self, sizes: Sizes) -> list[Row]:
        """What the first fit of a process of ours costs beyond a later one."""
        return first_fits(self.module, OURS, sizes)

    def _reference(self, problem: Problem) -> float:
        """What is known, or our answer at a tight tolerance."""
        if self.optimum is not None:
            return self.optimum
        tight = replace(self.ours, tolerances=(self.tight,))
        return self._trials(tight, problem, best=inf)[-1].value

    def _trials(self, entrant: Entrant, problem: Problem, *, best: float) -> list[Trial]:
        """One fit at each tolerance, until one is near enough or patience ends."""
        trials: list[Trial] = []
        for tolerance in entrant.tolerances:
            timed = clocked(entrant.work(problem.copy(), tolerance))
            value = problem.value(timed.answer.point())
            value = value if isfinite(value) else inf  # no answer is never the best
            trials.append(Trial(tolerance, timed.seconds, value, timed.answer.passes))
            if gap(value, best) <= self._target(entrant) or timed.seconds > PATIENCE:
                break
        return trials

    def _target(self, entrant: Entrant) -> float:
        return self.target if entrant.target is None else entrant.target

    def _finished(
        self, problem: Problem, sizes: Sizes, tried: Mapping[str, list[Trial]], best: float
    ) -> dict[str, Finish]:
        """The loosest tolerance that is near enough, or else the tightest, timed and weighed."""
        entrants = [each for each in (*self.mine, *self.peers) if each.name in tried]
        chosen = {}
        for each in entrants:
            near = [t for t in tried[each.name] if gap(t.value, best) <= self._target(each)]
            chosen[each.name] = near[0] if near else tried[each.name][-1]
        seconds = self._timed(problem, entrants, chosen)
        return {
            each.name: Finish(
                chosen[each.name]._replace(seconds=seconds[each.name]),
                gap(chosen[each.name].value, best),
                self._peak(each, sizes, chosen[each.name].tolerance),
            )
            for each in entrants
        }

    def _timed(
        self, problem: Problem, entrants: Sequence[Entrant], chosen: Mapping[str, Trial]
    ) -> dict[str, float]:
        """The best of several turns; a slow one keeps the time of its trial."""
        turns = {
            each.name: partial(_own_work, each, problem, chosen[each.name].tolerance)
            for each in entrants
            if chosen[each.name].seconds <= SLOW
        }
        best = {name: timed.seconds for name, timed in best_of(self.repeats, turns).items()}
        return {name: best.get(name, trial.seconds) for name, trial in chosen.items()}

    def _peak(self, entrant: Entrant, sizes: Sizes, tolerance: float) -> float | None:
        if not entrant.peak:
            return None
        return peak_of_fit(self.module, entrant.name, {**sizes, "tolerance": tolerance})

    def _row(self, work: str, peer: Entrant, finished: Mapping[str, Finish], reason: str) -> Row:
        ours = peer.rival or self.ours
        mine, theirs = finished[ours.name], finished.get(peer.name)
        return Row(
            work=work,
            peer=peer.name,
            ours=mine.trial.seconds,
            theirs=theirs.trial.seconds if theirs else None,
            our_answer=mine.trial.value,
            their_answer=theirs.trial.value if theirs else None,
            our_gap=mine.gap,
            their_gap=theirs.gap if theirs else None,
            target=self.target,
            passes=mine.trial.passes,
            our_peak=mine.peak,
            their_peak=theirs.peak if theirs else None,
            goal=peer.goal,
            note=self._note(peer, ours, theirs) if theirs else reason,
        )

    def _note(self, peer: Entrant, ours: Entrant, theirs: Finish) -> str:
        """Their tolerance, and what else one has to know to read the row."""
        said = [f"their tol {theirs.trial.tolerance:g}"]
        if peer.target is not None:
            said.append(f"asked for {peer.target:g} only")
        if theirs.gap > self._target(peer):
            said.append("target not reached")
        if ours.name != self.ours.name:
            said.append(f"ours is “{ours.name}”")
        return ", ".join(said)


def _own_work(entrant: Entrant, problem: Problem, tolerance: float) -> Work:
    """On a copy that no one else reads."""
    return entrant.work(problem.copy(), tolerance)


def gap(value: float, best: float) -> float:
    """How far above the best, relative to it; infinite while no best is known."""
    return (value - best) / max(1.0, abs(best)) if isfinite(best) else inf


def needs(package: str, *, advice: str = "install the extra `bench`") -> Any:
    """The package of a peer, imported when it is needed."""
    try:
        return import_module(package)
    except ImportError as error:
        raise Skipped(f"{package} cannot be imported ({error}); {advice}") from None


def first_fits(module: str, name: str, sizes: Sizes) -> list[Row]:
    """What the first fit of a process of ours costs beyond a later one, with the goals."""
    ours = first_call(module, name, sizes)
    return [
        Row(
            work="first fit − a later one, nothing compiled yet",
            ours=ours.empty_cache,
            goal=at_most(COLD_JIT, "s"),
        ),
        Row(
            work="first fit − a later one, compiled by an earlier process",
            ours=ours.filled_cache,
            goal=at_most(WARM_JIT, "s"),
        ),
    ]
