"""``likely predict``: predictions for every row of a table, chunk by chunk."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer, Exit, Refusal
from likely.cli.document_lines import document_tables, text_alone
from likely.cli.kept_columns import keep_option, kept_cells, kept_names
from likely.cli.prediction_options import (
    PredictionOptions,
    interval_of_option,
    interval_option,
    threshold_option,
)
from likely.cli.table_files import (
    Chunk,
    is_same_file,
    refuse_json_on_stdout,
    refuse_safe_csv,
    write_table,
)
from likely.cli.terminal import Settings, global_options
from likely.formatting import listed

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.description import ColumnsRead
    from likely.runs import Run
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.data.opening import HeaderAlone


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
    settings: Settings,
    run: str,
    data: str,
    output: str,
    keep: tuple[str, ...],
    proba: bool,
    interval: float | None,
    of: str | None,
    threshold: float | None,
    safe_csv: bool,
) -> Answer:
    """Write a prediction of RUN (a folder, or @last) for every row of DATA, in the same order.

    Rows are read, predicted and written in chunks, so DATA may be larger than memory. Where the
    model reads one column of text and no other, DATA may be -, for documents on standard input, one
    per line; each is answered as it comes.
    """
    from likely.cli.options import with_categories_of_run
    from likely.cli.terminal import showing_progress
    from likely.runs import open_run
    from likely.workbench.data.opening import HeaderAlone, dataset

    refuse_json_on_stdout(settings, output, "Predictions")
    if safe_csv:
        refuse_safe_csv(output)
    opened = open_run(run)
    _refuse_own_input(run, data, output)
    labels = _labels(opened, run, data) if proba else []
    options = PredictionOptions.of(opened.model, run, data, interval, of, threshold)
    names = ["prediction", *(f"p_{label}" for label in labels), *options.names]
    findings: tuple[str, ...] = ()
    text = text_alone(opened) if data == "-" else None
    if text is not None:
        kept = kept_names(settings, keep, [text], names)
        chunks = _prediction_chunks(opened, document_tables(text), names, kept, options)
        names, findings = [*kept, *names], options.remarks
        with settings.using_jobs():
            n, path = write_table(output, names, chunks, safe=safe_csv)
        return _answer(run, output, names, n, path, findings)
    try:
        rows = dataset(data)
    except HeaderAlone as alone:
        findings = _nothing_to_predict(opened, alone, run)
        names = [*kept_names(settings, keep, alone.names, names), *names]
        n, path = write_table(output, names, (), safe=safe_csv)
    else:
        rows = with_text_as_trained(opened, rows)
        refuse_missing_columns(opened, rows.source.names, rows.label, run)
        findings = (*rows.log_prediction(), *options.remarks)
        kept = kept_names(settings, keep, rows.source.names, names)
        read = {*map(str, opened.model.feature_names_in_)}
        rows = with_categories_of_run(rows, opened.facts, read)
        chunks = _prediction_chunks(opened, _needed(opened, rows, kept), names, kept, options)
        names = [*kept, *names]
        with settings.using_jobs(), showing_progress(settings, "predicting", rows.source.n_rows):
            n, path = write_table(output, names, chunks, safe=safe_csv)
    return _answer(run, output, names, n, path, findings)


def _answer(
    run: str, output: str, names: list[str], n: int, path: Path | None, findings: tuple[str, ...]
) -> Answer:
    from likely.formatting import count

    where = "standard output" if path is None else str(path)
    return Answer(
        text=f"{count(n, 'prediction')} written to {where}.",
        result={"rows": n, "output": output, "columns": names},
        findings=findings,
        files=() if path is None else (path,),
        next=f"likely explain {shlex.quote(run)}",
        aside=path is None,
    )


def _nothing_to_predict(run: "Run", alone: "HeaderAlone", name: str) -> tuple[str, ...]:
    """A note about a file that has a header and no rows."""
    from likely.inputs.tables import names_in_fit

    if not set(alone.names) & set(names_in_fit(run.model) or ()):
        raise alone  # a line, but no header
    refuse_missing_columns(run, alone.names, alone.path, name)
    return (f"{alone.path} has a header but no rows, so there is nothing to predict.",)


def _refuse_own_input(run: str, data: str, output: str) -> None:
    """Refuse to overwrite the file that is being predicted."""
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


def _needed(run: "Run", data: "Dataset", kept: list[str]) -> "Iterator[pa.Table]":
    """The columns that a prediction needs, and those that are kept, chunk by chunk."""
    from likely.data.arrow import CHUNK_ROWS
    from likely.data.source_blocks import chunks
    from likely.workbench.data.roles import roles_in_run

    needed = [*needed_columns(run.model), *roles_in_run(run.facts).at_prediction()]
    return chunks(data.source.select(list(dict.fromkeys([*needed, *kept]))), CHUNK_ROWS)


def _prediction_chunks(
    run: "Run",
    tables: "Iterator[pa.Table]",
    columns: list[str],
    kept: list[str],
    options: PredictionOptions,
) -> Iterator[Chunk]:
    """The kept columns, predictions, any probabilities and ends of intervals, chunk by chunk."""
    from likely.progress import report
    from likely.workbench.data.roles import roles_in_run

    model, roles, start = run.model, roles_in_run(run.facts), 0
    names, read = needed_columns(model), columns_read_by(model)
    for table in tables:
        asked = _as_trained(table.select(names), frozenset(read.categories))
        _refuse_text(asked, read.numbers, start)
        if read.complete:
            _refuse_gaps(table.select([*names, *roles.at_prediction()]), start)
        given = roles.to_predict(table)
        found = [options.predictions(model, asked, given)]
        if len(columns) > 1 + len(options.names):
            found += list(model.predict_proba(asked, **given).T)
        _refuse_nan(found, start)
        found += options.ends(asked, given)
        predicted = {name: values.tolist() for name, values in zip(columns, found, strict=True)}
        yield {**kept_cells(table, kept), **predicted}
        start += table.num_rows
        report("rows", table.num_rows)


def _refuse_nan(found: list[Any], start: int) -> None:
    """Refuse predictions that are not numbers, with the row of the table."""
    import numpy as np

    for values in found:
        wrong = np.isnan(values) if np.asarray(values).dtype.kind == "f" else np.zeros(1, bool)
        if wrong.any():
            raise Refusal(
                f"The model predicted NaN for row {start + int(np.argmax(wrong))} (counted from "
                "0); a number was expected for every row. Correct or drop the row, or train "
                "another model.",
                Exit.DATA,
                "likely predict --help",
            )


def columns_read_by(model: Any) -> "ColumnsRead":
    """How the columns were read; a classifier of texts alone has no kinds of columns."""
    from likely.description import ColumnsRead
    from likely.names import has_method

    return model.columns_read() if has_method(model, "columns_read") else ColumnsRead()


def needed_columns(model: Any) -> list[str]:
    """The columns that a prediction needs: those of the fit that its preparation did not drop."""
    dropped = set(getattr(model, "dropped_", ()))
    return [name for name in map(str, model.feature_names_in_) if name not in dropped]


def _refuse_text(table: "pa.Table", numbers: tuple[str, ...], start: int) -> None:
    """Refuse text in a column that held numbers in training, with the row of the table."""
    import pyarrow as pa

    from likely.data.labels import are_written_numbers

    held_numbers = set(numbers)
    for name, column in zip(table.column_names, table.columns, strict=True):
        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if not text or name not in held_numbers:
            continue
        for row, cell in enumerate(column.to_pylist(), start=start):
            if cell is not None and not are_written_numbers([cell])[0]:
                raise Refusal(
                    f"Column {name!r} must hold numbers, as in training; found {cell!r} in row "
                    f"{row} (counted from 0). Correct the cell, or drop the row.",
                    Exit.DATA,
                    "likely predict --help",
                )


def _refuse_gaps(table: "pa.Table", start: int) -> None:
    """Refuse a missing cell for a linear model, with the row of the table."""
    from likely.cli.suitability import first_gap

    gap = first_gap(table, start)
    if gap is not None:
        raise Refusal(
            f"Column {gap.column!r} has a missing cell in row {gap.row} (counted from 0); a linear "
            "model needs a value in every cell. Fill it in, or drop the row.",
            Exit.DATA,
            "likely predict --help",
        )


def _labels(opened: "Run", run: str, data: str) -> list[Any]:
    """The labels of the classes, refused for a model of numbers."""
    from likely.workbench.scoring.predictions import probability_labels

    if labels := probability_labels(opened.model):
        return labels
    raise Refusal(
        f"{run} predicts a number; --proba needs a model of classes. Leave it out.",
        Exit.DATA,
        shlex.join(["likely", "predict", run, data]),
    )


def _as_trained(table: "pa.Table", categories: frozenset[str]) -> "pa.Table":
    """The table with text in the columns that were text in training, even if all are digits."""
    import pyarrow as pa

    from likely.data.arrow_columns import kind_of_arrow

    for j, field in enumerate(table.schema):
        name = field.name
        if name in categories and kind_of_arrow(field.type) in ("number", "boolean"):
            table = table.set_column(j, name, table.column(j).cast(pa.string()))
    return table


def with_text_as_trained(run: "Run", data: "Dataset") -> "Dataset":
    """Texts of a folder or a mailbox, whose column is always named text, as the model names it."""
    from dataclasses import replace

    from likely.data.formats.folders import FolderSource
    from likely.data.formats.mbox import TEXT, MboxSource

    name = text_alone(run)
    if name is None or not isinstance(data.source, FolderSource | MboxSource):
        return data
    if name in data.source.names:
        return data
    return replace(data, source=data.source.renamed(TEXT, name), declared_texts=(name,))


def refuse_missing_columns(run: "Run", names: tuple[str, ...], label: str, name: str) -> None:
    from difflib import get_close_matches

    from likely.inputs.tables import names_in_fit
    from likely.workbench.data.roles import roles_in_run

    known = names_in_fit(run.model)
    if known is None:
        raise Refusal(
            f"The model in {run.path} was trained on an array without column names; the command "
            "line matches columns by name. Train it on a table.",
            Exit.DATA,
            "likely train --help",
        )
    wanted = [*needed_columns(run.model), *roles_in_run(run.facts).at_prediction()]
    here, read = set(names), set(wanted)
    missing = [str(column) for column in wanted if column not in here]
    if not missing:
        return
    extra = [column for column in names if column not in read]
    close = get_close_matches(missing[0], extra, n=1, cutoff=0.4)
    hint = f" Was it renamed to {close[0]!r}? Rename it back." if close else " Add it."
    others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    raise Refusal(
        f"{label} has no column {missing[0]!r}{others}, which the model was trained on; its "
        f"columns are {listed(names)}.{hint}",
        Exit.DATA,
        f"likely explain {shlex.quote(name)}",
    )
