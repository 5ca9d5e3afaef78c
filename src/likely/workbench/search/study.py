"""Tuning: a search over settings by cross-validation, saved in a folder, and its score.

The best score of a search is optimistic, and the text says so; the
nested score is for rows that were not used for the choice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any, final

import numpy as np

from likely.compute.executor import Executor, executor_of_fits
from likely.data.frames import frame_of
from likely.errors import InvalidInput
from likely.kinds import TargetKind
from likely.metrics import Metric, Score
from likely.spaces import Parameters, Space
from likely.workbench.candidates import device_for_candidates
from likely.workbench.cross_validation import with_settings
from likely.workbench.held_out import HeldOut
from likely.workbench.models import entry_for
from likely.workbench.opening import dataset
from likely.workbench.predictions import metric_of_models
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.search.choice import Chosen, choose, default_trial
from likely.workbench.search.exploration import (
    INTERRUPTED,
    Explored,
    explore,
    known_best,
    try_by_hand,
)
from likely.workbench.search.nested import OuterFold, OuterLog, chosen, outer_folds, scored
from likely.workbench.search.question import (
    CrossValidated,
    Question,
    by_hand_of,
    check_budget,
    space_for,
)
from likely.workbench.search.strategies import Plan, Search, distinct, search_named
from likely.workbench.search.study_text import html_of, text_of
from likely.workbench.search.trials import Proposal, StudyFolder, Trial, TrialLog, column_of

AS_IT_IS: tuple[Parameters, ...] = ({},)  # the model's own settings


@final
@dataclass(frozen=True, eq=False)
class Study:
    """The trials of a search and its best settings.  Prints as a table.

    Attributes
    ----------
    question : Question
        The model, objective, space, search and plan.
    trials : tuple of Trial
        In the order in which they were run; then those of ``add``, numbered −1, −2, ….
    stopped : {"finished", "out of time", "interrupted"}
        Why the search ended; ``resume`` continues it.
    outer : tuple of OuterFold
        For a nested study: the settings chosen without each outer fold, and their score on it.
    nested : Score or None
        For a nested study: the score of the rows of all outer folds together.
    folder : Path or None
        Where the study is saved.
    """

    question: Question
    trials: tuple[Trial, ...]
    stopped: str
    outer: tuple[OuterFold, ...] = ()
    nested: Score | None = None
    folder: Path | None = None

    @property
    def metric(self) -> Metric:
        return self.question.objective.metric

    @property
    def best_trial_(self) -> Trial:
        """The trial whose settings are chosen: the default, unless another is clearly better.

        It is one of those on the most rows.  ``choice_`` says why.
        """
        if self.choice_ is not None:
            return self.choice_.trial
        called = f"trials of {self.question.model}"
        return known_best(self.trials, self.metric.better, called=called)  # says why there is none

    @property
    def default_trial_(self) -> Trial | None:
        """The trial with the default settings; its score is that of ``compare``."""
        return default_trial(self.trials, self.question.plan.default)

    @property
    def choice_(self) -> Chosen | None:
        """The chosen trial, the one with the best score and the default; None without a score."""
        question = self.question
        return choose(
            self.trials,
            self.metric.better,
            space=question.space,
            default=question.plan.default,
            test_per_train=question.objective.folds.test_per_train,
        )

    @property
    def best_parameters_(self) -> Parameters:
        return dict(self.best_trial_.parameters)

    @property
    def best_score_(self) -> float:
        """The cross-validated score of the chosen trial, which is optimistic."""
        return self.best_trial_.value

    @property
    def best_interval_(self) -> tuple[float, float]:
        """The interval of the best score at level 0.95, as if it had been the only one."""
        score = self.best_trial_.score
        return (nan, nan) if score is None else score.estimate[1:3]

    @property
    def baseline(self) -> float:
        """The score of the best constant on the rows of the best trial; nan before there is one."""
        score = None if self.choice_ is None else self.choice_.trial.score
        return nan if score is None else score.estimate.baseline

    @property
    def nested_score_(self) -> float:
        """The score of the rows of all outer folds together; nan without nesting."""
        return nan if self.nested is None else self.nested.main.value

    @property
    def nested_interval_(self) -> tuple[float, float]:
        """The interval of the nested score at level 0.95."""
        return (nan, nan) if self.nested is None else self.nested.main[1:3]

    @property
    def settings(self) -> list[str]:
        """The names of all settings that were tried, those of the space first."""
        tried = (name for trial in self.trials for name in trial.parameters)
        return list(dict.fromkeys([*self.question.space.names, *tried]))

    def best_model(self) -> Prepared:
        """The model with the best settings and its preparation, not yet fitted.

        It uses every column that it is given; ``refit`` leaves out the group column.
        """
        return with_settings(self.question.objective.model, self.best_parameters_)

    def refit(self) -> Prepared:
        """The model with the best settings, fitted once to all rows of the study."""
        rows = self.question.objective.rows
        model: Prepared = rows.fit(self.best_model())
        return model

    def add(self, *settings: Mapping[str, Any]) -> "Study":
        """Try settings of your own on the same folds; other settings are those of the model.

        They are added to the table and may be the best.  They do not influence the search.
        """
        objective, folder = self.question.objective, StudyFolder(self.folder)
        chosen = by_hand_of(settings, self.question.space, objective.model)
        searched = [trial for trial in self.trials if trial.number >= 0]
        with folder.alone():
            log = TrialLog(folder.added, _by_hand(self.trials))
            known = {trial.proposal.key for trial in (*searched, *log.trials.values())}
            new = {Proposal(0, each).key: each for each in chosen}
            try_by_hand(objective, [new[key] for key in new if key not in known], log)
        return replace(self, trials=(*searched, *log.trials.values()))

    def resume(self, *, trials: int | None = None, minutes: float | None = None) -> "Study":
        """Continue, to more trials or minutes in total if given."""
        question, plan = self.question, self.question.plan
        if trials is not None and not question.search.endless:
            raise InvalidInput(
                f"trials={trials} was given to resume; {question.search.name} plans its trials "
                "from the start, and more would be another study. Leave trials out, or start a new "
                "study."
            )
        more = replace(
            question,
            plan=replace(plan, trials=plan.trials if trials is None else trials),
            minutes=question.minutes if minutes is None else minutes,
        )
        return answer(more, StudyFolder(self.folder), past=self.trials)

    def to_frame(self, library: str | None = None) -> Any:
        """One row per trial, with a column per setting, in pandas, polars or Arrow."""
        library = self.question.objective.rows.library if library is None else library
        columns: dict[str, Any] = {"trial": np.array([t.number for t in self.trials], np.int64)}
        for name in self.settings:
            columns[name] = column_of([t.parameters.get(name) for t in self.trials])
        columns["share"] = np.array([t.share for t in self.trials])
        columns[self.metric.name] = np.array([t.value for t in self.trials])
        scores = [trial.score for trial in self.trials]
        columns["low"] = np.array([nan if s is None else s.estimate.low for s in scores])
        columns["high"] = np.array([nan if s is None else s.estimate.high for s in scores])
        columns["seconds"] = np.array([nan if s is None else s.seconds for s in scores])
        columns["problem"] = np.array([t.problem for t in self.trials], dtype=object)
        return frame_of(columns, library)

    def __str__(self) -> str:
        return text_of(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self)


def tune(
    data: Any,
    target: Any = None,
    model: Any = None,
    *,
    space: Space | Mapping[str, Any] | None = None,
    search: str | Search = "random",
    trials: int | None = None,
    minutes: float | None = None,
    folds: int = 5,
    repeats: int = 2,
    nested: int | None = None,
    search_link: bool = False,
    metric: str | Metric | Callable[..., float] | None = None,
    group: str | None = None,
    by_time: str | None = None,
    weight: str | None = None,
    offset: str | None = None,
    exposure: str | None = None,
    kind: TargetKind | None = None,
    order: Sequence[Any] | None = None,
    drop: Sequence[str] = (),
    category: Sequence[str] = (),
    feature: Sequence[str] = (),
    by_hand: Sequence[Mapping[str, Any]] | None = None,
    stop_unpromising: bool | None = None,
    seed: int = 0,
    study: str | Path | None = None,
    executor: str | Executor = "auto",
    device: Any = None,
) -> Study:
    """Search the settings of a model by cross-validation.

    The default settings are tried first, and kept unless others are better by one standard error of
    the paired difference over folds.

    Parameters
    ----------
    data : data frame, array, Source, Sealed, Dataset, built-in name, or path of a file or a seal
        Only the training rows of a seal are read.
    target : str, or one label for each row
        The column to predict; a seal and built-in data have their own.
    model : str or estimator
        A name, such as ``"logistic"``, the import path of a class of another library, or an
        estimator.  Its table is prepared inside each fold.
    space : Space, or mapping from setting to Real, Integer, Choice, Conditional or a list
        The search space; None is the default space of the model, if it has one.
    search_link : bool
        Whether the default space includes the link of class probabilities.  With another link
        than the logit, coefficients are no log odds ratios.
    search : {"random", "grid", "halving", "bayes", "refine"} or Search
    trials : int
        The most settings to try: 50, unless ``minutes`` is given; halving tries the best of them
        again, on more rows.  Without it refine tries as many as it needs.
    minutes : float
        No trial starts later than this, counted over all runs and all searches of a nested study.
    folds, repeats : int
        The number of folds of the cross-validation that scores each trial, and of its repeats with
        other folds; as in ``compare``, so that the default settings have the score of ``compare``.
    nested : int
        The number of outer folds: the search is repeated without each of them, for an unbiased
        score.  None is no nesting.
    metric : str, Metric or callable
        The metric to optimise; None is the log loss for classes and the log-likelihood for
        numbers.  May be a function, as in ``compare``.
    group : str
        A column of groups; the rows of a group are held out together.  It is not a feature.  A
        seal records it.
    by_time : str
        A column of times; later rows are predicted from earlier ones, in the folds of the search
        and in the outer folds.  A seal records it.
    weight, offset, exposure : str
        Columns, as in ``compare``; a seal records them.
    kind : str
        The kind of target: binary, classes, ordinal, count, positive or real.  None is that of the
        seal; otherwise it is inferred from the values, or from the model.
    order : sequence
        The classes from lowest to highest; the task is then ordinal.
    drop : sequence of str
        Columns to leave out.
    category : sequence of str
        Columns of numeric codes to treat as categories.
    feature : sequence of str, optional
        Columns to use although they look like identifiers or free text, which are left out.  A seal
        records all three.
    by_hand : sequence of mappings
        Settings to try first; ``{}`` is the default settings, which None tries.
    stop_unpromising : bool
        Whether a trial is stopped after a fold at which it is worse than the median of the earlier
        trials; it then has no score.  None is yes for models that are costly to fit, such as
        neural networks, unless the search is halving, which has a rule of its own.
    study : path
        A folder to save the study in.  If it exists, the study is resumed.
    executor : str or Executor
        How trials are run; ``"auto"`` runs them in parallel, unless each fit needs all cores.
    device : str or torch.device
        Where neural networks of equal layers are trained, all in one computation; None is ``cuda``
        where torch finds a GPU.  ``cpu``, and None elsewhere, fits each trial on the processor.

    Examples
    --------
    >>> from likely.workbench.search.study import tune
    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> found = tune(frame, "target", "discriminant", trials=4)
    >>> found.best_score_ < found.baseline
    True
    """
    rows = dataset(
        data,
        target,
        kind=kind,
        order=order,
        group=group,
        by_time=by_time,
        weight=weight,
        offset=offset,
        exposure=exposure,
        drop=drop,
        category=category,
        feature=feature,
    ).for_models(model, "tune")
    entry, task = entry_for(model), rows.settled
    template = entry.build(task, seed=seed)
    main, _ = metric_of_models(task.kind, metric, {entry.name: template})
    device = device_for_candidates(template, device)
    objective = CrossValidated(template, rows, main, folds, seed, device, repeats)
    searched = space_for(space, entry, template, rows, search_link=search_link)
    by = search_named(search)
    if trials is None and (minutes is None or not by.endless):
        trials = by.usual_trials()
    check_budget(trials=trials, minutes=minutes, nested=nested)
    stops = entry.stop_unpromising if stop_unpromising is None else bool(stop_unpromising)
    tried = by_hand_of(AS_IT_IS if by_hand is None else by_hand, searched, template)
    (default,) = by_hand_of(AS_IT_IS, searched, template)
    plan = Plan(
        seed,
        trials,
        main.better,
        tuple(distinct(tried)),
        stops and not by.in_rounds,
        default if default in tried else None,
    )
    question = Question(entry.name, objective, searched, by, plan, minutes, nested)
    return answer(question, StudyFolder(None if study is None else Path(study)), executor=executor)


def answer(
    question: Question,
    folder: StudyFolder,
    *,
    executor: str | Executor = "auto",
    past: Sequence[Trial] = (),
) -> Study:
    """Run the search, or the rest of it, and the searches inside the outer folds.

    For a study in memory, ``past`` are its trials.
    """
    with folder.alone():
        return _answered(question, folder, executor, past)


def _answered(
    question: Question, folder: StudyFolder, executor: str | Executor, past: Sequence[Trial]
) -> Study:
    folder.begin(question.to_json())
    objective = question.objective
    executor = executor_of_fits(executor, objective.rows.table.nbytes)
    added = TrialLog(folder.added, _by_hand(past))
    log = TrialLog(folder.trials, () if folder.path else (t for t in past if t.number >= 0))
    explored = _searched(question, objective, log, executor)
    if not explored.trials:
        raise KeyboardInterrupt  # before there was anything to keep
    trials = (*explored.trials, *added.trials.values())
    study = Study(question, trials, explored.stopped, folder=folder.path)
    if explored.stopped != INTERRUPTED:
        study.best_trial_  # noqa: B018  # says why, where no trial has a score
    if question.nested is None or explored.stopped == INTERRUPTED:
        return study
    return _with_outer(study, folder, executor)


def _by_hand(trials: Sequence[Trial]) -> list[Trial]:
    """The trials that were added by hand."""
    return [trial for trial in trials if trial.number < 0]


def _searched(
    question: Question, objective: CrossValidated, log: TrialLog, executor: str | Executor
) -> Explored:
    return explore(
        objective,
        question.space,
        search=question.search,
        plan=question.plan,
        log=log,
        minutes=question.minutes_each,
        executor=executor,
    )


def _with_outer(study: Study, folder: StudyFolder, executor: str | Executor) -> Study:
    """The study with its completed outer folds."""
    question, whole = study.question, study.question.objective
    log, stopped = OuterLog(folder.outer), study.stopped
    folds = outer_folds(whole, question.nested or 0)
    held: list[HeldOut] = []
    try:
        for number, fold in enumerate(folds):
            known = log.folds.get(number)
            if known is not None:  # fitted again: its predictions were not kept
                held.append(whole.fold(known.parameters, folds, number))
                continue
            trials = TrialLog(folder.inner(number))
            objective = whole.on(fold.train)
            inner = _searched(question, objective, trials, executor)
            if inner.stopped == INTERRUPTED:
                raise KeyboardInterrupt
            best = chosen(inner, objective, question, number)
            held.append(whole.fold(best.parameters, folds, number))
            log.append(scored(whole, held[-1], number, best))
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    done = tuple(log.folds[number] for number in sorted(log.folds))
    score = HeldOut.joined(held).score([whole.metric]) if held else None
    return replace(study, outer=done, nested=score, stopped=stopped)
