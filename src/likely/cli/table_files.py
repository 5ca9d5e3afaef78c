"""Tables that a command writes: to a file, or to standard output, by chunks."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, final

import click

from likely.cli.streams import OutputFailed, is_of_output
from likely.cli.terminal import GlobalOptions
from likely.output.control_characters import without_controls
from likely.tasks import table_files
from likely.tasks.request import Exit, Refusal
from likely.tasks.table_files import SUFFIXES, Chunk, write_delimited


def write_table(
    output: str,
    names: list[str],
    chunks: Iterable[Chunk],
    *,
    verb: str = "predict",
    safe: bool = False,
) -> tuple[int, Path | None]:
    """Write all chunks; the number of rows, and the file (None for standard output).

    Standard output is written chunk by chunk.
    """
    if output == "-":
        return _write_to_output(names, chunks, safe), None
    path = Path(output)
    if not path.name.lower().endswith(SUFFIXES):
        raise Refusal(
            table_files.about_suffix(path),
            Exit.USAGE,
            f"likely {verb} --help",
        )
    return table_files.write_table(path, names, chunks, safe=safe), path


def _write_to_output(names: list[str], chunks: Iterable[Chunk], safe: bool) -> int:
    try:
        n = write_delimited(_standard_output(), names, _flushed(chunks), ",", safe)
        sys.stdout.flush()
    except OSError as error:
        if is_of_output(error) and not isinstance(error, BrokenPipeError):
            raise OutputFailed(error.errno, error.strerror) from None
        raise
    return n


def _flushed(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The chunks; each is on its way to the reader of the output before the next is computed."""
    for chunk in chunks:
        yield chunk
        sys.stdout.flush()


@final
class _SafeOutput:
    """A terminal that text from data cannot control; what goes to a file or a pipe is kept."""

    def write(self, text: str) -> int:
        return sys.stdout.write(without_controls(text))


def _standard_output() -> Any:
    return _SafeOutput() if sys.stdout.isatty() else sys.stdout


def refuse_json_on_stdout(settings: GlobalOptions, output: str | None, what: str) -> None:
    """Refuse two things on standard output: a table of ``what``, and the object of --json."""
    if settings.json and output == "-":
        raise click.UsageError(
            f"{what} and --json would both be written to standard output; only one can be. "
            f"Write the {what.lower()} to a file with -o out.csv."
        )


def refuse_safe_csv(output: str) -> None:
    """Refuse --safe-csv for a file that a spreadsheet does not read as text."""
    plain = output.lower().removesuffix(".gz")
    if output != "-" and not plain.endswith((".csv", ".tsv")):
        raise click.UsageError(
            f"--safe-csv is for CSV and TSV, and {output!r} is neither. Leave it out, or write to "
            "a .csv file."
        )
