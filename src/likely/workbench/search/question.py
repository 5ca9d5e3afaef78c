"""The definition of a study: rows, task, model, space and plan, and the score to optimise.

The score is cross-validated on folds that are the same for all settings, so that trials differ only
in their settings.  A trial on a share of the rows is trained on that share of each class and is
scored on all rows of the fold.

The median rule: a trial that is worse than half of the earlier ones is not finished.

    stop after fold j  if  its mean score of folds 1 … j is worse than the median of the earlier
                           trials, each by its mean score of the same folds

Earlier trials are those of earlier waves of ``WAVE`` trials, so that the answer depends neither on
the number of cores nor on an interruption.  A trial that was stopped counts with the folds that it
has, or the rule would become stricter and stricter.

References
----------
Golovin, Solnik, Moitra, Kochanski, Karro & Sculley, Google Vizier: a service for black-box
optimization, KDD 2017, §3.2.2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from statistics import fmean, median
from time import monotonic
from typing import Any, NamedTuple, Protocol, Self, final, runtime_checkable

import numpy as np

from likely._typing import Codes
from likely.caching import cached_property
from likely.compute.executor import Executor
from likely.data.arrow import digest_of_table
from likely.errors import InvalidInput
from likely.inputs.parameters import peer_of
from likely.metrics import Metric, mean_score
from likely.output.formatting import number
from likely.spaces import Choice, Parameters, Space, space_from
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.folds import Folds, share_of_rows
from likely.workbench.models.default_spaces import CLASS_LINKS
from likely.workbench.models.model_entry import ModelEntry
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.candidates import cross_validate_candidates
from likely.workbench.scoring.cross_validation import (
    Loop,
    Repeat,
    cross_validate,
    hold_out_fold,
    settings_of,
    with_settings,
)
from likely.workbench.scoring.held_out import HeldOut
from likely.workbench.search.strategies import Plan, Search
from likely.workbench.search.trials import Proposal, Trial, TrialScore

WAVE = 8  # trials that are compared with the same earlier ones
FEWEST = 5  # earlier trials, below which none is stopped
PLAIN = (str, int, float, bool, type(None))  # settings that JSON has


@final
@dataclass(frozen=True, eq=False)
class Question:
    """Everything that determines the result of a study, and its budget."""

    model: str  # its name in the registry, its import path, or the name of its class
    objective: "CrossValidated"
    space: Space
    search: Search
    plan: Plan
    minutes: float | None = None
    nested: int | None = None

    @cached_property
    def data(self) -> str:
        """A hash of the rows that have a target, with the columns that they are held out by."""
        return digest_of_table(self.objective.rows.table)

    @property
    def minutes_each(self) -> float | None:
        """The minutes for each search of a nested study."""
        return None if self.minutes is None else self.minutes / (1 + (self.nested or 0))

    def to_json(self) -> dict[str, Any]:
        """The definition as JSON; only ``budget`` may change when a study is resumed."""
        objective, rows = self.objective, self.objective.rows
        task = rows.settled
        budget = {"minutes": self.minutes}
        trials = {"trials": self.plan.trials}
        return {
            "model": self.model,
            "settings": _plain_settings(objective.model),
            "target": task.target,
            "task": {"kind": task.kind, "classes": task.classes, "order": task.order},
            "metric": objective.metric.name,
            "search": {"name": self.search.name, **self.search.settings()},
            "space": self.space.to_json(),
            "by_hand": self.plan.by_hand,
            "folds": objective.n_folds,
            "repeats": objective.folds.repeats,
            "nested": self.nested,
            "group": rows.group,
            "by_time": rows.by_time,
            "roles": rows.roles.given(),
            "seed": self.plan.seed,
            "rows": rows.table.num_rows,
            "data": self.data,
            "budget": budget | trials if self.search.endless else budget,
            **({} if self.search.endless else trials),
            **({"stop_unpromising": True} if self.plan.stop_unpromising else {}),
        }


def space_for(
    declared: Any, entry: ModelEntry, model: Any, rows: Dataset, *, search_link: bool = False
) -> Space:
    """The space as declared, or the usual one of the model at the scale of the table."""
    known = list(settings_of(model, with_words=bool(rows.settled.text)))
    if declared is not None:
        if search_link:
            raise InvalidInput(
                "search_link was given with a space of your own; it adds the link to the default "
                "space. Leave it out, and declare the link: link=logit,probit (--space), for "
                "instance."
            )
        return _space_of_model(declared, model, known)
    task, table = rows.settled, rows.table
    spread = 1.0 if task.has_classes else float(np.std(task.numbers(table)))
    usual = entry.space_for(rows=table.num_rows, spread=spread)
    return usual if not search_link else with_link(usual, entry.name, known)


def _space_of_model(declared: Any, model: Any, known: Sequence[str]) -> Space:
    """The declared space; a setting that another library calls so is refused with ours."""
    space = space_from(declared)
    inner = type(getattr(model, "model", model)).__name__
    for name in space.names:
        peer = None if name in known else peer_of(inner, name, known)
        if peer is not None:
            raise InvalidInput(f"{inner} has no setting {name!r}: {peer.text}.")
    return space_from(space, known)


def with_link(space: Space, model: str, known: Sequence[str]) -> Space:
    """The space with the link of class probabilities first."""
    links = [name for name in known if name.rpartition("__")[2] == "link"]
    if not links:
        raise InvalidInput(
            f"search_link was given, and {model} has no link; a logistic or ordinal regression was "
            "expected. Leave it out."
        )
    return Space({links[0]: Choice(CLASS_LINKS), **space.dimensions})


def by_hand_of(
    given: Sequence[Mapping[str, Any]], space: Space, model: Any
) -> tuple[Parameters, ...]:
    """Complete settings: those not given are those of the model."""
    own = settings_of(model, with_words=True)
    filled = []
    for settings in given:
        unknown = [name for name in settings if name not in own]
        if unknown:
            _space_of_model({unknown[0]: [0]}, model, list(own))  # says which names there are
        chosen: Parameters = {}
        for name, dimension in space.dimensions.items():
            value = settings.get(name, own[name])
            if isinstance(value, (*PLAIN, list)) and (name in settings or dimension.active(chosen)):
                chosen[name] = value
        filled.append({**chosen, **settings})
    return tuple(filled)


def check_budget(*, trials: int | None, minutes: float | None, nested: int | None) -> None:
    for name, value, least in (("trials", trials, 1), ("nested", nested, 2)):
        if value is not None and not (_is_number(value) and value == int(value) >= least):
            raise InvalidInput(
                f"{name}={value!r}; expected a whole number from {least} up. "
                f"Use {name}={least + 4}."
            )
    if minutes is not None and not (_is_number(minutes) and minutes > 0):
        raise InvalidInput(f"minutes={minutes!r}; expected more than 0. Use minutes=2.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _plain_settings(model: Any) -> dict[str, Any]:
    """A model's own settings as JSON values; an object by the name of its class."""
    return {
        name: value if isinstance(value, (*PLAIN, list, tuple)) else type(value).__name__
        for name, value in sorted(model.get_params().items())
    }


