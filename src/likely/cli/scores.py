"""The held-out scores of a model, as facts, as text and as findings."""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf, sqrt
from typing import Any, NamedTuple

from likely.cli.comparing import Compared, Estimate, Scores
from likely.cli.held_out import class_shares, fitted, split
from likely.cli.measures import (
    ABSOLUTE,
    ACCURACY,
    DEVIANCE,
    LOG_LIKELIHOOD,
    LOG_LOSS,
    MEDIAN,
    RANK_ERROR,
    SQUARED,
    Constant,
    best_constant,
    class_scores,
    density_scores,
    number_scores,
)
from likely.cli.registry import Target
from likely.cli.show import beside_each_other, count, table, wrapped
from likely.data.source import Source
from likely.workbench.roles import Roles

FEWEST_ROWS = 20  # below this nothing is held out


class Told(NamedTuple):
    """A score for a program and for a person."""

    facts: dict[str, Any] | None  # None where nothing could be held out
    text: list[str]  # paragraphs
    findings: tuple[str, ...]
    model: Any = None  # the fit that was scored


class Line(NamedTuple):
    """A measure of the model, and the same of the best constant."""

    name: str
    model: Estimate
    constant: float | None = None  # None where it is 0 by definition


def held_out_scores(
    make: Callable[[], Any],
    source: Source,
    roles: Roles,
    seed: int,
    *,
    target: Target,
    in_memory: bool,
) -> Told:
    """Fit on four fifths of the rows, score on the rest."""
    if source.n_rows is not None and source.n_rows < FEWEST_ROWS:
        return _no_score(source.n_rows)
    seen, held_out = split(source, seed)
    if not any(batch.num_rows for batch in seen):
        return _no_score(source.n_rows)
    model = fitted(make(), seen, roles, in_memory=in_memory)
    tell: Callable[[Scores], Told]
    if target == "none":
        one = fitted(make().set_params(n_components=1), seen, roles, in_memory=in_memory)
        scores, tell = density_scores(model, one, held_out, roles), _told_density
    elif target == "number":
        constant = best_constant(model, seen, roles)
        scores = number_scores(model, held_out, roles, constant)
        explained = "R²" if constant.response.name == "gaussian" else "deviance explained"
        tell = partial(_told_number, explained=explained, about=_about_median(constant))
    else:
        share = class_shares(seen, roles, model.classes_.tolist())
        scores = class_scores(model, held_out, roles, share, ordered=target == "ordered")
        tell = _told_classes
    return _no_score(source.n_rows) if scores is None else tell(scores)._replace(model=model)


def _no_score(n_rows: int | None) -> Told:
    rows = "too few rows" if n_rows is None else f"only {count(n_rows, 'row')}"
    finding = f"There are {rows}, too few to hold some out, so there is no honest score."
    return Told(None, ["The model was fitted on all rows."], (finding,))


def _told_classes(scores: Scores) -> Told:
    loss = scores[LOG_LOSS]
    lines = [
        Line(LOG_LOSS, _within(loss, 0.0), loss.baseline.mean),  # it is never negative
        Line(ACCURACY, _within(scores[ACCURACY], 0.0, 1.0), scores[ACCURACY].baseline.mean),
    ]
    if RANK_ERROR in scores.measures:
        error = scores[RANK_ERROR]
        lines.append(Line(RANK_ERROR, _within(error, 0.0), error.baseline.mean))
    gain = Estimate(loss.excess.mean, loss.excess.interval)
    facts = {
        **_facts(scores.rows, lines, gain),
        "best_constant": loss.baseline.mean,
        "accuracy": scores[ACCURACY].model.mean,
    }
    rows = [
        [LOG_LOSS, *_cells(lines[0].model)],
        ["best constant", *_cells(_within(loss, of="baseline"))],
        ["gain", *_cells(gain)],
        *([line.name, *_cells(line.model)] for line in lines[1:]),
    ]
    text = [table(["on held-out rows, in nats", "", "95 % interval"], rows), _scored(scores.rows)]
    return Told(facts, text, _unseen(scores) + _no_gain(gain, "the class shares alone"))


