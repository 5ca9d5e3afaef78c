"""A request: who asks, the data with the roles of its columns, and a refusal with what to do.

The words of a refusal are those of the command line, because every task is a verb there; the
functions of Python have arguments of the same names.

Values of settings are those of JSON and of Python, as they are written on a command line.
"""

import csv
import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from io import StringIO
from typing import TYPE_CHECKING, Any, NoReturn, final

from likely.errors import InvalidInput, LikelyError
from likely.kinds import TargetKind
from likely.output.formatting import listed

if TYPE_CHECKING:
    from likely.sealing.folder import SealFolder
    from likely.workbench.data.dataset import Dataset

HOW_READ = ("number", "date", "decimal", "sheet")  # options about the way a file is written
UNLABELLED = "unlabelled"  # the setting whose value marks rows without a label
MOST_LABELS = 30  # values of a header that may be a label
YES_AND_NO = {"yes": True, "on": True, "no": False, "off": False}
LARGEST_EXPONENT = 64


class Exit(IntEnum):
    """Why a request was refused; the command line has it as its exit code.

    USAGE is for mistakes in the request (an unknown option, model or setting), DATA for what is
    found in files (data, columns, run folders, outputs), HONESTY where a score would mislead.
    """

    FINE = 0
    USAGE = 1
    DATA = 2
    HONESTY = 3
    CHECK = 4
    BUG = 70
    INTERRUPTED = 130


class Refusal(LikelyError, ValueError):
    """A request that cannot be met: why, and a command that works, if one is known."""

    def __init__(self, message: str, exit: Exit, next: str | None = None) -> None:
        super().__init__(message)
        self.exit = exit
        self.next = next


@final
@dataclass(frozen=True)
class Caller:
    """The command that asks, which a RUN records, and the seed of every random choice."""

    command: str = "likely"
    seed: int = 0

    def command_with(self, word: str, other: str) -> str:
        """The command with one word replaced, also where it follows ``--option=``."""
        words = []
        for given in shlex.split(self.command):
            option, equals, value = given.partition("=")
            joined = option.startswith("--") and bool(equals) and value == word
            words.append(f"{option}={other}" if joined else other if given == word else given)
        return shlex.join(words)


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
    number: tuple[str, ...] = ()  # COL or COL=MARK
    date: tuple[str, ...] = ()  # COL or COL=FORM
    decimal: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.order is not None and self.kind not in (None, "ordinal", "binary"):
            raise Refusal(
                f"--order and --kind {self.kind} were given; only ordinal targets have an order. "
                "Leave one of them out.",
                Exit.USAGE,
            )
        if self.group is not None and self.by_time is not None:
            raise Refusal(
                f"--group {shlex.quote(self.group)} and --by-time {shlex.quote(self.by_time)} were "
                "given; rows are held out by one of them. Leave one out.",
                Exit.USAGE,
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
            **how_read(facts),
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
        if name == "order" and (self.kind == "binary" or len(value) == 1):
            return [f"--positive {shlex.quote(str(value[-1]))}"]
        if name == "order":
            line = StringIO()
            csv.writer(line, lineterminator="").writerow(value)
            return [f"{option} {shlex.quote(line.getvalue())}"]
        values = value if isinstance(value, tuple) else (value,)
        return [f"{option} {shlex.quote(str(each))}" for each in values]

    def on(self, caller: Caller, data: "Dataset") -> "Dataset":
        """The data with these options; an unknown column is refused with the nearest name."""
        from likely.workbench.data.opening import dataset

        known = (*data.source.names, *data.dropped)
        for name in self.columns:
            refuse_unknown_column(caller, known, name)
        given: dict[str, Any] = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in HOW_READ
        }
        return dataset(data, **given)

    def opened(self, given: object) -> "Dataset":
        """The data, read as these options say."""
        from likely.workbench.data.dataset import Dataset
        from likely.workbench.data.opening import dataset

        if isinstance(given, Dataset):  # by who has opened it
            return given
        return dataset(
            given,
            number=self.number or None,
            date=self.date or None,
            decimal=self.decimal,
            sheet=self.sheet,
        )


NO_OPTIONS = DataOptions()


def reading_options(about: Mapping[str, Any]) -> dict[str, Any]:
    """What Python's arguments say about the way a file is written, as options have it."""
    from likely.data.readings.table_readings import AskedReadings

    asked = AskedReadings.of(about.get("number"), about.get("date"), about.get("decimal"))
    return {
        "number": tuple(f"{name}={form}".rstrip("=") for name, form in asked.number.items()),
        "date": tuple(f"{name}={form}".rstrip("=") for name, form in asked.date.items()),
        "decimal": asked.decimal,
        "sheet": about.get("sheet"),
    }


def how_read(facts: Mapping[str, Any]) -> dict[str, Any]:
    """How the columns of a RUN were read, as options, from ``run.json``."""
    found = facts.get("readings") or {}
    return {
        "number": tuple(found.get("number", ())),
        "date": tuple(found.get("date", ())),
        "decimal": found.get("decimal"),
        "sheet": found.get("sheet"),
    }