class StoppedTrial(NamedTuple):
    """A trial that was not finished: the scores of its folds, and why."""

    per_fold: tuple[float, ...]
    reason: str


Result = Callable[[], TrialScore | StoppedTrial]  # of a trial, or raises its error


@runtime_checkable
class StoppableObjective(Protocol):
    """An objective that can stop at the folds of a trial that a rule finds unpromising."""

    def evaluate_unless(
        self, rule: "MedianRule", parameters: Mapping[str, Any], *, share: float = 1.0
    ) -> TrialScore | StoppedTrial: ...


@runtime_checkable
class JointObjective(Protocol):
    """An objective that can evaluate a batch of trials in one computation."""

    @property
    def evaluates_together(self) -> bool: ...

    def evaluate_together(
        self,
        rule: "MedianRule | None",
        settings: Sequence[Mapping[str, Any]],
        *,
        share: float,
        executor: Executor,
    ) -> list[Result]: ...


@final
@dataclass(frozen=True)
class MedianRule:
    """The scores of earlier trials by fold, and which scores are better."""

    earlier: tuple[tuple[float, ...], ...]  # by trial and fold
    better: str

    def reason(self, per_fold: Sequence[float], n_folds: int) -> str:
        """Why a trial with these scores is stopped; empty where it goes on."""
        done = len(per_fold)
        known = [fmean(scores[:done]) for scores in self.earlier]
        known = [each for each in known if not isnan(each)]
        if not 0 < done < n_folds or len(known) < FEWEST:
            return ""
        own, middle = fmean(per_fold), median(known)
        if not (own > middle if self.better == "lower" else own < middle):
            return ""
        return (
            f"stopped after fold {done} of {n_folds}: its mean score so far is {number(own)}, and "
            f"the median of the earlier trials on the same folds is {number(middle)}."
        )


def median_rule(past: Sequence[Trial], better: str, number: int) -> MedianRule:
    """The rule for the trial of this number, which looks at the waves before its own."""
    first = number // WAVE * WAVE
    scores = (trial.per_fold for trial in past if trial.number < first)
    return MedianRule(tuple(each for each in scores if each), better)


