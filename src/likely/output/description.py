"""What a fitted model says about itself: a title, how well it fits, tables and notes.

An estimator has a method ``describe()`` that returns a ``Description``.  It prints as text,
``likely explain`` shows it, and the report draws it; a new model needs no more than this method to
be explained and reported.  An estimator without it is described by its settings.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, final, runtime_checkable

from likely.kinds import ColumnKind
from likely.output.formatting import (
    coefficient_cells,
    listed,
    number,
    p_value,
    quoted,
    signed,
    statistic,
)

Form = Literal["word", "number", "signed", "estimate", "error", "low", "high", "statistic", "p"]
ENDS: tuple[Form, ...] = ("estimate", "error", "low", "high")  # written alike, and drawn
MANY_VALUES = 50  # of a text column, and at least a tenth of the rows: an identifier, or a mistake
MANY_SHARE = 0.1
MOST_NAMED = 3  # columns in one remark
WRITTEN: dict[Form, Callable[[Any], str]] = {
    "number": number,
    "statistic": statistic,
    "p": p_value,
    "signed": signed,
}


@final
@dataclass(frozen=True)
class Fact:
    """A number about the fit."""

    key: str  # in JSON
    name: str  # for a person
    value: Any
    text: str = ""  # how it is written; four digits, where nothing is given

    @property
    def written(self) -> str:
        return self.text or number(self.value)


@final
@dataclass(frozen=True)
class NamedColumn:
    """A column of a table of a description."""

    key: str  # in JSON
    head: str  # for a person
    form: Form = "word"  # how its values are written
    group: str | None = None  # the class or component that it is about


@final
@dataclass(frozen=True)
class NamedTable:
    """Rows of values, which renderers write; JSON has all of them."""

    key: str  # in JSON
    columns: tuple[NamedColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    noun: str = "row"  # what a row is: "… and 3 more terms"
    title: str = ""  # above the table
    weights: tuple[tuple[float, ...], ...] = ()  # of each row, for all or for each group
    weights_are: str = ""  # shown in a column with this heading, and in JSON, if it is given
    ranked: bool = True  # whether the most important rows come first even if all are shown
    last: int = 0  # so many rows at the end are always shown

    @property
    def groups(self) -> tuple[str, ...]:
        """The classes or components that have columns of their own."""
        return tuple(dict.fromkeys(each.group for each in self.columns if each.group is not None))

    def importance(self, group: int | None = None) -> list[float]:
        """The importance of each row: for a group, or its largest importance for any group."""
        if not self.weights:
            return [0.0] * len(self.rows)
        return [float(max(row) if group is None else row[group]) for row in self.weights]

    def chosen(self, most: int | None = None, group: int | None = None) -> list[int]:
        """The rows to show: all, or the most important ones."""
        free = len(self.rows) - self.last
        cut = most is not None and free > most
        order = list(range(free))
        if self.weights and (cut or self.ranked or group is not None):
            weight = self.importance(group)
            order.sort(key=lambda i: -weight[i])  # stable
        return order[:most] if cut or group is not None else order

    def always(self) -> list[int]:
        """The rows that are always shown."""
        return list(range(len(self.rows) - self.last, len(self.rows)))

    def written(self, row: int) -> list[str]:
        """The cells of a row as text; an estimate has two digits of its standard error."""
        values = self.rows[row]
        forms = [each.form for each in self.columns]
        ends = _ends(dict(zip(forms, values, strict=True))) if "error" in forms else {}
        return [
            ends[form] if form in ends else _written(form, value)
            for form, value in zip(forms, values, strict=True)
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """A mapping for each row; columns of groups are mappings from the group."""
        weighed = [{} for _ in self.rows] if not self.weights_are else self._weights_by_group()
        return [{**self._record(row), **more} for row, more in zip(self.rows, weighed, strict=True)]

    def _record(self, row: Sequence[Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for column, value in zip(self.columns, row, strict=True):
            if column.group is None:
                found[column.key] = value
            else:
                found.setdefault(column.key, {})[column.group] = value
        return found

    def _weights_by_group(self) -> list[dict[str, Any]]:
        return [
            {self.weights_are: dict(zip(self.groups, row, strict=True))} for row in self.weights
        ]


@final
@dataclass(frozen=True)
class DescribedLosses:
    """Losses by the step of a training, for a picture."""

    noun: str  # of a step: "epoch"
    train: tuple[float, ...]  # from step 1
    validation: tuple[float, ...] = ()  # none where no rows were held out
    kept: int = 0  # the step whose parameters the model has
    title: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "of": self.title,
            "by": self.noun,
            "train": list(self.train),
            "validation": list(self.validation),
            "kept": self.kept,
        }


@final
@dataclass(frozen=True)
class Description:
    """A fitted model in words and numbers; prints as text."""

    title: str  # "NaiveBayes: 3 classes, 4 columns"
    fit: tuple[Fact, ...] = ()  # how well it fits
    groups: tuple[str, ...] = ()  # its classes or components
    shares: tuple[float, ...] = ()  # of them
    tables: tuple[NamedTable, ...] = ()
    notes: tuple[str, ...] = ()  # how to read the tables, and what limits them
    parts: "tuple[Description, ...]" = ()  # the models inside, each with a title of its own
    n_iter: int | None = None  # steps of the search; None where there was none
    curves: tuple[DescribedLosses, ...] = ()  # how the losses fell, for a picture

    def __str__(self) -> str:
        from likely.output.description_text import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from likely.output.description_text import html_of

        return html_of(self)

    def also(
        self, *, tables: Sequence[NamedTable] = (), notes: Sequence[str] = (), title: str = ""
    ) -> "Description":
        """The description with more tables and notes: those of a model around this one."""
        return replace(
            self,
            title=title or self.title,
            tables=(*self.tables, *tables),
            notes=(*self.notes, *notes),
        )

    def most_important(self) -> list[str]:
        """The names in the first table that has weights, the most important first."""
        for table in self.tables:
            if table.weights:
                weight = table.importance()
                order = sorted(range(len(table.rows)), key=lambda i: -weight[i])
                return [str(table.rows[i][0]) for i in order]
        return []

    def to_json(self) -> dict[str, Any]:
        """Everything, in the types that JSON has; tables are under their keys."""
        found: dict[str, Any] = {"title": self.title}
        if self.groups:
            found["groups"] = list(self.groups)
        if self.shares:
            found["shares"] = dict(zip(self.groups, self.shares, strict=True))
        found |= {table.key: table.to_json() for table in self.tables}
        if self.fit:
            found["fit"] = {fact.key: fact.value for fact in self.fit}
        if self.curves:
            found["curves"] = [curve.to_json() for curve in self.curves]
        if self.parts:
            found["parts"] = [part.to_json() for part in self.parts]
        return {**found, "notes": list(self.notes), "n_iter": self.n_iter}


@final
@dataclass(frozen=True)
class ColumnsRead:
    """How a model has read its columns, and which of them to check."""

    kinds: Mapping[str, int] = field(default_factory=dict)  # how many columns of each
    remarks: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()  # columns that held numbers in the fit
    categories: tuple[str, ...] = ()  # columns that held text
    complete: bool = False  # whether every cell needs a value

    def with_columns(self, names: Sequence[str], kinds: Sequence[ColumnKind]) -> "ColumnsRead":
        """A copy with the names of the numeric and text columns."""
        pairs = list(zip(names, kinds, strict=True))
        numbers = tuple(name for name, kind in pairs if kind == "number")
        categories = tuple(name for name, kind in pairs if kind == "category")
        return replace(self, numbers=numbers, categories=categories)

    def __str__(self) -> str:
        """``3 gaussian, 1 categorical``."""
        return ", ".join(f"{n:,} {kind}" for kind, n in sorted(self.kinds.items()))


@runtime_checkable
class Describes(Protocol):
    """An estimator that describes what it has learned."""

    def describe(self) -> Description: ...


def describe(model: Any) -> Description:
    """The description of a fitted model; for an estimator of another library, its settings."""
    return model.describe() if isinstance(model, Describes) else settings_of(model)


def settings_of(model: Any) -> Description:
    """The settings of an estimator that has no ``describe`` method."""
    name = type(model).__name__
    rows = tuple(
        (key, value if isinstance(value, str | int | float | bool) else repr(value))
        for key, value in sorted(model.get_params().items())
    )
    return Description(
        f"{name}: {len(rows)} settings",
        tables=(
            NamedTable(
                "settings",
                (NamedColumn("setting", "setting"), NamedColumn("value", "value")),
                rows,
                noun="setting",
            ),
        ),
        notes=(f"{name} does not describe what it has learned, so these are its settings.",),
    )


def remark_on_many_values(
    sizes: Sequence[int | None], names: Sequence[str], n_rows: int | None
) -> tuple[str, ...]:
    """A remark that names the columns of text with too many values, if there are any."""
    least = max(MANY_VALUES, MANY_SHARE * (n_rows or 0))
    pairs = zip(names, sizes, strict=True)
    many = [f"{name!r} ({n:,} values)" for name, n in pairs if n is not None and n > least]
    if not many:
        return ()
    return (
        f"Text with very many values: {listed(many, MOST_NAMED)}. An identifier is useless "
        "for new rows, and a single word among numbers turns every number into a category: drop "
        "the column, or fix it.",
    )


def remark_on_little_spread(names: Sequence[str]) -> tuple[str, ...]:
    """A remark that names the columns that hardly vary in some class, if there are any."""
    if not names:
        return ()
    one = len(names) == 1
    return (
        f"Column{'' if one else 's'} {quoted(names, MOST_NAMED)} hardly "
        f"{'varies' if one else 'vary'} within a class, so {'its' if one else 'their'} Gaussian "
        "gives extreme probabilities. Try --set discretize=quantile, --set variance_floor=0.01, or "
        "another event.",
    )


def _ends(values: Mapping[str, Any]) -> dict[str, str]:
    """An estimate, its standard error and its interval: digits by the standard error."""
    return dict(zip(ENDS, coefficient_cells(*(values.get(form) for form in ENDS)), strict=True))


def _written(form: Form, value: Any) -> str:
    if form == "word" or value is None:
        return number(None) if value is None else str(value)
    return WRITTEN.get(form, number)(value)