def opened_as_trained(
    facts: Mapping[str, Any], data: object, options: DataOptions = NO_OPTIONS
) -> "Dataset":
    """Other data, of which the columns are read as those of a RUN, unless options say otherwise."""
    from likely.data.readings.table_readings import AskedReadings
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.data.opening import dataset_like

    if isinstance(data, Dataset):
        return data
    asked = AskedReadings.of(options.number, options.date, options.decimal)
    return dataset_like(data, facts.get("readings") or {}, asked, options.sheet)


def with_categories_of_run(
    data: "Dataset", facts: Mapping[str, Any], names: Collection[str]
) -> "Dataset":
    """The data, with the categories that a RUN was trained with among the columns named."""
    from likely.workbench.data.opening import dataset

    declared = DataOptions.in_run(facts).category
    return dataset(data, category=[name for name in declared if name in names])


def open_data(caller: Caller, given: "str | SealFolder", options: DataOptions) -> "Dataset":
    """DATA, or the training rows of a SEAL, with the options about it."""
    return options.on(caller, options.opened(given))


def open_with_target(caller: Caller, name: str, options: DataOptions) -> "Dataset":
    """DATA with the options about it, refused if it has no target."""
    found = open_data(caller, name, options)
    refuse_no_target(caller, found)
    return found


def refuse_no_target(caller: Caller, data: "Dataset") -> None:
    names = data.source.names
    if data.target is None and data.aside:
        _refuse_no_header(caller, data)
    if data.target is None:
        raise Refusal(
            "No target was given; the column to predict was expected. Add --target with one of "
            f"the columns {listed(names)}.",
            Exit.DATA,
            f"{caller.command} --target {shlex.quote(names[-1])}",
        )


def _refuse_no_header(caller: Caller, data: "Dataset") -> NoReturn:
    """Refuse a mailbox without a target, with the headers that may be one."""
    found = _headers_like_labels(data)
    what = "No target was given; the label of a message is one of its headers."
    if found:
        named = listed([f"{name} ({n} values)" for name, n in found.items()], 6)
        raise Refusal(
            f"{what} In all messages, and with few values, are {named}. Add --target with one of "
            "them.",
            Exit.DATA,
            f"{caller.command} --target {shlex.quote(next(iter(found)))}",
        )
    raise Refusal(
        f"{what} No header is in all messages and has from 2 to {MOST_LABELS} values; the headers "
        f"are {listed(data.aside)}. Add --target with one of them, or label the messages with a "
        "header such as X-Label.",
        Exit.DATA,
        f"{caller.command} --target HEADER",
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


def refuse_unknown_column(caller: Caller, names: Sequence[str], wanted: str) -> None:
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
        caller.command_with(wanted, nearest),
    )


SCORED = tuple(
    each.name for each in fields(DataOptions) if each.name != "clusters"
)  # of verbs that score folds


def share(given: float | str, advice: str) -> float:
    """A number between 0 and 1, or what is written like one: a threshold, a level."""
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 < number < 1:
        raise InvalidInput(f"{given!r} was given; a number between 0 and 1 was expected. {advice}")
    return number


def value_of(text: str) -> Any:
    """A value of JSON, a number (nan is one), or true, false and none in any case; else text.

    Python's brackets of a tuple are those of a list, and its ** is a power.

    >>> value_of("(16, 8)"), value_of("(100,)"), value_of("None"), value_of("2**20")
    ([16, 8], [100], None, 1048576)
    """
    for read in (json.loads, float, _tuple, _power):
        try:
            return read(text)
        except ValueError:
            continue
    return {"none": None, "true": True, "false": False}.get(text.strip().lower(), text)


def value_like(default: Any, text: str) -> Any:
    """The value of a setting: 16,8 where the default is a sequence, yes and no where it is a bool.

    On and off are read as yes and no are.
    """
    if isinstance(default, bool):
        return YES_AND_NO.get(text.strip().lower(), value_of(text))
    is_sequence = isinstance(default, tuple | list) and "," in text
    value = value_of(text)
    return value_of(f"({text})") if is_sequence and value == text else value


def separated(text: str) -> list[str]:
    r"""What commas separate that are in no brackets or braces; an escaped one is a letter.

    >>> separated(r"(16,8),100,\w{2,}")
    ['(16,8)', '100', '\\w{2,}']
    """
    depth, parts, before = 0, [""], ""
    for letter in text:
        if before != "\\":
            depth = max(depth + (letter in "([{") - (letter in ")]}"), 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
        before = "" if before == "\\" else letter
    return parts


def _tuple(text: str) -> Any:
    inside = re.fullmatch(r"\s*\((.*?),?\s*\)\s*", text, re.S)
    if inside is None:
        raise ValueError("no tuple")
    return json.loads(f"[{inside.group(1)}]")


def _power(text: str) -> int:
    numbers = re.fullmatch(r"\s*(\d{1,4})\s*\*\*\s*(\d{1,2})\s*", text)
    if numbers is None or int(numbers[2]) > LARGEST_EXPONENT:
        raise ValueError("no power")
    return int(int(numbers[1]) ** int(numbers[2]))
