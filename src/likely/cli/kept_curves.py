"""Curves that were drawn, kept where the report finds them: in a SEAL, in a RUN, or in a file.

A folder has one ``curve.json`` with a list: a curve of the same model along the same axis takes
the place of the one before, any other is added.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import as_json
from likely.cli.keeping import keep_joined, run_of
from likely.cli.runs import CURVE

if TYPE_CHECKING:
    from likely.workbench.curves import Curve

PICTURES = (".svg", ".png", ".pdf")
SUFFIXES = (*PICTURES, ".json")

__all__ = ["keep_curve", "refuse_unknown_suffix", "run_of", "write_curve"]


def keep_curve(folder: Path, facts: Mapping[str, Any]) -> tuple[Path, ...]:
    """Add a curve to those of a folder; one that cannot be written to keeps nothing."""
    from likely.report.run_files import curves_in, joined_curves

    return keep_joined(folder, CURVE, lambda: joined_curves(curves_in(folder), (facts,)))


def refuse_unknown_suffix(output: str | None) -> None:
    if output is not None and Path(output).suffix.lower() not in SUFFIXES:
        raise click.UsageError(
            f"-o {output} names no kind of file that a curve has; one of {', '.join(SUFFIXES)} was "
            "expected. Use -o curve.svg."
        )


def write_curve(found: "Curve", output: str) -> Path:
    """The picture, or the numbers, as the suffix says."""
    from io import BytesIO

    from likely.files import write_atomically

    path = Path(output)
    kind = path.suffix.lower()
    if kind == ".json":
        write_atomically(path, (as_json(found.facts()) + "\n").encode())
        return path
    drawn = BytesIO()
    found.plot().savefig(drawn, format=kind[1:], metadata=_undated(kind))
    write_atomically(path, drawn.getvalue())
    return path


def _undated(kind: str) -> dict[str, None]:
    """The same curve twice is the same file."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(kind, {})
