"""How a trained model read its columns, and what a person should know about it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from likely.data.schema import Schema
from likely.distributions import Categorical, DiagonalGaussian, Product
from likely.opening import feature_names
from likely.workbench.identifiers import has_many_values

HARDLY = 1e-6  # of a column's spread over all classes


class Reading(NamedTuple):
    """The event models in use, and findings about single columns."""

    events: dict[str, int]  # how many columns each has
    findings: tuple[str, ...]


def reading(model: Any, n_rows: int | None) -> Reading:
    """Of a model with one event model per column, or of a linear one; empty for others."""
    if getattr(model, "coding_", None) is not None:
        return _of_linear(model.coding_.schema, feature_names(model), n_rows)
    member = model.distribution_
    if not isinstance(member, Product):
        return Reading({}, ())
    names = feature_names(model)
    events: Counter[str] = Counter()
    many: list[str] = []
    flat: list[str] = []
    for part, selection in zip(member.parts, member.selections, strict=True):
        own = [names[j] for j in selection.features]
        events[_event(part)] += len(own)
        if isinstance(part, Categorical):
            many += _many_values(part.sizes, own, n_rows)
        if isinstance(part, DiagonalGaussian):
            flat += _hardly_varying(part, own, model.components_.log_mixing)
    return Reading(dict(events), (*_about_many(many), *_about_flat(flat)))


def _of_linear(schema: Schema, names: tuple[str, ...], n_rows: int | None) -> Reading:
    """Numbers have one coefficient each, categories one for every value."""
    events = Counter("categorical" if coded else "numeric" for coded in schema.as_codes)
    coded = [name for name, is_coded in zip(names, schema.as_codes, strict=True) if is_coded]
    return Reading(dict(events), tuple(_about_many(_many_values(schema.sizes, coded, n_rows))))


def in_words(events: dict[str, int]) -> str:
    """``3 gaussian, 1 categorical``: which event models read how many columns."""
    parts = [f"{count:,} {event}" for event, count in sorted(events.items())]
    return f"Columns are read as: {', '.join(parts)}." if parts else ""


def _event(part: Any) -> str:
    return "gaussian" if isinstance(part, DiagonalGaussian) else type(part).__name__.lower()


def _many_values(sizes: Sequence[int], names: list[str], n_rows: int | None) -> list[str]:
    pairs = zip(names, sizes, strict=True)
    return [
        f"{name!r} ({size:,} values)" for name, size in pairs if has_many_values(size, n_rows or 0)
    ]


def _hardly_varying(part: DiagonalGaussian, names: list[str], log_prior: Any) -> list[str]:
    """Columns whose variance in some class is next to nothing of their variance over all."""
    share = np.exp(log_prior)[:, None]
    mean = np.sum(share * part.mean, axis=0)
    whole = np.sum(share * (part.variance + (part.mean - mean) ** 2), axis=0)
    narrow = part.variance.min(axis=0) < HARDLY * whole
    return [repr(name) for name, is_narrow in zip(names, narrow, strict=True) if is_narrow]


def _about_many(columns: list[str]) -> list[str]:
    if not columns:
        return []
    return [
        f"Text with very many values: {_first(columns)}. An identifier tells nothing about new "
        "rows, and one stray word makes a category of every number: drop the column, or mend it."
    ]


def _about_flat(columns: list[str]) -> list[str]:
    if not columns:
        return []
    return [
        f"Hardly any spread in some class: {_first(columns)}. A Gaussian there is sure beyond "
        "reason. Try --set discretize=quantile, --set variance_floor=0.01, or another event."
    ]


def _first(columns: list[str]) -> str:
    rest = len(columns) - 3
    return ", ".join(columns[:3]) + (f" and {rest} more" if rest > 0 else "")
