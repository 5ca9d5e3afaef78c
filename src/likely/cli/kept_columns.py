"""``predict --keep COL``: columns of the data that are carried along to the predictions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Exit, Refusal
from likely.cli.terminal import Settings

if TYPE_CHECKING:
    import pyarrow as pa

keep_option = click.option(
    "--keep",
    "keep",
    multiple=True,
    metavar="COL",
    help="Column of DATA to write before the prediction, such as an identifier. May be repeated.",
)


def kept_names(
    settings: Settings, keep: Sequence[str], names: Sequence[str], written: Sequence[str]
) -> list[str]:
    """The columns to carry along; refused if DATA has none of that name, or the output has one."""
    from likely.cli.options import refuse_unknown_column

    kept = list(dict.fromkeys(keep))
    for name in kept:
        refuse_unknown_column(settings, names, name)
        if name in written:
            raise Refusal(
                f"--keep {name!r} was given, and the predictions have a column of that name; names "
                "must differ. Rename the column of the data.",
                Exit.DATA,
                "likely predict --help",
            )
    return kept


def kept_cells(table: "pa.Table", kept: Sequence[str]) -> dict[str, Any]:
    """The cells of these columns, with their types."""
    return {name: table.column(name) for name in kept}
