"""For an honest score, part of the rows is kept from the fit: chosen by a hash of their index.

The split is the same in memory and in a stream.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from likely.data.memory import in_one_table
from likely.data.source import ColumnKind, Source, column_index
from likely.data.split import split_mask
from likely.workbench.roles import Roles

if TYPE_CHECKING:
    import pyarrow as pa

FRACTION = 0.2


@final
@dataclass(frozen=True, eq=False)
class SomeRows(Source):
    """The rows that are held out, or the others."""

    source: Source
    seed: int
    held_out: bool
    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
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


def class_shares(rows: Source, roles: Roles, classes: list[Any]) -> dict[Any, float]:
    """The share of each class among the rows, by weight."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total: Counter[Any] = Counter()
    names = [name for name in (roles.target, roles.weight) if name is not None]
    for batch in rows.select(names):
        weight = pa.repeat(1.0, batch.num_rows) if roles.weight is None else batch.column(1)
        pairs = pa.table({"label": batch.column(0), "weight": pc.cast(weight, pa.float64())})
        for entry in pairs.group_by("label").aggregate([("weight", "sum")]).to_pylist():
            total[entry["label"]] += entry["weight_sum"]
    known = {label: total.get(label, 0.0) for label in classes}
    return {label: n / sum(known.values()) for label, n in known.items()}


def fitted(model: Any, rows: Source, roles: Roles, *, in_memory: bool) -> Any:
    """The model after a fit on the rows, in memory or as they are read."""
    beside = roles.to_fit()
    if not in_memory:
        return model.fit(rows, *([] if roles.target is None else [roles.target]), **beside)
    table = in_one_table(rows)
    arguments = {argument: table.column(name) for argument, name in beside.items()}
    target = [] if roles.target is None else [table.column(roles.target)]
    return model.fit(table.drop_columns(roles.columns), *target, **arguments)
