"""What a linear model has learned: its summary, or its coefficients class by class."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from likely._typing import Array
from likely.cli.show import heading, table, width, wrapped
from likely.formatting import count, shortened, signed
from likely.linear.summary import MOST_ROWS

LONGEST_NAME = 30
MOST_TERMS = 20  # of a summary, where --top says nothing
MOST_PER_CLASS = 4  # where there are too many classes for a table
COLUMNS = ("coef", "se", "z", "p", "low", "high")


def of_linear(
    model: Any, name: str, top: int | None, *, scaled: Sequence[str] = ()
) -> tuple[str, dict[str, Any]]:
    """The explanation of a model with a linear predictor, for a person and for a program."""
    shown = MOST_TERMS if top is None else top
    if getattr(model, "inference_", None) is None:
        return _weights(model, name, shown, scaled)
    text, result = _summary(model, name, shown)
    units = f"\n{wrapped(_units(scaled))}" if scaled else ""
    return f"{text}{units}", result


def _units(scaled: Sequence[str]) -> str:
    """What one unit of a column is, after its preparation."""
    if not scaled:
        return "They have the units of their columns, so compare them across columns with care."
    which = "Numbers" if len(scaled) > 1 else scaled[0]
    verb = "were" if len(scaled) > 1 else "was"
    return (
        f"{which} {verb} centred and divided by the standard deviation: a coefficient there is per "
        "standard deviation, as the preparation below says."
    )


def _summary(model: Any, name: str, top: int) -> tuple[str, dict[str, Any]]:
    """Coefficients with their errors; JSON has all rows."""
    told = model.summary()
    frame = told.to_frame("pyarrow")
    columns = {column: frame.column(column).to_pylist() for column in ("term", *COLUMNS)}
    fit = told.inference
    result = {
        "model": name,
        "title": told.title,
        "terms": [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ],
        "fit": {
            "examples": fit.n,
            "parameters": fit.n_parameters,
            "log_likelihood": fit.log_likelihood,
            "null_log_likelihood": fit.null_log_likelihood,
            "deviance": fit.deviance,
            "null_deviance": fit.null_deviance,
            "aic": fit.aic,
            "bic": fit.bic,
            "dispersion": fit.dispersion,
            "covariance": fit.covariance_kind,
            "distribution": fit.distribution,
        },
        "notes": list(told.notes),
    }
    if len(fit.names) <= min(top, MOST_ROWS):
        return str(told), result
    order = sorted(range(len(fit.names)), key=lambda j: -_size(result["terms"][j]["z"]))
    left = len(fit.names) - top
    more = (
        f"… and {count(left, 'more term')} (--top {len(fit.names)} shows all)" if left > 0 else ""
    )
    return told.text(order[:top], more), result


def _size(z: float | None) -> float:
    """A term that was held at 0 has no z."""
    return 0.0 if z is None or z != z else abs(z)


def _weights(model: Any, name: str, top: int, scaled: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Coefficients without errors: one per term, or one per term and class."""
    groups, coef, intercept = _by_group(model)
    terms = list(model.terms_)
    result = {
        "model": name,
        "groups": groups,
        "intercept": dict(zip(groups, intercept.tolist(), strict=True)),
        "terms": [
            {"term": term, "coef": dict(zip(groups, row, strict=True))}
            for term, row in zip(terms, coef.T.tolist(), strict=True)
        ],
    }
    order = np.argsort(-np.abs(coef).max(axis=0), kind="stable").tolist()
    body = _table(terms, order[:top], groups, coef, intercept)
    if max(map(len, body.splitlines())) > width():
        body = _lists(terms, groups, coef, min(top, MOST_PER_CLASS))
    elif len(order) > top:
        more = count(len(order) - top, "more coefficient")
        body += f"\n  … and {more} (--top {len(order)} shows all)"
    title = f"{heading(name)}: {count(len(terms), 'coefficient')} for {_whom(model, groups)}."
    reading = wrapped(
        "A coefficient is what one unit of its column adds to the linear predictor, the largest "
        f"first. {_units(scaled)}"
    )
    return "\n\n".join([title, body, reading]), result


def _by_group(model: Any) -> tuple[list[str], Array, Array]:
    """The names of the predictors, their coefficients (K, d) and their intercepts (K,)."""
    coef = np.atleast_2d(model.coef_)
    intercept = np.atleast_1d(np.asarray(model.intercept_, dtype=float))
    classes = [str(label) for label in getattr(model, "classes_", ())]
    if len(coef) == len(classes):
        return classes, coef, intercept
    if len(coef) == 1:
        return [classes[1] if len(classes) == 2 else "coef"], coef, intercept
    return [f"target {k}" for k in range(len(coef))], coef, intercept


def _whom(model: Any, groups: Sequence[str]) -> str:
    classes: Sequence[Any] = getattr(model, "classes_", ())
    if len(groups) > 1:
        return f"each of {len(groups)} {'classes' if len(classes) else 'targets'}"
    return f"{groups[0]} against {classes[0]}" if len(classes) == 2 else "one predictor"


def _table(
    terms: list[str], shown: list[int], groups: list[str], coef: Array, intercept: Array
) -> str:
    rows = [
        [shortened(terms[j], LONGEST_NAME), *(signed(value) for value in coef[:, j].tolist())]
        for j in shown
    ]
    rows.append(["intercept", *(signed(value) for value in intercept.tolist())])
    return table(["term", *groups], rows)


def _lists(terms: list[str], groups: list[str], coef: Array, most: int) -> str:
    """Class by class, for more classes than a table has room for."""
    wide = max(map(len, groups))
    lines = []
    for group, row in zip(groups, coef, strict=True):
        best = np.argsort(-np.abs(row), kind="stable")[:most].tolist()
        told = "; ".join(f"{terms[j]} {signed(row[j])}" for j in best)
        lines.append(f"  {group:<{wide}}  {wrapped(told, wide + 4)}")
    return "\n".join(lines)
