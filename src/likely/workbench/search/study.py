"""Tuning: a search over settings by cross-validation, saved in a folder, and its score.

The best score of a search is optimistic, and the text says so; the
nested score is for rows that were not used for the choice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any, final

import numpy as np

from likely.compute.executor import Executor, executor_of_fits
from likely.data.frames import frame_of
from likely.errors import InvalidInput
from likely.metrics import Metric, Score
from likely.spaces import Parameters
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.cross_validation import with_settings
from likely.workbench.scoring.held_out import HeldOut
from likely.workbench.search.choice import (
    Chosen,
    OuterFold,
    OuterLog,
    choose,
    chosen,
    default_trial,
    outer_folds,
    scored,
)
from likely.workbench.search.exploration import (
    INTERRUPTED,
    Explored,
    explore,
    known_best,
    try_by_hand,
)
from likely.workbench.search.question import (
    CrossValidated,
    Question,
    by_hand_of,
)
from likely.workbench.search.study_text import html_of, text_of
from likely.workbench.search.trials import Proposal, StudyFolder, Trial, TrialLog, column_of


@final
@dataclass(frozen=True, eq=False)
class Study:
    """The trials of a search and its best settings.  Prints as a table.

    Attributes
    ----------
    question : Question
        The model, objective, space, search and plan.
    trials : tuple of Trial
        In the order in which they were run; then those of ``add``, numbered −1, −2, ….  Those of a
        grid are its combinations, and settings by hand.
    stopped : {"finished", "out of time", "interrupted"}
        Why the search ended; ``resume`` continues it.
    outer : tuple of OuterFold
        For a nested study: the settings chosen without each outer fold, and their score on it.
    nested : Score or None
        For a nested study: the score of the rows of all outer folds together.
    folder : Path or None
        Where the study is saved.
    beside : Trial or None
        The default settings, where they are tried beside a grid that does not hold them.
    """

    question: Question
    trials: tuple[Trial, ...]
    stopped: str
    outer: tuple[OuterFold, ...] = ()
    nested: Score | None = None
    folder: Path | None = None
    beside: Trial | None = None

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
        return known_best(self.tried, self.metric.better, called=called)  # says why there is none

    @property
    def default_trial_(self) -> Trial | None:
        """The trial with the default settings; its score is that of ``compare``."""
        return default_trial(self.tried, self.question.plan.default)

    @property
    def tried(self) -> tuple[Trial, ...]:
        """The trials, after the default that was tried beside a grid."""
        return self.trials if self.beside is None else (self.beside, *self.trials)

    @property
    def choice_(self) -> Chosen | None:
        """Which trial is chosen, and between which; None without a score.

        ``trial`` is the chosen one, ``minimum`` the plain argmin of the table (argmax where higher
        is better), ``best`` the most penalised of those whose scores count as equal to the best,
        ``default`` the one with the default settings.  ``gain`` is the mean over the folds by which
        ``best`` is better than ``default``, and ``error`` its standard error.
        """
        question = self.question
        return choose(
            self.trials,
            self.metric.better,
            space=question.space,
            default=question.plan.default,
            test_per_train=question.objective.folds.test_per_train,
            beside=self.beside,
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
        used = (name for trial in self.tried for name in trial.parameters)
        return list(dict.fromkeys([*self.question.space.names, *used]))

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
            known = {trial.proposal.key for trial in (*self.tried, *log.trials.values())}
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
        return answer(more, StudyFolder(self.folder), past=self.tried)

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
    beside = None
    if question.search.default_is_beside(question.space, question.plan):
        beside = default_trial(explored.trials, question.plan.default)
    searched = (trial for trial in explored.trials if trial is not beside)
    study = Study(
        question,
        (*searched, *added.trials.values()),
        explored.stopped,
        folder=folder.path,
        beside=beside,
    )
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