def in_waves(generation: Sequence[Proposal]) -> list[list[Proposal]]:
    """The proposals of a generation, wave by wave; which wave depends on their numbers alone."""
    waves: dict[int, list[Proposal]] = {}
    for proposal in generation:
        waves.setdefault(proposal.number // WAVE, []).append(proposal)
    return list(waves.values())


@final
@dataclass(frozen=True, eq=False)
class CrossValidated:
    """The objective of ``tune``."""

    model: Any  # an estimator; clones of it are fitted
    rows: Dataset  # every row with a target
    metric: Metric
    n_folds: int = 5
    seed: int = 0
    device: Any = None  # of torch, on which trials are trained together; None is one by one
    repeats: int | None = 1  # of the cross-validation, as in ``Dataset.folds``

    @cached_property
    def folds(self) -> Folds:
        return self.rows.folds(self.n_folds, self.repeats, self.seed)

    def on(self, rows: Codes) -> Self:
        """This objective on some of the rows."""
        return replace(self, rows=self.rows.take(rows))

    def evaluate(self, parameters: Mapping[str, Any], *, share: float = 1.0) -> TrialScore:
        start = monotonic()
        found = self._repeats(with_settings(self.model, parameters), share)
        return self._scored(found, monotonic() - start)

    def evaluate_unless(
        self, rule: MedianRule, parameters: Mapping[str, Any], *, share: float = 1.0
    ) -> TrialScore | StoppedTrial:
        """The score, unless the rule stops the trial after some folds of the first repeat."""
        start = monotonic()
        model, loop = with_settings(self.model, parameters), self._loop(self.folds, share)
        first = cross_validate(model, loop, until=lambda found: bool(self._reason(rule, found)))
        if reason := self._reason(rule, first):
            return StoppedTrial(self._per_fold([first]), reason)
        return self._scored([first, *self._repeats(model, share, 1)], monotonic() - start)

    def _repeats(self, model: Any, share: float, start: int = 0) -> list[Repeat]:
        """The repeats of the cross-validation from one on."""
        loop = self._loop(self.folds, share)
        numbers = range(start, self.folds.repeats)
        return [cross_validate(model, loop, repeat=repeat) for repeat in numbers]

    @property
    def evaluates_together(self) -> bool:
        """Whether trials are evaluated in batches."""
        return self.device is not None

    def evaluate_together(
        self,
        rule: MedianRule | None,
        settings: Sequence[Mapping[str, Any]],
        *,
        share: float,
        executor: Executor,
    ) -> list[Result]:
        """A function for each of several settings that gives its result, or raises its error.

        Settings that are alike are trained in one computation.  Seconds are those of the fits.
        """
        models, found = dict[str, Prepared](), dict[str, list[Repeat]]()
        for place, parameters in enumerate(settings):
            try:
                models[str(place)] = with_settings(self.model, parameters)
            except ValueError as error:
                found[str(place)] = [Repeat(error=error)]
        for repeat in range(self.folds.repeats):
            stops = partial(self._stops, rule if repeat == 0 else None)
            once = cross_validate_candidates(
                models,
                self._loop(self.folds, share),
                device=self.device,
                executor=executor,
                until=stops,
                repeat=repeat,
            )
            for name, each in once.items():
                found.setdefault(name, []).append(each)
                if each.error is not None or stops(each):
                    del models[name]
        return [partial(self._finished, rule, found[str(at)]) for at in range(len(settings))]

    def _reason(self, rule: MedianRule | None, found: Repeat) -> str:
        """Why a trial with these folds is stopped; empty where it goes on."""
        return "" if rule is None else rule.reason(self._per_fold([found]), self.n_folds)

    def _stops(self, rule: MedianRule | None, found: Repeat) -> bool:
        return bool(self._reason(rule, found))

    def _finished(self, rule: MedianRule | None, found: list[Repeat]) -> TrialScore | StoppedTrial:
        for each in found:
            if each.error is not None:
                raise each.error
        if reason := self._reason(rule, found[0]):
            return StoppedTrial(self._per_fold(found[:1]), reason)
        return self._scored(found, sum(sum(each.seconds) for each in found))

    def _scored(self, found: list[Repeat], seconds: float) -> TrialScore:
        """The score as ``compare`` computes it: the mean over repeats."""
        return TrialScore(
            mean_score([each.held.score([self.metric]) for each in found]).main,
            self._per_fold(found),
            seconds,
            tuple(dict.fromkeys(text for each in found for text in each.warnings)),
        )

    def _per_fold(self, found: list[Repeat]) -> tuple[float, ...]:
        return tuple(x for each in found for x in each.held.by_fold(self.metric).tolist())

    def split(self, n_folds: int, seed: int) -> Folds:
        """Other folds of the same rows."""
        return self.rows.folds(n_folds, seed=seed)

    def fold(self, parameters: Mapping[str, Any], folds: Folds, number: int) -> HeldOut:
        """The held-out predictions of one fold under these settings."""
        return hold_out_fold(with_settings(self.model, parameters), self._loop(folds), number)

    def _loop(self, folds: Folds, share: float = 1.0) -> Loop:
        learned = None
        if share != 1.0:
            strata = self.rows.settled.strata(self.rows.table)
            learned = partial(share_of_rows, share=share, strata=strata, seed=self.seed)
        return Loop(self.rows, folds, self.metric, learned)
