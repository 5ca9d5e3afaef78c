"""Bayesian search: optuna's tree-structured Parzen estimator proposes settings.

    next = argmax over candidates of  l(u)/g(u)        l: density of the good trials, g: of the rest

which ranks candidates like the expected improvement.  The densities are of all settings together,
and a trial that has been proposed and not yet run counts as a bad one, so that a batch spreads out.
The sampler is used by ask and tell only: folds, scores and storage are those of likely.  It is
given the earlier generations each time and seeded by (seed, trial), so its proposals depend on the
log alone and a study resumes exactly.

References
----------
Bergstra, Bardenet, Bengio & Kégl, Algorithms for hyper-parameter optimization, NeurIPS 2011, §4.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from types import ModuleType
from typing import Any, ClassVar, final

import numpy as np

from likely.errors import InvalidInput
from likely.spaces import Parameters, Space
from likely.workbench.search.strategies import Plan, Search, drawn
from likely.workbench.search.trials import Proposal, Trial


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
