"""Searches of settings: for ``likely.tune``, or for any function of settings.

``likely.tune(..., search="grid")`` names a search; ``search=Grid(points=5)`` also configures it.
The settings that it may try are declared with ``likely.spaces``.

A function of settings may train a network, run a simulation or be a test function.  It returns
a validation loss or a similar number; never the loss on a test set:

    minimise (or maximise) f(settings)        settings in a declared space

References
----------
Goodfellow, Bengio & Courville, Deep Learning, §11.4.3 (a grid in the log, then refined).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from time import monotonic
from typing import Any, final

import numpy as np

from likely.compute.executor import Executor
from likely.data.frames import frame_of
from likely.errors import InvalidInput
from likely.metrics.base import Better
from likely.numerics.intervals import Estimate
from likely.solvers.settings import refuse_unless_whole
from likely.solvers.stopping import Iterations, Seconds, StoppingRule
from likely.spaces import Choice, Parameters, Real, Space, space_from
from likely.workbench.models.registry import space_of
from likely.workbench.search.exploration import explore, known_best
from likely.workbench.search.question import check_budget
from likely.workbench.search.strategies import (
    Bayes,
    Grid,
    Halving,
    Plan,
    Random,
    Refine,
    Search,
    search_named,
)
from likely.workbench.search.trials import Trial, TrialScore, column_of

__all__ = [
    "BatchSizeSearch",
    "Bayes",
    "FunctionSearch",
    "Grid",
    "Halving",
    "Random",
    "RateSearch",
    "Refine",
    "Search",
    "search_batch_size",
    "search_function",
    "search_learning_rate",
    "space_of",
]

RATE = "rate"
BATCH = "batch"
BATCH_SIZES = (2, 8, 32, 128, 512)  # two to several hundred
LEAST_RATE, LARGEST_RATE = 1e-8, 1.0  # eight decades: one grid point each, and one more


@final
@dataclass(frozen=True, eq=False)
class FunctionSearch:
    """The trials of a search and the best settings.

    Attributes
    ----------
    trials : tuple of Trial
        In order, with ``parameters`` and ``mean``, the value of the function.
    stopped : {"finished", "out of time", "interrupted"}
    better : {"lower", "higher"}
    """

    trials: tuple[Trial, ...]
    stopped: str
    better: Better = "lower"

    @property
    def best_trial_(self) -> Trial:
        return known_best(self.trials, self.better)

    @property
    def best_parameters_(self) -> Parameters:
        return dict(self.best_trial_.parameters)

    @property
    def best_score_(self) -> float:
        return self.best_trial_.value

    def to_frame(self, library: str | None = None) -> Any:
        """One row per trial, with a column per setting, in pandas, polars or Arrow."""
        names = dict.fromkeys(name for trial in self.trials for name in trial.parameters)
        columns: dict[str, Any] = {"trial": np.array([t.number for t in self.trials], np.int64)}
        for name in names:
            columns[name] = column_of([trial.parameters.get(name) for trial in self.trials])
        columns["value"] = np.array([trial.value for trial in self.trials])
        columns["problem"] = np.array([trial.problem for trial in self.trials], dtype=object)
        return frame_of(columns, library)


def search_function(
    function: Callable[[Parameters], float],
    space: Space | Mapping[str, Any],
    *,
    search: str | Search = "random",
    trials: int | None = None,
    minutes: float | None = None,
    better: Better = "lower",
    by_hand: Sequence[Mapping[str, Any]] = (),
    earlier: Sequence[Trial] = (),
    seed: int = 0,
    executor: str | Executor = "serial",
) -> FunctionSearch:
    """Search the settings that minimise, or maximise, a function.

    Parameters
    ----------
    function : callable
        From a dictionary of settings to a number.  A ValueError gives a trial without a value.
    space : Space, or mapping from setting to Real, Integer, Choice, Conditional or a list
    search : {"random", "grid", "bayes", "refine"} or Search
    trials : int
        Number of new trials; 50 if no time is given.
    minutes : float
        No trial starts later than this.
    better : {"lower", "higher"}
    by_hand : sequence of mappings
        Settings to try first.
    earlier : sequence of Trial
        Trials of another search of the same function; random and bayes continue from them.
    executor : str or Executor
        How trials are run.

    Examples
    --------
    >>> from likely.searches import search_function
    >>> from likely.spaces import Real
    >>> found = search_function(lambda p: (p["x"] - 2) ** 2, {"x": Real(0, 8)}, search="refine")
    >>> found.best_parameters_, len(found.trials)
    ({'x': 2.0}, 17)
    """
    by, space = search_named(search), space_from(space)
    _check_search(by, earlier)
    if trials is None and (minutes is None or not by.endless):
        trials = by.usual_trials()
    check_budget(trials=trials, minutes=minutes, nested=None)
    total = None if trials is None else trials + len(earlier)
    tried = tuple(trial.parameters for trial in earlier)
    plan = Plan(seed, total, better, (*tried, *(dict(each) for each in by_hand)))
    explored = explore(
        FunctionObjective(function),
        space,
        search=by,
        plan=plan,
        minutes=minutes,
        executor=executor,
        earlier=_renumbered(earlier),
    )
    return FunctionSearch(explored.trials, explored.stopped, better)


@final
@dataclass(frozen=True, eq=False)
class RateSearch:
    """The chosen rate, its loss, and every trial."""

    rate: float
    loss: float
    trials: tuple[Trial, ...]


def search_learning_rate(
    loss: Callable[[float], float],
    *,
    low: float = LEAST_RATE,
    high: float = LARGEST_RATE,
    points: int = 9,
    rounds: int = 2,
) -> RateSearch:
    """The learning rate with the smallest validation loss: a logarithmic grid, then a finer one.

    ``loss`` trains at a rate and returns the loss on validation rows; inf or nan if training
    diverged.  Each of the ``rounds`` tries thirds of the last step on either side of the best, so
    that two of them end within a ninth of a grid step, 10^(1/9) = 1.3 of eight decades in nine
    points.

    >>> from likely.searches import search_learning_rate
    >>> found = search_learning_rate(lambda rate: (1 - 50 * rate) ** 2)
    >>> 0.5 < 50 * found.rate < 2
    True
    """
    space = Space({RATE: Real(low, high, log=True)})
    found = search_function(
        lambda parameters: loss(parameters[RATE]), space, search=Refine(points, rounds)
    )
    return RateSearch(found.best_parameters_[RATE], found.best_score_, found.trials)


@final
@dataclass(frozen=True, eq=False)
class BatchSizeSearch:
    """The chosen batch size, its loss, every trial, and the budget and seed that all had."""

    size: int
    loss: float
    trials: tuple[Trial, ...]
    budget: StoppingRule
    seed: int


def search_batch_size(
    loss: Callable[[int, StoppingRule, int], float],
    *,
    sizes: Sequence[int] = BATCH_SIZES,
    epochs: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
) -> BatchSizeSearch:
    """The batch size with the smallest validation loss after the same short training.

    Parameters
    ----------
    loss : callable
        ``loss(size, stop, seed)`` trains with batches of that size until ``stop``, a rule of
        ``likely.solvers``, ends it, and returns the loss on validation rows; inf or nan if training
        diverged.
    sizes : sequence of int
        The candidates.
    epochs : int
        The budget: as many passes over the training rows for each; 5 if no budget is given.
    seconds : float
        The budget in time, in place of ``epochs``: large batches have more epochs in it.
    seed : int
        Of the order of the rows, the same for each.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import LogisticRegression
    >>> from likely.searches import search_batch_size
    >>> from likely.solvers import StochasticDescent, minimise
    >>> X = np.linspace(-2, 2, 60)[:, None]
    >>> y = (X[:, 0] + np.sin(9 * X[:, 0]) > 0).astype(int)
    >>> objective = LogisticRegression().objective(X[::2], y[::2])
    >>> held_out = LogisticRegression().objective(X[1::2], y[1::2])
    >>> def train(size, stop, seed):
    ...     descent = StochasticDescent(0.1, batch=size, seed=seed)
    ...     end = minimise(descent, objective.in_batches(), objective.start, tol=0, stop=stop)
    ...     return held_out.loss(end.theta)
    >>> found = search_batch_size(train, sizes=(2, 8, 30), epochs=2)
    >>> found.size, len(found.trials)
    (2, 3)
    """
    if epochs is not None and seconds is not None:
        raise InvalidInput(
            f"epochs={epochs!r} and seconds={seconds!r} were given; one budget was expected. Leave "
            "one out."
        )
    given = list(sizes)
    for size in given:
        refuse_unless_whole("search_batch_size", "sizes", size, "Use sizes=(8, 32, 128).")
    budget = Iterations(5 if epochs is None else epochs) if seconds is None else Seconds(seconds)
    found = search_function(
        lambda parameters: loss(parameters[BATCH], budget, seed),
        Space({BATCH: Choice(tuple(given))}),
        search=Grid(),
        trials=len(given),
    )
    size = found.best_parameters_[BATCH]
    return BatchSizeSearch(size, found.best_score_, found.trials, budget, seed)


@final
@dataclass(frozen=True, eq=False)
class FunctionObjective:
    """A plain function as an objective; it has no rows."""

    function: Callable[[Parameters], float]

    def evaluate(self, parameters: Mapping[str, Any], *, share: float = 1.0) -> TrialScore:
        start = monotonic()
        value = float(self.function(dict(parameters)))
        return TrialScore(Estimate(value, value, value, nan), (value,), monotonic() - start)


def _check_search(search: Search, earlier: Sequence[Trial]) -> None:
    if search.in_rounds:
        raise InvalidInput(
            f"{search.name} starts with a part of the rows; a plain function has no rows. "
            "Choose one of random, grid, bayes, refine."
        )
    if earlier and not search.endless:
        raise InvalidInput(
            f"{len(earlier)} earlier trials were given to {search.name}, which plans its trials "
            "from the start; random or bayes was expected. Choose one, or leave earlier out."
        )


def _renumbered(trials: Sequence[Trial]) -> list[Trial]:
    return [
        Trial(number, trial.parameters, trial.share, trial.score, trial.problem)
        for number, trial in enumerate(trials)
    ]
