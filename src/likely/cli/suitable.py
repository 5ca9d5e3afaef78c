"""Whether a table suits a model, found in one pass before the work; if not, which model does.

a number          linear, glm
two classes       logistic        more of them: softmax, or ordinal where they have an order
missing cells     naive-bayes, discriminant, mixture
"""

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from likely.cli.builtin import BUILTIN
from likely.cli.exits import Exit, Refusal
from likely.cli.registry import Model
from likely.cli.roles import Roles
from likely.cli.show import count
from likely.data.source import Source, column_index

if TYPE_CHECKING:
    import pyarrow as pa

MANY_CLASSES = 20  # more of them need …
FEW_ROWS = 5  # … at least this many rows each


class Gap(NamedTuple):
    """A missing cell."""

    column: str
    row: int  # from 1


class Wish(NamedTuple):
    """What was asked for."""

    data: str  # as it was given
    model: Model
    roles: Roles

    @property
    def target(self) -> str:
        return str(self.roles.target)

    def with_model(self, better: str) -> str:
        """The command that trains another model on the same target."""
        known = self.data in BUILTIN and BUILTIN[self.data].target == self.target
        option = [] if known else ["--target", self.target]
        return shlex.join(["likely", "train", self.data, better, *option])


def check_suitable(source: Source, wish: Wish) -> None:
    """Refuse a target that the model cannot predict, and cells that it cannot do without."""
    if wish.roles.target is not None:
        (_check_number if wish.model.target == "number" else _check_classes)(source, wish)
    if not wish.model.gaps:
        _check_gaps(source, wish)


def counted(source: Source, column: str) -> dict[Any, int]:
    """How many rows each value of a column has; a missing one is None."""
    import pyarrow.compute as pc

    total: Counter[Any] = Counter()
    for batch in source.select([column]):
        for entry in pc.value_counts(batch.column(0)).to_pylist():
            total[entry["values"]] += entry["counts"]
    return dict(total)


def first_gap(table: "pa.Table | pa.RecordBatch", start: int = 0) -> Gap | None:
    """The first column of the table with a missing cell; rows are counted from ``start``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in table.schema.names:
        column = table.column(name)
        floating = pa.types.is_floating(column.type)
        if not (column.null_count or floating):
            continue
        missing = pc.is_null(column, nan_is_null=floating)
        at = pc.index(missing, True).as_py()
        if at >= 0:
            return Gap(name, start + at + 1)
    return None


def _check_classes(source: Source, wish: Wish) -> None:
    """A number that is measured is no class; nor is a column where nearly every value differs."""
    counts = counted(source, wish.target)
    labels = [label for label in counts if label is not None]
    if not labels:
        _refuse(f"Column {wish.target!r} is empty; labels were expected. Choose another --target.")
    fractions = [x for x in labels if isinstance(x, float) and x == x and not x.is_integer()]
    lonely = len(labels) > MANY_CLASSES and len(labels) * FEW_ROWS > sum(counts.values())
    if fractions or lonely:
        found = f"such as {fractions[0]:g}" if fractions else f"{len(labels):,} different values"
        numeric = all(isinstance(label, int | float) for label in labels)
        advice = "Use linear, or glm for counts and amounts" if numeric else "Choose another target"
        _refuse(
            f"Column {wish.target!r} holds measurements or names ({found}); {wish.model.name} "
            f"needs classes with several rows each. {advice}, or cut the column into classes.",
            wish.with_model("linear") if numeric else "likely models",
        )
    if wish.model.target == "two classes" and len(labels) > 2:
        _refuse(
            f"Column {wish.target!r} has {len(labels)} classes; {wish.model.name} tells two apart. "
            "Use softmax, or ordinal where they have an order.",
            wish.with_model("softmax"),
        )


def _check_number(source: Source, wish: Wish) -> None:
    if source.kinds[column_index(source.names, wish.target)] in ("number", "boolean"):
        return
    labels = [label for label in counted(source, wish.target) if label is not None]
    better = "logistic" if len(labels) == 2 else "softmax"
    shown = f" such as {labels[0]!r}" if labels else ""
    _refuse(
        f"Column {wish.target!r} holds text{shown}; {wish.model.name} predicts numbers. Use "
        f"{better} for its {count(len(labels), 'class', 'classes')}, or choose another --target.",
        wish.with_model(better),
    )


def _check_gaps(source: Source, wish: Wish) -> None:
    start = 0
    for batch in source:
        gap = first_gap(batch, start)
        start += batch.num_rows
        if gap is not None:
            _refuse_gap(gap, wish)


def _refuse_gap(gap: Gap, wish: Wish) -> NoReturn:
    name = wish.model.name
    if gap.column in wish.roles.columns:
        _refuse(
            f"Column {gap.column!r} is empty in row {gap.row}; {name} needs a value in every row. "
            "Fill it, or drop the row."
        )
    classes = wish.model.target != "number"
    other = ", or use naive-bayes, which goes on without it" if classes else ""
    _refuse(
        f"Column {gap.column!r} has a missing cell in row {gap.row}; {name} needs a value in every "
        f"cell. Fill it, or drop the row or the column{other}.",
        wish.with_model("naive-bayes") if classes else "likely models",
    )


def _refuse(message: str, next: str = "likely train --help") -> NoReturn:
    raise Refusal(message, Exit.DATA, next)
