"""The options about DATA, which a verb gets as one argument, a ``DataOptions``."""

import csv
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from io import StringIO
from typing import TYPE_CHECKING, Any, NoReturn, final

import click

from likely.cli.answer import Exit, Refusal
from likely.cli.terminal import Settings
from likely.formatting import listed
from likely.kinds import TARGET_KINDS, TargetKind

if TYPE_CHECKING:
    from likely.sealing.folder import SealFolder
    from likely.workbench.data.dataset import Dataset

Command = Callable[..., Any]
MOST_LABELS = 30  # values of a header that may be a label


@final
@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """The options about DATA; None, or empty, where an option was not given."""

    target: str | None = None
    kind: TargetKind | None = None
    order: tuple[Any, ...] | None = None
    group: str | None = None
    by_time: str | None = None
    weight: str | None = None
    offset: str | None = None
    exposure: str | None = None
    clusters: str | None = None
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    feature: tuple[str, ...] = ()
    text: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.order is not None and self.kind not in (None, "ordinal"):
            raise click.UsageError(
                f"--order and --kind {self.kind} were given; only ordinal targets have an order. "
                "Leave one of them out."
            )
        if self.group is not None and self.by_time is not None:
            raise click.UsageError(
                f"--group {self.group} and --by-time {self.by_time} were given; rows are held out "
                "by one of them. Leave one out."
            )

    @classmethod
    def in_run(cls, facts: Mapping[str, Any]) -> "DataOptions":
        """The options that the model of a RUN was trained with, from ``run.json``."""
        task = facts.get("task") or {}
        kind, order = task.get("kind"), task.get("order")
        if kind == "ordinal" and order is None:
            order = facts.get("classes")
        return cls(
            target=facts.get("target"),
            kind=kind,
            order=None if order is None else tuple(order),
            group=facts.get("group"),
            by_time=facts.get("by_time"),
            **facts.get("roles", {}),
            drop=tuple(facts.get("dropped", ())),
            category=tuple(facts.get("categories", ())),
            feature=tuple(facts.get("declared_features", ())),
            text=tuple(facts.get("declared_texts", ())),
        )

    @property
    def beyond_target(self) -> bool:
        """Whether anything but the target was given."""
        default = DataOptions(target=self.target)
        return self != default

    @property
    def columns(self) -> list[str]:
        """Every column that was named."""
        roles = (self.weight, self.offset, self.exposure, self.clusters)
        named = (self.target, self.group, self.by_time, *roles, *self.drop, *self.category)
        named += (*self.feature, *self.text)
        return [name for name in named if name is not None]

    def words(self, *names: str) -> str:
        """The options as written on a command line: those named, or all but the target."""
        options = [
            word
            for name in names or (each for each in SCORED if each != "target")
            for word in self._words(name)
        ]
        return "".join(f" {word}" for word in options)

    def _words(self, name: str) -> list[str]:
        value = getattr(self, name)
        if not value or (name == "kind" and self.order is not None):  # an order implies the kind
            return []
        option = f"--{name.replace('_', '-')}"
        if name == "order":
            line = StringIO()
            csv.writer(line, lineterminator="").writerow(value)
            return [f"{option} {shlex.quote(line.getvalue())}"]
        values = value if isinstance(value, tuple) else (value,)
        return [f"{option} {shlex.quote(str(each))}" for each in values]

    def on(self, settings: Settings, data: "Dataset") -> "Dataset":
        """The data with these options; an unknown column is refused with the nearest name."""
        from likely.workbench.data.opening import dataset

        known = (*data.source.names, *data.dropped)
        for name in self.columns:
            refuse_unknown_column(settings, known, name)
        given: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        return dataset(data, **given)


def with_categories_of_run(
    data: "Dataset", facts: Mapping[str, Any], names: Collection[str]
) -> "Dataset":
    """The data, with the categories that a RUN was trained with among the columns named."""
    from likely.workbench.data.opening import dataset

    declared = DataOptions.in_run(facts).category
    return dataset(data, category=[name for name in declared if name in names])


def open_data(settings: Settings, given: "str | SealFolder", options: DataOptions) -> "Dataset":
    """DATA, or the training rows of a SEAL, with the options about it."""
    from likely.workbench.data.opening import dataset

    return options.on(settings, dataset(given))


def open_with_target(settings: Settings, name: str, options: DataOptions) -> "Dataset":
    """DATA with the options about it, refused if it has no target."""
    found = open_data(settings, name, options)
    refuse_no_target(settings, found)
    return found


def refuse_no_target(settings: Settings, data: "Dataset") -> None:
    names = data.source.names
    if data.target is None and data.aside:
        _refuse_no_header(settings, data)
    if data.target is None:
        raise Refusal(
            "No target was given; the column to predict was expected. Add --target with one of "
            f"the columns {listed(names)}.",
            Exit.DATA,
            f"{settings.command} --target {shlex.quote(names[-1])}",
        )


