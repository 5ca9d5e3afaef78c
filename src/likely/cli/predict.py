"""``likely predict``: predictions for every row of a table, chunk by chunk.

Documents on standard input, one per line, are predicted as they come.  A block is what the pipe
holds at the moment: the lines that are complete are predicted, and their predictions written,
before the next block is read.  So a line is answered before the next one is written, and a long
input is read in large blocks.
"""

import select
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer
from likely.cli.options import data_options
from likely.cli.table_files import refuse_json_on_stdout, refuse_safe_csv, write_table
from likely.cli.terminal import GlobalOptions, global_options, on_terminal
from likely.errors import InvalidInput, ReplacedBytes, warn_user
from likely.tasks.request import HOW_READ, DataOptions, Exit, Refusal, share

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.tasks.prediction_run import Predictions

Command = Callable[..., Any]
LEVEL = 0.95
ADVICE = (
    "Write RUN and DATA first, then --interval, --interval 0.9 or --threshold 0.3, for instance."
)
BLOCK_BYTES = 4 * 2**20
READ_BYTES = 2**16  # what a pipe holds
LONGEST_LINE = 64 * 2**20  # bytes


def _share(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """A number between 0 and 1."""
    if value is None:
        return None
    try:
        return share(value, ADVICE)
    except InvalidInput as error:
        raise click.BadParameter(str(error)) from None


def interval_option(command: Command) -> Command:
    """Add ``--interval [LEVEL]``."""
    return click.option(
        "--interval",
        callback=_share,
        is_flag=False,
        flag_value=str(LEVEL),
        metavar="[LEVEL]",
        help="Also write the ends of an interval, low and high: for a new value of the target, or "
        f"for two classes for the probability of the second [default level: {LEVEL}].",
    )(command)


def interval_of_option(command: Command) -> Command:
    """Add ``--of y|mean``."""
    return click.option(
        "--of",
        type=click.Choice(["y", "mean"]),
        help="What --interval is for: y, a new value of the target, or its mean (for two classes, "
        "the probability of the second) [default: y, and mean for two classes].",
    )(command)


def threshold_option(command: Command) -> Command:
    """Add ``--threshold P``."""
    return click.option(
        "--threshold",
        callback=_share,
        metavar="P",
        help="For two classes: predict the second one where its probability is at least P.",
    )(command)


keep_option = click.option(
    "--keep",
    "keep",
    multiple=True,
    metavar="COL",
    help="Column of DATA to write before the prediction, such as an identifier. May be repeated.",
)


@click.command()
@click.argument("run")
@click.argument("data")
@click.option(
    "-o",
    "output",
    metavar="FILE",
    default="-",
    help="File to write: .csv, .tsv, .jsonl (each also .gz) or .parquet [default: standard "
    "output, as CSV].",
)
@data_options(*HOW_READ)
@keep_option
@click.option("--proba", is_flag=True, help="Also write the probability of each class, p_<class>.")
@interval_option
@interval_of_option
@threshold_option
@click.option(
    "--safe-csv",
    is_flag=True,
    help="Write an apostrophe before text that a spreadsheet would run as a formula.",
)
@global_options
@click.pass_obj
def predict(
    settings: GlobalOptions,
    run: str,
    data: str,
    output: str,
    keep: tuple[str, ...],
    proba: bool,
    interval: float | None,
    of: str | None,
    threshold: float | None,
    safe_csv: bool,
    options: DataOptions,
) -> Answer:
    """Write a prediction of RUN (a folder, or @last) for every row of DATA, in the same order.

    Rows are read, predicted and written in chunks, so DATA may be larger than memory. Where the
    model reads one column of text and no other, DATA may be -, for documents on standard input, one
    per line; each is answered as it comes.
    """
    from likely.runs import open_run
    from likely.tasks.prediction_run import (
        PredictRequest,
        document_predictions,
        predictions,
    )
    from likely.tasks.suitability import text_alone

    refuse_json_on_stdout(settings, output, "Predictions")
    if safe_csv:
        refuse_safe_csv(output)
    opened = open_run(run)
    _refuse_own_input(run, data, output)
    request = PredictRequest(
        run, opened, data, keep, proba, interval, of, threshold, settings.caller, options
    )
    text = text_alone(opened) if data == "-" else None
    with settings.using_jobs():
        if text is not None:
            found = document_predictions(request, text, document_tables(text))
            n, path = write_table(output, list(found.names), found.chunks, safe=safe_csv)
        else:
            found = predictions(request, data)
            with on_terminal(settings):
                n, path = write_table(output, list(found.names), found.chunks, safe=safe_csv)
    return _answer(run, output, found, n, path)


def _answer(run: str, output: str, found: "Predictions", n: int, path: Path | None) -> Answer:
    from likely.output.formatting import count

    where = "standard output" if path is None else str(path)
    return Answer(
        text=f"{count(n, 'prediction')} written to {where}.",
        result={
            "rows": n,
            "output": output,
            "columns": list(found.names),
            "bounded": found.n_bounded,
        },
        findings=found.notes,
        files=() if path is None else (path,),
        next=f"likely explain {shlex.quote(run)}",
        aside=path is None,
    )


def _refuse_own_input(run: str, data: str, output: str) -> None:
    """Refuse to overwrite the file that is being predicted."""
    from likely.tasks.table_files import is_same_file
    from likely.workbench.data.builtin_data import BUILTIN

    if "-" not in (data, output) and data not in BUILTIN and is_same_file(data, output):
        wanted = Path(output)
        other = wanted.with_stem(f"{wanted.stem}-predictions")
        raise Refusal(
            f"{output} is also the input; the predictions would overwrite it. Write them to "
            "another file.",
            Exit.DATA,
            shlex.join(["likely", "predict", run, data, "-o", str(other)]),
        )


def document_tables(name: str) -> "Iterator[pa.Table]":
    """The documents of standard input, block by block, as tables of one column."""
    import pyarrow as pa

    start, noted = 1, False
    for block in _blocks():
        texts = []
        for number, line in enumerate(block.split(b"\n"), start):
            encoding = "utf-8-sig" if number == 1 else "utf-8"
            try:
                texts.append(line.removesuffix(b"\r").decode(encoding))
            except UnicodeDecodeError as error:  # it does not end the stream
                texts.append(error.object.decode(encoding, errors="replace"))
                if not noted:
                    _note(number, error)
                noted = True
        yield pa.table({name: pa.array(texts, pa.string())})
        start += len(texts)


def _blocks() -> Iterator[bytes]:
    """Complete lines without the last line feed; each block as long as what is there."""
    begun: list[bytes] = []  # of the line that has not ended
    while data := _available():
        whole, feed, last = data.rpartition(b"\n")
        if feed:
            yield b"".join([*begun, whole])
            begun = []
        begun.append(last)
        if sum(map(len, begun)) > LONGEST_LINE:
            raise Refusal(
                f"A line of standard input has more than {LONGEST_LINE >> 20} MB; one document "
                "per line was expected. Check the input.",
                Exit.DATA,
                "likely predict --help",
            )
    if rest := b"".join(begun):
        yield rest


def _available() -> bytes:
    """The bytes that are there, at least one unless the input has ended."""
    stream: Any = sys.stdin.buffer
    data: bytes = stream.read1(READ_BYTES)
    while len(data) < BLOCK_BYTES and data and _has_more(stream):
        more = stream.read1(READ_BYTES)
        if not more:
            break
        data += more
    return data


def _has_more(stream: Any) -> bool:
    """Whether a read would not wait; False where that cannot be asked."""
    try:
        return bool(select.select([stream], [], [], 0)[0])
    except (OSError, ValueError):  # no file, or a system that asks only sockets
        return False


def _note(number: int, error: UnicodeDecodeError) -> None:
    """Say once that bytes were replaced; a log may have them in every line."""
    warn_user(
        f"Line {number} of standard input: byte 0x{error.object[error.start]:02x} is not UTF-8, in "
        "which documents are read; it was read as \N{REPLACEMENT CHARACTER}, and so are any that "
        "follow. Convert the input, for instance with iconv.",
        ReplacedBytes,
    )