def _about_median(constant: Constant) -> str:
    """Where offsets move the constant, it is the mean for every measure."""
    return "" if constant.median is None else f" {MEDIAN}"


def _told_number(scores: Scores, *, explained: str, about: str) -> Told:
    likelihood, absolute, squared = (scores[name] for name in (LOG_LIKELIHOOD, ABSOLUTE, SQUARED))
    lines = [
        Line(LOG_LIKELIHOOD, _within(likelihood), likelihood.baseline.mean),
        Line(explained, scores[DEVIANCE].explained(), 0.0),
        Line(ABSOLUTE, _within(absolute, 0.0), absolute.baseline.mean),
        Line("root mean squared error", _root(squared), sqrt(squared.baseline.mean)),
    ]
    gain = Estimate(-likelihood.excess.mean, _mirrored(likelihood.excess.interval))
    facts = {**_facts(scores.rows, lines, gain), "best_constant": likelihood.baseline.mean}
    rows = [[line.name, *_cells(line.model, line.constant or 0.0)] for line in lines]
    rows.append(["gain in nats per row", *_cells(gain), ""])
    header = ["on held-out rows", "", "95 % interval", "best constant"]
    text = [table(header, rows), _scored(scores.rows, about)]
    return Told(facts, text, _no_gain(gain, "a constant"))


def _told_density(scores: Scores) -> Told:
    likelihood = scores[LOG_LIKELIHOOD]
    line = Line(LOG_LIKELIHOOD, _within(likelihood))
    gain = Estimate(-likelihood.excess.mean, _mirrored(likelihood.excess.interval))
    facts = {**_facts(scores.rows, [line], gain), "one_component": likelihood.baseline.mean}
    rows = [
        [LOG_LIKELIHOOD, *_cells(line.model)],
        ["one component", *_cells(_within(likelihood, of="baseline"))],
        ["gain", *_cells(gain)],
    ]
    text = [table(["on held-out rows, in nats", "", "95 % interval"], rows), _scored(scores.rows)]
    return Told(facts, text, _no_gain(gain, "one component"))


def _facts(n: int, lines: Sequence[Line], gain: Estimate) -> dict[str, Any]:
    """The first measure by itself, and all of them."""
    first = lines[0]
    return {
        "name": first.name,
        "rows": n,
        "value": first.model.value,
        "interval": first.model.interval,
        "gain": gain.value,
        "gain_interval": gain.interval,
        "measures": [
            {
                "name": line.name,
                "value": line.model.value,
                "interval": line.model.interval,
                "best_constant": line.constant,
            }
            for line in lines
        ],
    }


def _scored(n: int, about: str = "") -> str:
    return wrapped(
        f"Scored on {count(n, 'row')} that this fit did not see. The model was then fitted "
        f"again on all rows.{about}"
    )


def _within(
    compared: Compared, lowest: float = -inf, highest: float = inf, *, of: str = "model"
) -> Estimate:
    """A mean, and its interval as far as it makes sense."""
    mean = getattr(compared, of)
    low, high = mean.interval
    return Estimate(mean.mean, (max(low, lowest), min(high, highest)))


def _root(squared: Compared) -> Estimate:
    value, (low, high) = _within(squared, 0.0)
    return Estimate(sqrt(value), (sqrt(low), sqrt(high)))


def _mirrored(interval: tuple[float, float]) -> tuple[float, float]:
    return -interval[1], -interval[0]


def _cells(estimate: Estimate, *beside: float) -> list[str]:
    """Value and interval, and what stands in the same line."""
    value, low, high, *others = beside_each_other(estimate.value, *estimate.interval, *beside)
    return [value, f"{low} to {high}", *others]


def _unseen(scores: Scores) -> tuple[str, ...]:
    if not scores.left_out:
        return ()
    rows = count(scores.left_out, "held-out row")
    return (f"{rows} had no label, or one that the fit had not seen; the score leaves them out.",)


def _no_gain(gain: Estimate, baseline: str) -> tuple[str, ...]:
    if gain.interval[0] > 0:
        return ()
    return (f"On these rows the model is not shown to be better than {baseline}.",)