def _refuse_no_header(settings: Settings, data: "Dataset") -> NoReturn:
    """Refuse a mailbox without a target, with the headers that may be one."""
    found = _headers_like_labels(data)
    what = "No target was given; the label of a message is one of its headers."
    if found:
        named = listed([f"{name} ({n} values)" for name, n in found.items()], 6)
        raise Refusal(
            f"{what} In all messages, and with few values, are {named}. Add --target with one of "
            "them.",
            Exit.DATA,
            f"{settings.command} --target {shlex.quote(next(iter(found)))}",
        )
    raise Refusal(
        f"{what} No header is in all messages and has from 2 to {MOST_LABELS} values; the headers "
        f"are {listed(data.aside)}. Add --target with one of them, or label the messages with a "
        "header such as X-Label.",
        Exit.DATA,
        f"{settings.command} --target HEADER",
    )


def _headers_like_labels(data: "Dataset") -> dict[str, int]:
    """The headers of all messages that have few values, with their number; X-… come first."""
    values: dict[str, set[Any]] = {name: set() for name in data.aside}
    for batch in data.rows.select(data.aside):
        for name, seen in values.items():
            if len(seen) <= MOST_LABELS:
                seen.update(batch.column(name).to_pylist())
    most = min(MOST_LABELS, (data.source.n_rows or 0) // 2)  # each in two messages, on average
    few = {k: len(v) for k, v in values.items() if 2 <= len(v) <= most and None not in v}
    return dict(sorted(few.items(), key=lambda pair: not pair[0].lower().startswith("x-")))


def refuse_unknown_column(settings: Settings, names: Sequence[str], wanted: str) -> None:
    """Refuse a column that does not exist; suggest the nearest name, also in the next command."""
    from difflib import get_close_matches

    if wanted in names:
        return
    near = {name.lower(): name for name in names}
    close = get_close_matches(wanted.lower(), near, n=1)
    nearest = near[close[0]] if close else names[-1]
    hint = f" Did you mean {nearest!r}?" if close else ""
    raise Refusal(
        f"There is no column {wanted!r}; the columns are {listed(names)}.{hint}",
        Exit.DATA,
        settings.command_with(wanted, nearest),
    )


def _parsed_order(
    context: click.Context, option: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    if value is None:
        return None
    labels = tuple(word.strip() for word in next(csv.reader([value], skipinitialspace=True), []))
    if len(labels) < 2 or not all(labels):
        raise click.BadParameter(
            f"--order is {value!r}; at least two classes were expected, from lowest to highest, "
            "with commas between them. Write --order low,mid,high.",
            context,
        )
    return labels


def _column(name: str, text: str, *, multiple: bool = False) -> Callable[[Command], Command]:
    return click.option(name, metavar="COL", multiple=multiple, help=text)


OPTIONS: Mapping[str, Callable[[Command], Command]] = {
    "target": _column(
        "--target", "Column to predict [default: that of the SEAL or of the built-in table]."
    ),
    "kind": click.option(
        "--kind",
        type=click.Choice(TARGET_KINDS),
        help="Kind of target [default: inferred from its values].",
    ),
    "order": click.option(
        "--order",
        metavar="LOW,…,HIGH",
        callback=_parsed_order,
        help="Classes from lowest to highest; makes the target ordinal.",
    ),
    "group": _column("--group", "Column of groups; the rows of a group are held out together."),
    "by_time": _column("--by-time", "Column of times; the latest rows are held out."),
    "weight": _column("--weight", "Column of weights; a row of weight 2 counts twice."),
    "offset": _column("--offset", "Column added to the linear predictor."),
    "exposure": _column("--exposure", "Column that multiplies the mean, such as time at risk."),
    "clusters": _column("--clusters", "Column of clusters, for clustered standard errors."),
    "drop": _column("--drop", "Column to leave out. May be repeated.", multiple=True),
    "category": _column(
        "--category", "Column of codes to treat as categories. May be repeated.", multiple=True
    ),
    "feature": _column(
        "--feature",
        "Column to use as it is, although it looks like an identifier or free text. May be "
        "repeated.",
        multiple=True,
    ),
    "text": _column(
        "--text",
        "Column of text whose words are counted [default: free text is recognised]. May be "
        "repeated.",
        multiple=True,
    ),
}

SEALING: Mapping[str, Callable[[Command], Command]] = {
    **OPTIONS,
    "group": _column("--group", "Column of groups; the rows of a group are sealed together."),
    "by_time": _column("--by-time", "Column of times; the latest rows are sealed."),
}

SCORED = tuple(name for name in OPTIONS if name != "clusters")  # of verbs that score folds


def data_options(
    *names: str, choices: Mapping[str, Callable[[Command], Command]] = OPTIONS
) -> Callable[[Command], Command]:
    """Add these options to a verb, which gets them as its argument ``options``."""

    def add(command: Command) -> Command:
        command = gathered(command, {name: name for name in names}, "options", DataOptions)
        for name in reversed(names):
            command = choices[name](command)
        return command

    return add


def gathered(
    command: Command, names: Mapping[str, str], argument: str, make: Callable[..., Any]
) -> Command:
    """The command with one argument in place of several options.

    ``names`` are those of click's parameters, with the fields that they fill.
    """

    @wraps(command)
    def with_argument(*args: Any, **given: Any) -> Any:  # click passes options by name
        made = make(**{field: given.pop(name) for name, field in names.items()})
        return command(*args, **given, **{argument: made})

    return with_argument
