"""Classes and components in words: which columns separate them, and by what parameters."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from likely._typing import Array
from likely.description import (
    ColumnsRead,
    Description,
    NamedColumn,
    NamedTable,
    remark_on_little_spread,
    remark_on_many_values,
)
from likely.distributions import Distribution
from likely.formatting import capitalised, count


class Described(NamedTuple):
    """What a fitted model of components has learned, and what its columns are called."""

    member: Distribution
    log_mixing: Array
    names: Sequence[str]  # of the columns
    groups: tuple[str, ...]  # of the components
    labels: Sequence[Sequence[str]]  # of the values of each column of codes; empty for numbers
    weights: Array | None = None  # of a linear posterior, (n_groups or 1, n_features)


def describe_components(
    about: Described, *, name: str, component: tuple[str, str], n_iter: int | None
) -> Description:
    """The most informative columns first; ``component`` is what a component is called."""
    evidence = about.member.evidence(about.log_mixing, np.random.default_rng(0))
    rows = _rows(about)
    order = sorted(range(len(rows)), key=lambda j: -float(evidence[:, j].max()))
    one, many = component
    table = NamedTable(
        "columns",
        _columns(about),
        tuple(rows[j] for j in order),
        noun="column",
        weights=tuple(tuple(evidence[:, j].tolist()) for j in order),
        weights_are="evidence",
    )
    shapes = {part.event: part.parameters_are for part, _ in about.member.by_part()}
    shown = [f"{event} columns show {what}" for event, what in shapes.items() if what]
    return Description(
        f"{name}: {count(len(about.groups), one, many)}, {count(len(rows), 'column')}",
        groups=about.groups,
        shares=tuple(np.exp(about.log_mixing).tolist()),
        tables=(table, *_weights(about)),
        notes=(
            "Evidence is the log-odds, in nats, that a column by itself brings on average to the "
            f"rows of the {one} that it separates best.",
            *([f"{capitalised('; '.join(shown))}."] if shown else []),
        ),
        n_iter=n_iter,
    )


def columns_read(
    member: Distribution, log_mixing: Array, names: Sequence[str], n_rows: int | None
) -> ColumnsRead:
    """How many columns each event model reads, and which of them deserve a look."""
    kinds: Counter[str] = Counter()
    sizes: list[int | None] = [None] * len(names)
    flat = np.zeros(len(names), dtype=bool)
    for part, features in member.by_part():
        kinds[part.event] += len(features)
        flat[list(features)] = part.hardly_varying(log_mixing)
        for place, feature in enumerate(features):
            sizes[feature] = part.n_values(place)
    narrow = [name for name, is_flat in zip(names, flat, strict=True) if is_flat]
    remarks = (*remark_on_many_values(sizes, names, n_rows), *remark_on_little_spread(narrow))
    return ColumnsRead(dict(kinds), remarks)


def _columns(about: Described) -> tuple[NamedColumn, ...]:
    return (
        NamedColumn("column", "column"),
        NamedColumn("event", "event model"),
        *(NamedColumn("parameters", group, group=group) for group in about.groups),
    )


def _weights(about: Described) -> tuple[NamedTable, ...]:
    """The weights of a posterior that is linear in x, where there are any."""
    if about.weights is None:
        return ()
    own = about.groups if len(about.weights) > 1 else about.groups[1:]
    columns = [NamedColumn("weight", group, "signed", group) for group in own]
    table = NamedTable(
        "weights",
        (NamedColumn("column", "linear weight of"), *columns),
        tuple(zip(about.names, *about.weights.tolist(), strict=True)),
        noun="column",
        weights=tuple(map(tuple, np.abs(about.weights.T).tolist())),
    )
    return (table,)


def _rows(about: Described) -> list[tuple[object, ...]]:
    """A row for each column of the table, in its order."""
    rows: list[tuple[object, ...]] = [()] * len(about.names)
    for part, features in about.member.by_part():
        margins = part.margins()
        for place, j in enumerate(features):
            words = margins.parameters_of(place, about.labels[j])
            rows[j] = (about.names[j], part.event, *words)
    return rows
