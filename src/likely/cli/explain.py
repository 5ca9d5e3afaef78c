"""``likely explain``: what a trained model looks at."""

import shlex
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer
from likely.cli.settings import Settings, global_options
from likely.cli.show import heading, table, width, wrapped
from likely.formatting import count, number, shortened

if TYPE_CHECKING:
    from likely.cli.telling import Telling
    from likely.runs import Run

MOST_COLUMNS = 10  # shown; JSON has all
MOST_PER_CLASS = 4  # where there are too many classes for a table
LONGEST_CELL = 18
OUTPUT = ("-o", "predictions.csv")

READING = {  # what the numbers of an event model are
    "bernoulli": "the share of true",
    "categorical": "the telling value and its share",
    "complement": "weights",
    "exponential": "the mean",
    "gaussian": "mean ± standard deviation",
    "laplace": "median ± mean deviation",
    "multinomial": "the share of all counts",
    "poisson": "the rate",
}


@click.command()
@click.argument("run")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many columns or terms to show, the most telling.",
)
@global_options
@click.pass_obj
def explain(settings: Settings, run: str, top: int | None) -> Answer:
    """Show what RUN (a folder, or @last) has learned.

    The telling columns of each class or component, or the coefficients of a linear model with
    their standard errors.
    """
    from likely.runs import open_run

    opened = open_run(run)
    data = str(opened.facts.get("data", {}).get("name", "DATA"))
    data = "DATA" if data == "standard input" else data
    told, result = explanation(opened.model, settings.seed, top)
    result = {**result, "model": opened.facts.get("model", result["model"])}
    return Answer(
        text=told,
        result=result,
        next=_next(opened, run, data),
    )


def _next(opened: "Run", name: str, data: str) -> str:
    """Of a sealed run the look that it leads to, then the report; of others a prediction."""
    if opened.facts.get("seal") and opened.facts.get("target") is not None:
        verb = "report" if opened.folder.is_scored else "final"
        return shlex.join(["likely", verb, name])
    return shlex.join(["likely", "predict", name, data, *_proba(opened.model), *OUTPUT])


def explanation(
    model: Any, seed: int, top: int | None = None, *, scaled: Sequence[str] = ()
) -> tuple[str, dict[str, Any]]:
    """The explanation of a fitted model, for a person and for a program.

    ``scaled`` are the columns whose numbers were centred and divided before the fit.
    """
    from likely.cli.registry import kebab

    if getattr(model, "preparation_", None) is not None:
        return _prepared(model, seed, top)
    name = kebab(model)
    if getattr(model, "penalties_", None) is not None:
        model = model.model_  # of a path, the one that was chosen
    if getattr(model, "estimators_", None) is not None:
        return _of_cuts(model, name, seed, top, scaled)
    if getattr(model, "coding_", None) is not None:
        from likely.cli.coefficients import of_linear

        return of_linear(model, name, top, scaled=scaled)
    return _of_components(model, name, seed, MOST_COLUMNS if top is None else top)


def _prepared(model: Any, seed: int, top: int | None) -> tuple[str, dict[str, Any]]:
    """The model inside, and what was done to each column before it."""
    told, result = explanation(model.model_, seed, top, scaled=model.preparation_.scaled)
    steps, top = model.steps_, MOST_COLUMNS if top is None else top
    room = width() - max(len(name) for name, _ in steps[:top]) - 4  # beside the longest name
    rows = [line for name, what in steps[:top] for line in _lines(name, what, room)]
    body = table(["column", "prepared inside the fit"], rows, words=range(2))
    if len(steps) > top:
        body += f"\n  … and {count(len(steps) - top, 'more column')} (--top {len(steps)} shows all)"
    steps_facts = [{"column": name, "step": what} for name, what in steps]
    return f"{told}\n\n{body}", {**result, "steps": steps_facts}


def _of_cuts(
    model: Any, name: str, seed: int, top: int | None, scaled: Sequence[str]
) -> tuple[str, dict[str, Any]]:
    """One model for each cut between ordered classes."""
    told, cuts = [], []
    for below, part in zip(model.classes_.tolist(), model.estimators_, strict=False):
        text, result = explanation(part, seed, top, scaled=scaled)
        told.append(f"{heading(f'{name}: above {below}')}\n{text}")
        cuts.append({"above": below, **result})
    return "\n\n".join(told), {"model": name, "cuts": cuts}


def _lines(name: str, what: str, room: int) -> list[list[str]]:
    """What was done to a column, whole, in as many lines as it needs."""
    from textwrap import wrap

    first, *rest = wrap(what, max(room, LONGEST_CELL), break_on_hyphens=False) or [""]
    return [[name, first], *(["", line] for line in rest)]


def _proba(model: Any) -> list[str]:
    return ["--proba"] if callable(getattr(model, "predict_proba", None)) else []


