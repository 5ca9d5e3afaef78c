"""Search methods: grid, random, successive halving, a refined grid, and Bayesian search.

A search proposes generations.  Each is a pure function of the space, the plan and the trials of
the generations before it, so an interrupted search is replayed, and continues as if it
had never stopped:

    generation g = search(space, plan, trials of generations 0 … g − 1)

* grid       every combination of some values of each setting; the default settings, where they are
             none of them, are tried beside the grid
* random     trial t is drawn from a generator keyed by (seed, t)
* halving    n settings on a share f⁻ᴿ of the rows, the best n/f on f¹⁻ᴿ, … the last on all rows
* refine     a grid, then thirds of its step around the best, along each setting in turn
* bayes      optuna's tree-structured Parzen estimator proposes argmax l(u)/g(u) among candidates,
             where l is the density of the good trials and g that of the rest, which ranks them
             like the expected improvement

The densities of ``bayes`` are of all settings together, and a trial that has been proposed and not
yet run counts as a bad one, so that a batch spreads out.  The sampler is used by ask and tell only:
folds, scores and storage are those of likely.  It is given the earlier generations each time and
seeded by (seed, trial), so its proposals depend on the log alone and a study resumes exactly.
Optuna is imported when it is asked, and need not be installed.

To add a search, write one class and list it in ``SEARCHES``.

References
----------
Bergstra, Bardenet, Bengio & Kégl (2011), Algorithms for hyper-parameter optimization, NeurIPS, §4.
Bergstra & Bengio (2012), JMLR 13.  Jamieson & Talwalkar, Non-stochastic best arm
identification and hyperparameter optimization, AISTATS 2016, algorithm 1.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite, isnan
from types import ModuleType
from typing import Any, ClassVar, final

import numpy as np

from likely.errors import InvalidInput
from likely.names import known_name
from likely.spaces import Parameters, Space
from likely.workbench.search.trials import Proposal, Trial

USUAL_TRIALS = 50  # where neither trials nor time were limited
MOST_AGAIN = 300  # draws in a row that are known, after which a space is taken to have no more
ENDLESS = 64  # trials in a generation that only the clock ends
PARTS = (-2 / 3, -1 / 3, 1 / 3, 2 / 3)  # of a step, that refine tries on an axis


@final
@dataclass(frozen=True)
class Plan:
    """The limits of a search; ``trials`` is None if only time, or the search itself, ends it."""

    seed: int = 0
    trials: int | None = USUAL_TRIALS
    better: str = "lower"
    by_hand: tuple[Parameters, ...] = ()  # settings to be tried before all others
    stop_unpromising: bool = False  # whether a trial worse than the median is not finished
    default: Parameters | None = None  # those by hand that are the model's own settings


class Search(ABC):
    """The contract of a search.  Instances are stateless values."""

    name: ClassVar[str]
    endless: ClassVar[bool] = False  # True where more trials only add to those before
    in_rounds: ClassVar[bool] = False  # True where the first trials see a share of the rows

    def usual_trials(self) -> int | None:
        """The number of trials where none was given; None where the search itself decides."""
        return USUAL_TRIALS

    def settings(self) -> dict[str, Any]:
        """The settings of the search, as JSON values."""
        return {}

    def default_is_beside(self, space: Space, plan: Plan) -> bool:
        """Whether the default settings are tried, and are none of those that were asked for."""
        return False

    @abstractmethod
    def generation(self, space: Space, past: Sequence[Trial], plan: Plan) -> list[Proposal]:
        """The trials that follow those of all generations before; none at the end."""


@final
@dataclass(frozen=True)
class Grid(Search):
    """Every combination of ``points`` values each; None takes as many as fit the trials."""

    name: ClassVar[str] = "grid"
    points: int | Mapping[str, int] | None = None

    def usual_trials(self) -> int | None:
        return USUAL_TRIALS if self.points is None else None

    def settings(self) -> dict[str, Any]:
        return {"points": dict(self.points) if isinstance(self.points, Mapping) else self.points}

    def default_is_beside(self, space: Space, plan: Plan) -> bool:
        if plan.default is None:
            return False
        key = Proposal(0, plan.default).key
        return all(Proposal(0, each).key != key for each in self._combinations(space, plan))

    def generation(self, space: Space, past: Sequence[Trial], plan: Plan) -> list[Proposal]:
        if past:
            return []
        return _numbered(distinct([*plan.by_hand, *self._combinations(space, plan)]))

    def _combinations(self, space: Space, plan: Plan) -> list[Parameters]:
        by_hand = sum(each != plan.default for each in plan.by_hand)
        allowed = (plan.trials or USUAL_TRIALS) - by_hand  # the default comes on top
        points = _points_within(space, allowed) if self.points is None else self.points
        grid = space.grid(points)
        if plan.trials is not None and len(grid) > allowed:
            raise _too_large(space, len(grid), allowed)
        return grid


@final
@dataclass(frozen=True)
class Random(Search):
    """Independent draws."""

    name: ClassVar[str] = "random"
    endless: ClassVar[bool] = True

    def generation(self, space: Space, past: Sequence[Trial], plan: Plan) -> list[Proposal]:
        start = len(past)
        stop = start + ENDLESS if plan.trials is None else plan.trials
        return _numbered(draws(space, stop, plan)[start:], start=start)


@final
@dataclass(frozen=True)
class Halving(Search):
    """Many settings on few rows, then the best 1 of ``factor`` on ``factor`` times as many.

    ``trials`` counts the settings of the first round.  With ``rounds`` = 3 and factor 3, fifty
    settings cost about as much as seventeen on all rows.
    """

    name: ClassVar[str] = "halving"
    in_rounds: ClassVar[bool] = True
    factor: int = 3
    rounds: int = 3

    def __post_init__(self) -> None:
        if self.factor < 2 or self.rounds < 1:
            raise InvalidInput(
                f"{self!r} never halves; expected a factor of 2 or more and at least 1 round. "
                "Leave both as they are, or give factor=2."
            )

    def settings(self) -> dict[str, Any]:
        return {"factor": self.factor, "rounds": self.rounds}

    def generation(self, space: Space, past: Sequence[Trial], plan: Plan) -> list[Proposal]:
        first = draws(space, plan.trials or USUAL_TRIALS, plan)
        sizes = self.sizes(len(first))
        if plan.default is not None:  # it goes on to the end, to be compared with
            sizes = [sizes[0], *(min(size + 1, sizes[0]) for size in sizes[1:])]
        before = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
        level = before.index(len(past))
        if level == len(sizes):
            return []
        share = float(self.factor) ** (level + 1 - len(sizes))
        if level == 0:
            chosen = first
        else:
            order = ranked(past[before[level - 1] :], plan.better)
            order.sort(key=lambda trial: trial.parameters != plan.default)
            chosen = [trial.parameters for trial in order[: sizes[level]]]
        return _numbered(chosen, start=len(past), share=share)

    def sizes(self, settings: int) -> list[int]:
        """The number of settings in each round, at least one."""
        sizes = [settings // self.factor**k for k in range(self.rounds)]
        return [size for size in sizes if size] or [1]


@final
@dataclass(frozen=True)
class Refine(Search):
    """A grid, then a finer one around the best: a learning rate, one decade at a time.

    Each of the ``rounds`` tries a third and two thirds of the step on either side of the best,
    and its own step is a third of the last.  Where trials are limited, the grid has at most
    ``points`` values of a setting and leaves trials for the rounds: half of them, or as many as
    all rounds can use.
    """

    name: ClassVar[str] = "refine"
    points: int = 9
    rounds: int = 2

    def usual_trials(self) -> int | None:
        return None

    def settings(self) -> dict[str, Any]:
        return {"points": self.points, "rounds": self.rounds}

    def generation(self, space: Space, past: Sequence[Trial], plan: Plan) -> list[Proposal]:
        points = self._points(space, plan)
        if not past:
            return _numbered(self._first(space, points, plan))
        step, done = 1.0 / (max(points, 2) - 1), 0
        count = len(self._first(space, points, plan))
        while count < len(past) and done < self.rounds:
            count += len(_around(space, past[:count], step / 3**done, plan))
            done += 1
        left = None if plan.trials is None else max(plan.trials - len(past), 0)
        if done == self.rounds or left == 0:
            return []
        return _numbered(_around(space, past, step / 3**done, plan)[:left], start=len(past))

    def _first(self, space: Space, points: int, plan: Plan) -> list[Parameters]:
        """The settings of the grid, after those by hand."""
        return distinct([*plan.by_hand, *space.grid(points)])

    def _points(self, space: Space, plan: Plan) -> int:
        """The values of each setting in the grid."""
        if plan.trials is None:
            return self.points
        allowed = plan.trials - len(plan.by_hand)
        axes = sum(not dimension.levels for dimension in space.dimensions.values())
        first = max(allowed - len(PARTS) * axes * self.rounds, (allowed + 1) // 2)
        if first < len(space.grid(1)) <= allowed:
            first = allowed
        return min(self.points, _points_within(space, first))


def _around(space: Space, past: Sequence[Trial], step: float, plan: Plan) -> list[Parameters]:
    """New settings near the best, in the unit cube, where a log scale is uniform."""
    inside = [trial for trial in past if space.to_unit(trial.parameters) is not None]
    best = ranked(inside, plan.better)[0]
    centre = space.to_unit(best.parameters) or []
    tried = [trial.parameters for trial in past]
    found: list[Parameters] = []
    for axis, dimension in enumerate(space.dimensions.values()):
        for part in () if dimension.levels else PARTS:
            point = list(centre)
            point[axis] = min(max(point[axis] + part * step, 0.0), 1.0)
            chosen = space.from_unit(point)
            if chosen not in tried and chosen not in found:
                found.append(chosen)
    return found


def search_named(search: "str | Search") -> Search:
    """The search of that name, with its usual settings."""
    if isinstance(search, Search):
        return search
    return SEARCHES[known_name("search", search, SEARCHES)]()


def drawn(space: Space, number: int, plan: Plan) -> Parameters:
    """The settings of a trial: given by hand, or a draw keyed by the seed and the number."""
    if number < len(plan.by_hand):
        return plan.by_hand[number]
    from numpy.random import default_rng  # here: the command line reads SEARCHES for --help

    return space.sample(default_rng([plan.seed, number]))


def draws(space: Space, n: int, plan: Plan) -> list[Parameters]:
    """The first ``n`` different settings: by hand, then random; fewer if the space has no more.

    A draw that repeats an earlier one is left out.
    """
    found, keys, number, again = list[Parameters](), set[str](), 0, 0
    while len(found) < n and again < MOST_AGAIN:
        each = drawn(space, number, plan)
        key, number = Proposal(0, each).key, number + 1
        again = again + 1 if key in keys else 0
        if key not in keys:
            keys.add(key)
            found.append(each)
    return found


def distinct(settings: Iterable[Parameters]) -> list[Parameters]:
    """The settings without repeats, in their order."""
    return list({Proposal(0, each).key: each for each in reversed(list(settings))}.values())[::-1]


def ranked(trials: Iterable[Trial], better: str) -> list[Trial]:
    """Best first; without a score last; equals in the order they were tried, added ones last."""
    sign = 1.0 if better == "lower" else -1.0
    return sorted(
        trials,
        key=lambda each: (
            isnan(each.value),
            sign * each.value,
            each.number < 0,
            abs(each.number),
        ),
    )


def _numbered(
    chosen: Sequence[Parameters], *, start: int = 0, share: float = 1.0
) -> list[Proposal]:
    return [Proposal(start + k, parameters, share) for k, parameters in enumerate(chosen)]


def _points_within(space: Space, allowed: int) -> int:
    """The most values per setting whose combinations are not more than those allowed."""
    least = len(space.grid(1))
    if least > allowed:
        raise _too_large(space, least, allowed)
    fits, step = 1, 1
    while fits + step <= allowed and len(space.grid(fits + step)) <= allowed:
        fits, step = fits + step, 2 * step
    while step > 1:  # the answer lies in [fits, fits + step)
        step //= 2
        if fits + step <= allowed and len(space.grid(fits + step)) <= allowed:
            fits += step
    return fits


def _too_large(space: Space, size: int, allowed: int) -> InvalidInput:
    return InvalidInput(
        f"The grid over {', '.join(space.names)} has {size} combinations or more; "
        f"{max(allowed, 0)} trials were allowed. Raise trials, or search at random."
    )


@final
@dataclass(frozen=True)
class Bayes(Search):
    """Draws at first, then proposals by a model of the trials before.

    ``batch`` trials are proposed at a time for any number of cores, so that the result does
    not depend on the machine.
    """

    name: ClassVar[str] = "bayes"
    endless: ClassVar[bool] = True
    first: int = 5  # draws before the model proposes
    batch: int = 2

    def settings(self) -> dict[str, Any]:
        return {"first": self.first, "batch": self.batch}

    def generation(self, space: Space, past: Sequence[Trial], plan: Plan) -> list[Proposal]:
        optuna = _optuna()
        start = len(past)
        first = max(self.first, len(plan.by_hand))
        drawing = start < first
        stop = first if drawing else start + self.batch
        numbers = range(start, stop if plan.trials is None else min(stop, plan.trials))
        if drawing:
            return [Proposal(number, drawn(space, number, plan)) for number in numbers]
        if not numbers:
            return []
        with _quiet(optuna):
            study = _study_of(optuna, space, past, plan)
            return [Proposal(n, _proposed(optuna, study, space, n, plan)) for n in numbers]


def _study_of(optuna: ModuleType, space: Space, past: Sequence[Trial], plan: Plan) -> Any:
    """An optuna study in memory with the earlier trials, without failed or invalid ones."""
    direction = "minimize" if plan.better == "lower" else "maximize"
    study = optuna.create_study(direction=direction, storage=None)
    for trial in past:
        point = space.to_unit(trial.parameters)
        if point is None or not isfinite(trial.value):
            continue
        placed = _coordinates(optuna, space, trial.parameters, point)
        study.add_trial(
            optuna.trial.create_trial(
                params={name: value for name, (value, _) in placed.items()},
                distributions={name: distribution for name, (_, distribution) in placed.items()},
                value=trial.value,
            )
        )
    return study


def _coordinates(
    optuna: ModuleType, space: Space, parameters: Parameters, point: Sequence[float]
) -> dict[str, tuple[Any, Any]]:
    """Each used setting: its position in the unit interval, or the index of its level."""
    distributions = optuna.distributions
    placed: dict[str, tuple[Any, Any]] = {}
    for u, (name, dimension) in zip(point, space.dimensions.items(), strict=True):
        if not dimension.active(parameters):
            continue
        if dimension.levels is None:
            placed[name] = u, distributions.FloatDistribution(0.0, 1.0)
        else:
            levels = tuple(range(dimension.levels))
            placed[name] = int(u * len(levels)), distributions.CategoricalDistribution(levels)
    return placed


def _proposed(optuna: ModuleType, study: Any, space: Space, number: int, plan: Plan) -> Parameters:
    seed = int(np.random.default_rng([plan.seed, number]).integers(2**31))
    study.sampler = optuna.samplers.TPESampler(
        seed=seed, n_startup_trials=0, multivariate=True, constant_liar=True
    )
    trial = study.ask()
    chosen: Parameters = {}
    for name, dimension in space.dimensions.items():
        if not dimension.active(chosen):
            continue
        if dimension.levels is None:
            u = trial.suggest_float(name, 0.0, 1.0)
        else:
            level = trial.suggest_categorical(name, tuple(range(dimension.levels)))
            u = (level + 0.5) / dimension.levels
        chosen[name] = dimension.from_unit(u)
    return chosen


def _optuna() -> ModuleType:
    try:
        import optuna
    except ImportError:
        raise InvalidInput(
            "search='bayes' was given; it needs the package optuna, which is not installed. "
            "Run: pip install 'likely[search]', or use random or halving."
        ) from None
    return optuna


@contextmanager
def _quiet(optuna: ModuleType) -> Iterator[None]:
    """Silence optuna's messages about each study; the user's setting is restored.

    Before its version 5 it also warned that joint densities and the constant liar were
    experimental.
    """
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


SEARCHES: Mapping[str, type[Search]] = {
    each.name: each for each in (Grid, Random, Halving, Refine, Bayes)
}
