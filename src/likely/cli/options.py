"""Options that several verbs have: those about DATA, and those of cross-validation.

A verb gets the options about DATA as one argument, a ``DataOptions``.
"""

import csv
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click

from likely.errors import InvalidInput
from likely.kinds import TARGET_KINDS, order_with_positive
from likely.tasks.request import DataOptions, Exit, Refusal

Command = Callable[..., Any]


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
    "positive": click.option(
        "--positive",
        metavar="CLASS",
        help="Class of two that F₁, average precision and thresholds are about [default: the last "
        "in alphabetical order].",
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
    "number": click.option(
        "--number",
        metavar="COL[=MARK]",
        multiple=True,
        help="Column of text to read as numbers; MARK is its decimal mark, . or , (with % for per "
        "cent) [default: recognised]. May be repeated.",
    ),
    "date": click.option(
        "--date",
        metavar="COL[=FORM]",
        multiple=True,
        help="Column of text to read as dates; FORM is day-first, month-first, year-first, iso, "
        "excel or a format such as %d/%m/%Y [default: recognised]. May be repeated.",
    ),
    "decimal": click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Decimal mark of columns in which both are possible [default: that of the others].",
    ),
    "sheet": click.option(
        "--sheet", metavar="NAME", help="Sheet of a workbook [default: the only one with cells]."
    ),
}

SEALING: Mapping[str, Callable[[Command], Command]] = {
    **OPTIONS,
    "group": _column("--group", "Column of groups; the rows of a group are sealed together."),
    "by_time": _column("--by-time", "Column of times; the latest rows are sealed."),
}

metric_option = click.option(
    "--metric",
    metavar="NAME",
    help="Metric: a name, or the import path of a function (package.module.function) [default: log "
    "loss for classes, log-likelihood for numbers].",
)

folds_option = click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of folds.",
)

repeats_option = click.option(
    "--repeats",
    type=click.IntRange(min=1),
    metavar="N",
    help="Repeats of cross-validation [default: 2, and 1 from 100,000 rows on].",
)


def data_options(
    *names: str, choices: Mapping[str, Callable[[Command], Command]] = OPTIONS
) -> Callable[[Command], Command]:
    """Add these options to a verb, which gets them as its argument ``options``."""

    def add(command: Command) -> Command:
        asked = list(dict.fromkeys((*names, *(["positive"] if "order" in names else []))))
        command = gathered(command, {name: name for name in asked}, "options", _data_options)
        for name in reversed(asked):
            command = choices[name](command)
        return command

    return add


def _data_options(positive: str | None = None, **given: Any) -> DataOptions:
    """The options, in which a positive class is an order of one."""
    if "order" not in given:
        return DataOptions(**given)
    try:
        order = order_with_positive(positive, given["order"], given.get("kind"))
    except InvalidInput as error:
        raise Refusal(str(error), Exit.USAGE) from None
    return DataOptions(**given | {"order": order})


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