def _of_components(model: Any, name: str, seed: int, top: int) -> tuple[str, dict[str, Any]]:
    """Of classes or clusters with distributions."""
    import numpy as np

    from likely.cli.telling import tellings
    from likely.opening import feature_names

    log_prior = model.components_.log_mixing
    names = feature_names(model)
    rows = tellings(model.distribution_, log_prior, names, _value_labels(model, names), seed)
    groups = _groups(model, len(log_prior))
    weights = _weights(model, names)
    share = np.exp(log_prior)
    result = {
        "model": name,
        "groups": [{"name": g, "share": s} for g, s in zip(groups, share.tolist(), strict=True)],
        "columns": [
            {
                "column": row.column,
                "event": row.event,
                "evidence": dict(zip(groups, row.evidence.tolist(), strict=True)),
                "parameters": dict(zip(groups, row.values, strict=True)),
                **({"weight": weights[row.column]} if weights else {}),
            }
            for row in rows
        ],
    }
    text = _text(name, rows, groups, share.tolist(), weights, top)
    return text, result


def _groups(model: Any, n: int) -> list[str]:
    classes = getattr(model, "classes_", None)
    return [str(c) for c in (range(n) if classes is None else classes.tolist())]


def _weights(model: Any, names: Sequence[str]) -> dict[str, list[float]]:
    """Of a tied discriminant: the linear weights of each column."""
    if getattr(model, "covariance", None) != "tied" or getattr(model, "classes_", None) is None:
        return {}
    return {name: model.coef_[:, j].tolist() for j, name in enumerate(names)}


def _value_labels(model: Any, names: Sequence[str]) -> list[list[str]]:
    """What the codes of each column stand for; empty for numbers."""
    labels: list[list[str]] = [
        [] if values is None else [str(value) for value in values.tolist()]
        for values in model.schema_.categories
    ]
    cutter = getattr(model, "discretizer_", None)
    if cutter is not None:
        cut = [j for j, discretised in enumerate(model.plan_.discretised) if discretised]
        for j, edges in zip(cut, cutter.edges_, strict=True):
            labels[j] = _intervals([float(edge) for edge in edges])
    return labels


def _intervals(edges: list[float]) -> list[str]:
    if not edges:
        return ["any"]
    middle = [f"{a:.3g} to {b:.3g}" for a, b in pairwise(edges)]
    return [f"< {edges[0]:.3g}", *middle, f"≥ {edges[-1]:.3g}"]


def _text(
    name: str,
    rows: "Sequence[Telling]",
    groups: list[str],
    share: list[float],
    weights: dict[str, list[float]],
    top: int,
) -> str:
    what = "component" if name not in ("naive-bayes", "discriminant") else "class"
    many = count(len(groups), what, what + ("s" if what == "component" else "es"))
    title = f"{heading(name)}: {many}, {count(len(rows), 'column')}."
    reading = wrapped(
        f"Evidence is the log-odds, in nats, that a column by itself brings on average to the "
        f"rows of the {what} it tells best. " + "; ".join(_readings(rows))
    )
    shares = wrapped(
        "Shares: " + ", ".join(f"{g} {s:.2f}" for g, s in zip(groups, share, strict=True)) + "."
    )
    wide = _table(rows[:top], groups, weights)
    fits = max(len(click.unstyle(line)) for line in wide.splitlines()) <= width()
    body = wide if fits else _lists(rows, groups, min(top, MOST_PER_CLASS))
    left = len(rows) - top
    if fits and left > 0:
        body += f"\n  … and {count(left, 'more column')} (--top {len(rows)} shows all)"
    return "\n\n".join([title, shares, body, reading])


def _readings(rows: "Sequence[Telling]") -> list[str]:
    events = dict.fromkeys(row.event for row in rows)
    known = [f"{event} columns show {READING[event]}" for event in events if event in READING]
    if known:
        known[0] = known[0][0].upper() + known[0][1:]
        known[-1] += "."
    return known


def _table(rows: "Sequence[Telling]", groups: list[str], weights: dict[str, list[float]]) -> str:
    header = ["column", "evidence", *(shortened(group, LONGEST_CELL) for group in groups)]
    body = [
        [row.column, number(row.evidence.max()), *(shortened(v, LONGEST_CELL) for v in row.values)]
        for row in rows
    ]
    if weights:
        header += [f"weight {g}" for g in groups] if len(groups) > 2 else [f"weight {groups[1]}"]
        for line, row in zip(body, rows, strict=True):
            line += [f"{weight:+.3g}" for weight in weights[row.column]]
    return table(header, body)


def _lists(rows: "Sequence[Telling]", groups: list[str], most: int) -> str:
    """Class by class, for more classes than a table has room for."""
    lines = []
    wide = max(map(len, groups))
    for k, group in enumerate(groups):
        best = sorted(rows, key=lambda row: -float(row.evidence[k]))[:most]
        told = "; ".join(f"{r.column} {r.values[k]} ({number(r.evidence[k])})" for r in best)
        lines.append(f"  {group:<{wide}}  {wrapped(told, wide + 4)}")
    return "\n".join(lines)
