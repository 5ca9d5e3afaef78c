"""Cross-validation of many candidates of one model, trained together where they are alike.

    for each fold:  train the candidates in one computation on a device → predict the fold by each

Candidates have different settings and the same rows.  Those that have no equal are fitted one by
one, as everywhere else; predictions and scores are those of ``cross_validate`` to rounding.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from sklearn.base import clone

from likely.compute.executor import Executor
from likely.errors import InvalidInput
from likely.neural.device import cuda_is_there
from likely.neural.problem import device_for
from likely.workbench.data.dataset import Dataset
from likely.workbench.models.model_entry import settings_of_words
from likely.workbench.models.model_inside import unprepared
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.cross_validation import Fit, Loop, Repeat, caught_warnings

Finish = Callable[[], Any]  # gives a trained model, or raises its error


@runtime_checkable
class TrainsTogether(Protocol):
    """A model that can be trained together with others of its class, such as a neural network."""

    def train_with(
        self,
        others: Sequence[Any],
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        device: Any,
    ) -> list[Finish | None]: ...


def device_for_candidates(model: Any, device: Any) -> Any:
    """The torch device on which candidates are trained together; None fits them one by one.

    A device that is given neither here nor to the model is a GPU, if there is one.
    """
    if not isinstance(unprepared(model), TrainsTogether):
        if device not in (None, "cpu"):
            raise InvalidInput(
                f"device={str(device)!r} was given with {type(unprepared(model)).__name__}, which "
                "is fitted on the processor; a neural network was expected. Leave device out."
            )
        return None
    own = unprepared(model).get_params(deep=False).get("device") if device is None else device
    return device_for("cuda" if own is None and cuda_is_there() else own)


def cross_validate_candidates(
    models: Mapping[str, Prepared],
    loop: Loop,
    *,
    device: Any,
    executor: Executor,
    until: Callable[[Repeat], bool],
    repeat: int = 0,
) -> dict[str, Repeat]:
    """Candidates by name on the folds of one repeat, each up to its first error.

    ``until`` is asked after each fold of each candidate whether its other folds may be left out.
    """
    found = {name: Repeat() for name in models}
    left = dict(models)
    for number, fold in enumerate(loop.folds.of_repeat(repeat)):
        if not left:
            break
        fits = _fits(left, loop.fit("", None, number, fold, repeat), loop, found, device)
        with executor.mapping(loop.outcome, fits) as outcomes:
            for outcome in outcomes:
                found[outcome.name].take(outcome)
                if _is_over(found[outcome.name], until):
                    left = {name: left[name] for name in left if name != outcome.name}
    return found


def _is_over(found: Repeat, until: Callable[[Repeat], bool]) -> bool:
    try:
        return found.error is not None or until(found)
    except Exception as error:  # of any metric: the others must continue
        found.error = error
        return True


def _fits(
    models: Mapping[str, Prepared], first: Fit, loop: Loop, found: Mapping[str, Repeat], device: Any
) -> Iterator[Fit]:
    """The fits of one fold: of candidates that are trained already, and of those that are not."""
    began = loop.clock()
    with caught_warnings() as messages:
        finishes = _trained(list(models.values()), first.train, device)
    n_trained = sum(finish is not None for finish in finishes)
    seconds = (loop.clock() - began) / max(n_trained, 1)
    for (name, model), finish in zip(models.items(), finishes, strict=True):
        fit = first._replace(name=name, estimator=model)
        if finish is not None:
            found[name].warnings += [text for text in messages if text not in found[name].warnings]
            fit = fit._replace(finish=finish, seconds=seconds)
        yield fit


def _count_differently(models: Sequence[Prepared]) -> bool:
    """Whether the words of texts are counted in several ways, so that tables differ."""
    first = settings_of_words(models[0].words)
    return any(settings_of_words(each.words) != first for each in models[1:])


def _trained(models: Sequence[Prepared], rows: Dataset, device: Any) -> list[Finish | None]:
    """The preparation is learned once, and the models inside are trained on its table."""
    alone: list[Finish | None] = [None] * len(models)
    (X, y), columns = rows.fit_inputs, rows.fit_arguments
    if len(models) < 2 or not columns.keys() <= {"sample_weight"} or _count_differently(models):
        return alone
    outer: Prepared = clone(models[0])
    try:
        table, y, columns, preparation = outer.prepared_rows(X, y, columns)
        inner = [outer.model_on_prepared(each.model, preparation) for each in models]
    except ValueError:  # the usual fit says what is wrong
        return alone
    finishes = inner[0].train_with(inner[1:], table, y, **columns, device=device)

    def finished(model: Any, finish: Finish) -> Prepared:
        return outer.fitted_with(preparation, finish()).set_params(model=model)

    return [
        None if finish is None else partial(finished, each.model, finish)
        for each, finish in zip(models, finishes, strict=True)
    ]
