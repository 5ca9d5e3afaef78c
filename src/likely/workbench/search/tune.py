"""``likely.tune``: a search over the settings of a model by cross-validation."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from likely.compute.executor import Executor
from likely.metrics import Metric
from likely.output.progress import stage
from likely.spaces import Parameters, Space
from likely.workbench.data.opening import DataArguments, dataset, takes_data_arguments
from likely.workbench.models.registry import entry_for
from likely.workbench.preparation.prepared import built
from likely.workbench.scoring.candidates import device_for_candidates
from likely.workbench.scoring.predictions import metric_of_models
from likely.workbench.search.question import (
    CrossValidated,
    Question,
    by_hand_of,
    check_budget,
    space_for,
)
from likely.workbench.search.strategies import Plan, Search, distinct, search_named
from likely.workbench.search.study import Study, answer
from likely.workbench.search.trials import StudyFolder

AS_IT_IS: tuple[Parameters, ...] = ({},)  # the model's own settings


@takes_data_arguments
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
    repeats: int | None = None,
    nested: int | None = None,
    search_link: bool = False,
    metric: str | Metric | Callable[..., float] | None = None,
    by_hand: Sequence[Mapping[str, Any]] | None = None,
    stop_unpromising: bool | None = None,
    seed: int = 0,
    study: str | Path | None = None,
    executor: str | Executor = "auto",
    device: Any = None,
    **about: Unpack[DataArguments],
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
        Columns to use as they are, although they look like identifiers or free text.
    text : sequence of str, optional
        Columns of text whose words are counted; free text is recognised.  A seal records all four.
    number, date, decimal, sheet : optional
        How numbers and dates of a file are written, as in ``read``.
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
    >>> from likely import tune
    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> found = tune(frame, "target", "discriminant", trials=4)
    >>> found.best_score_ < found.baseline
    True
    """
    rows = dataset(data, target, **about).for_models(model, "tune")
    entry, task = entry_for(model), rows.settled
    template = built(entry, task, seed=seed)
    main, _ = metric_of_models(task.kind, metric, {entry.name: template})
    device = device_for_candidates(template, device)
    objective = CrossValidated(template, rows, main, folds, seed, device, repeats)
    searched = space_for(space, entry, template, rows, search_link=search_link)
    by, asked = search_named(search), trials
    if trials is None and (minutes is None or not by.endless):
        trials = by.usual_trials()
    check_budget(trials=trials, minutes=minutes, nested=nested)
    tried = by_hand_of(AS_IT_IS if by_hand is None else by_hand, searched, template)
    (default,) = by_hand_of(AS_IT_IS, searched, template)
    stops = entry.stop_unpromising if stop_unpromising is None else bool(stop_unpromising)
    plan = Plan(
        seed,
        trials,
        main.better,
        tuple(distinct(tried)),
        stops and not by.in_rounds,
        default if default in tried else None,
    )
    question = Question(entry.name, objective, searched, by, plan, minutes, nested)
    folder = StudyFolder(None if study is None else Path(study))
    with stage(f"tuning {entry.name}", asked, unit="trials run"):
        return answer(question, folder, executor=executor)
