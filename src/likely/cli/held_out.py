"""An honest score: part of the rows is kept from the fit, and the model is asked about them.

    log loss = −(1/n) Σ log p(yᵢ | xᵢ)        best constant: p(y) = the class shares of the fit

Rows are chosen by a hash of their index, so the split is the same in memory and in a stream.
Intervals are mean ± 1.96 standard errors of the rows' losses.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array
from likely.additive import Additive, pairwise_total
from likely.cli.tables import CHUNK_ROWS, TableSource, in_one_table
from likely.data.source import Kind, Source, column_index
from likely.data.source_blocks import chunks
from likely.data.split import split_mask

if TYPE_CHECKING:
    import pyarrow as pa

FRACTION = 0.2
Z95 = 1.959963984540054  # the normal quantile of 97.5 %


@final
@dataclass(frozen=True, eq=False)
class SomeRows(Source):
    """The rows that are held out, or the others."""

    source: Source
    seed: int
    held_out: bool
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    n_rows: None
    nbytes: int | None

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        start = 0
        for batch in self.source:
            mask = split_mask(start, batch.num_rows, self.seed, FRACTION)
            start += batch.num_rows
            kept = batch.filter(pa.array(mask if self.held_out else ~mask))
            if kept.num_rows:
                yield kept

    def select(self, names: Sequence[str]) -> "SomeRows":
        kinds = tuple(self.kinds[column_index(self.names, name)] for name in names)
        return replace(self, source=self.source.select(names), names=tuple(names), kinds=kinds)


def split(source: Source, seed: int) -> tuple[Source, Source]:
    """The rows to fit on, and the rows held out."""
    parts = [
        SomeRows(source, seed, held_out, source.names, source.kinds, None, source.nbytes)
        for held_out in (False, True)
    ]
    return parts[0], parts[1]


@final
@dataclass(frozen=True)
class Mean(Additive):
    """A mean with its standard error, from parts."""

    n: int
    mean: float
    scatter: float  # Σ (x − mean)²

    @classmethod
    def of(cls, values: Array) -> "Mean":
        mean = float(values.mean())
        scatter = float(((values - mean) ** 2).sum()) if np.isfinite(mean) else inf
        return cls(values.size, mean, scatter)

    def __add__(self, other: "Mean") -> "Mean":
        n = self.n + other.n
        gap = other.mean - self.mean
        return Mean(
            n,
            self.mean + gap * other.n / n,
            self.scatter + other.scatter + gap * gap * self.n * other.n / n,
        )

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, by the normal approximation."""
        if self.n < 2 or not np.isfinite(self.scatter):
            return -inf, inf
        half = Z95 * sqrt(self.scatter / (self.n - 1) / self.n)
        return self.mean - half, self.mean + half


@final
@dataclass(frozen=True, eq=False)
class Scores(Additive):
    """Of held-out rows: the model's value, the baseline's, the gain of one over the other."""

    model: Mean
    baseline: Mean
    gain: Mean  # positive where the model is better
    right: int  # rows whose class was the most probable one
    left_out: int  # rows whose class the fit had not seen

    def __add__(self, other: "Scores") -> "Scores":
        return Scores(
            self.model + other.model,
            self.baseline + other.baseline,
            self.gain + other.gain,
            self.right + other.right,
            self.left_out + other.left_out,
        )


def class_counts(rows: Source, target: str) -> dict[Any, int]:
    """How many rows each label has; a missing label is None."""
    import pyarrow.compute as pc

    total: Counter[Any] = Counter()
    for batch in rows.select([target]):
        for entry in pc.value_counts(batch.column(0)).to_pylist():
            total[entry["values"]] += entry["counts"]
    return dict(total)


def log_loss(model: Any, rows: Source, target: str, share: dict[Any, float]) -> Scores | None:
    """The log loss on rows with a target, beside that of constant probabilities ``share``."""
    features = list(model.feature_names_in_)
    place = {label: k for k, label in enumerate(model.classes_.tolist())}
    parts = []
    for table in chunks(rows.select([*features, target]), CHUNK_ROWS):
        labels = table.column(target).to_pylist()
        known = np.array([label in place for label in labels])
        if not known.any():
            continue
        code = np.array([place[label] for label in labels if label in place])
        log_proba = model.predict_log_proba(table.select(features))[known]
        loss = -log_proba[np.arange(len(code)), code]
        constant = -np.log([share[label] for label in labels if label in place])
        right = int((log_proba.argmax(axis=1) == code).sum())
        left_out = int((~known).sum())
        parts.append(
            Scores(Mean.of(loss), Mean.of(constant), Mean.of(constant - loss), right, left_out)
        )
    return pairwise_total(parts) if parts else None


def log_likelihood(model: Any, one: Any, rows: Source) -> Scores | None:
    """log p(x) per row, beside that of a model with one component."""
    features = list(model.feature_names_in_)
    parts = []
    for table in chunks(rows.select(features), CHUNK_ROWS):
        ours, theirs = model.score_samples(table), one.score_samples(table)
        parts.append(Scores(Mean.of(ours), Mean.of(theirs), Mean.of(ours - theirs), 0, 0))
    return pairwise_total(parts) if parts else None


def fitted(model: Any, rows: Source, target: str | None, *, in_memory: bool) -> Any:
    """The model after a fit on the rows, in memory or as they are read."""
    if not in_memory:
        return model.fit(rows) if target is None else model.fit(rows, target)
    table = rows.table if isinstance(rows, TableSource) else in_one_table(rows)
    if target is None:
        return model.fit(table)
    return model.fit(table.drop_columns([target]), table.column(target))
