"""The held-out scores of a model, as facts, as text and as findings."""

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from likely.cli.held_out import (
    Mean,
    Scores,
    class_counts,
    fitted,
    log_likelihood,
    log_loss,
    split,
)
from likely.cli.show import count, number, table, wrapped
from likely.data.source import Source
from likely.errors import InvalidInput

FEWEST_ROWS = 20  # below this nothing is held out
MANY_CLASSES = 20  # more of them need …
FEW_ROWS = 5  # … at least this many rows each


class Told(NamedTuple):
    """A score for a program and for a person."""

    facts: dict[str, Any] | None  # None where nothing could be held out
    text: list[str]  # paragraphs
    findings: tuple[str, ...]


def held_out_scores(
    make: Callable[[], Any], source: Source, target: str | None, seed: int, *, in_memory: bool
) -> Told:
    """Fit on four fifths of the rows, score on the rest."""
    if target is not None:
        _refuse_no_class(source, target)
    seen, held_out = split(source, seed)
    if source.n_rows is not None and source.n_rows < FEWEST_ROWS:
        return _no_score(source.n_rows)
    if target is None:
        scores = _likelihood(make, seen, held_out, in_memory)
    else:
        scores = _loss(make, seen, held_out, target, in_memory)
    if scores is None:
        return _no_score(source.n_rows)
    return _told_likelihood(scores) if target is None else _told_loss(scores)


def _loss(
    make: Callable[[], Any], seen: Source, held_out: Source, target: str, in_memory: bool
) -> Scores | None:
    counts = class_counts(seen, target)
    if not counts:
        return None
    model = fitted(make(), seen, target, in_memory=in_memory)
    known = {label: counts.get(label, 0) for label in model.classes_.tolist()}
    total = sum(known.values())
    share = {label: n / total for label, n in known.items()}
    return log_loss(model, held_out, target, share)


def _likelihood(
    make: Callable[[], Any], seen: Source, held_out: Source, in_memory: bool
) -> Scores | None:
    model = fitted(make(), seen, None, in_memory=in_memory)
    one = fitted(make().set_params(n_components=1), seen, None, in_memory=in_memory)
    return log_likelihood(model, one, held_out)


def _refuse_no_class(source: Source, target: str) -> None:
    """A number that is measured is no class; nor is a column where nearly every value differs."""
    counts = class_counts(source, target)
    labels = [label for label in counts if label is not None]
    if not labels:
        raise InvalidInput(f"Column {target!r} is empty; labels were expected. Choose another.")
    fractions = [x for x in labels if isinstance(x, float) and x == x and not x.is_integer()]
    lonely = len(labels) > MANY_CLASSES and len(labels) * FEW_ROWS > sum(counts.values())
    if fractions or lonely:
        found = f"such as {fractions[0]:g}" if fractions else f"{len(labels):,} different values"
        raise InvalidInput(
            f"Column {target!r} holds measurements or names ({found}); classes with several rows "
            "each were expected. Choose another --target, or cut the column into classes first."
        )


def _no_score(n_rows: int | None) -> Told:
    rows = "too few rows" if n_rows is None else f"only {count(n_rows, 'row')}"
    finding = f"There are {rows}, too few to hold some out, so there is no honest score."
    return Told(None, ["The model was fitted on all rows."], (finding,))


def _told_loss(scores: Scores) -> Told:
    n = scores.model.n
    facts = {
        "name": "log loss",
        "rows": n,
        "value": scores.model.mean,
        "interval": _interval(scores.model, 0.0),  # a log loss is never negative
        "best_constant": scores.baseline.mean,
        "gain": scores.gain.mean,
        "gain_interval": scores.gain.interval,
        "accuracy": scores.right / n,
    }
    rows = [
        ["log loss", number(scores.model.mean), _range(scores.model, 0.0)],
        ["best constant", number(scores.baseline.mean), _range(scores.baseline)],
        ["gain", number(scores.gain.mean), _range(scores.gain)],
        ["accuracy", number(scores.right / n), ""],
    ]
    findings = _unseen(scores) + _no_gain(scores, "the class shares alone")
    return Told(facts, _paragraphs(n, rows), findings)


def _told_likelihood(scores: Scores) -> Told:
    facts = {
        "name": "log-likelihood per row",
        "rows": scores.model.n,
        "value": scores.model.mean,
        "interval": scores.model.interval,
        "one_component": scores.baseline.mean,
        "gain": scores.gain.mean,
        "gain_interval": scores.gain.interval,
    }
    rows = [
        ["log-likelihood per row", number(scores.model.mean), _range(scores.model)],
        ["one component", number(scores.baseline.mean), _range(scores.baseline)],
        ["gain", number(scores.gain.mean), _range(scores.gain)],
    ]
    return Told(facts, _paragraphs(scores.model.n, rows), _no_gain(scores, "one component"))


def _paragraphs(n: int, rows: list[list[str]]) -> list[str]:
    return [
        table(["on held-out rows, in nats", "", "95 % interval"], rows),
        wrapped(
            f"Scored on {count(n, 'row')} that this fit did not see. The model was then fitted "
            "again on all rows."
        ),
    ]


def _range(mean: Mean, lowest: float = -inf) -> str:
    low, high = _interval(mean, lowest)
    return f"{number(low)} to {number(high)}"


def _interval(mean: Mean, lowest: float) -> tuple[float, float]:
    low, high = mean.interval
    return max(low, lowest), high


def _unseen(scores: Scores) -> tuple[str, ...]:
    if not scores.left_out:
        return ()
    rows = count(scores.left_out, "held-out row")
    return (f"{rows} had no label, or one that the fit had not seen; the score leaves them out.",)


def _no_gain(scores: Scores, baseline: str) -> tuple[str, ...]:
    low, _ = scores.gain.interval
    if low > 0:
        return ()
    return (f"On these rows the model is not shown to be better than {baseline}.",)
