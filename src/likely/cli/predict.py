"""``likely predict``: predictions for every row of a table, chunk by chunk, in its order."""

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.settings import Settings, global_options
from likely.formatting import listed

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.runs import Run
    from likely.workbench.dataset import Dataset
    from likely.workbench.given_data import HeaderAlone


@click.command()
@click.argument("run")
@click.argument("data")
@click.option(
    "-o",
    "output",
    metavar="FILE",
    default="-",
    help="A .csv, .tsv, .jsonl or .parquet file; '-', the default, is the standard output as CSV.",
)
@click.option("--proba", is_flag=True, help="Also the probability of each class, p_<class>.")
@global_options
@click.pass_obj
def predict(settings: Settings, run: str, data: str, output: str, proba: bool) -> Answer:
    """Predict with RUN (a folder, or @last) for every row of DATA, in its order.

    Rows are read, predicted and written in chunks, so that DATA may be larger than memory.
    """
    from likely.cli.options import DataOptions
    from likely.cli.using import using_jobs
    from likely.cli.watch import watched
    from likely.cli.writers import write_table
    from likely.formatting import count
    from likely.runs import open_run
    from likely.workbench.dataset import dataset
    from likely.workbench.given_data import HeaderAlone

    _refuse_two_voices(settings, output)
    opened = open_run(run)
    _refuse_own_input(run, data, output)
    if proba:
        _refuse_no_classes(opened.model, run, data)
    names = _columns(opened.model, proba)
    findings: tuple[str, ...] = ()
    try:
        rows = dataset(data)
    except HeaderAlone as alone:
        findings = _nothing_to_predict(opened, alone, run)
        n, path = write_table(output, names, ())
    else:
        _refuse_missing_columns(opened, rows.source.names, rows.label, run)
        findings = rows.log_prediction()
        read = {*map(str, opened.model.feature_names_in_)}
        declared = DataOptions.in_run(opened.facts).category
        rows = dataset(rows, category=[name for name in declared if name in read])
        with using_jobs(settings.jobs), watched(settings, "predicting", rows.source.n_rows):
            n, path = write_table(output, names, _predicted(opened, rows, proba))
    where = "the standard output" if path is None else str(path)
    return Answer(
        text=f"{count(n, 'prediction')} written to {where}.",
        result={"rows": n, "output": output, "columns": names},
        findings=findings,
        files=() if path is None else (path,),
        next=f"likely explain {shlex.quote(run)}",
        aside=path is None,
    )


def _refuse_two_voices(settings: Settings, output: str) -> None:
    if settings.json and output == "-":
        raise click.UsageError(
            "Predictions and --json both want the standard output; one can have it. "
            "Write the predictions to a file with -o out.csv."
        )


def _nothing_to_predict(run: "Run", alone: "HeaderAlone", name: str) -> tuple[str, ...]:
    """What to say of a file that holds a header and no row."""
    if not set(alone.names) & set(map(str, getattr(run.model, "feature_names_in_", ()))):
        raise alone  # a line, but no header
    _refuse_missing_columns(run, alone.names, alone.path, name)
    return (f"{alone.path} has a header and no row, so there is nothing to predict.",)


def _refuse_own_input(run: str, data: str, output: str) -> None:
    """Predictions would replace the rows they are made from."""
    from pathlib import Path

    from likely.workbench.given_data import BUILTIN

    given, wanted = Path(data), Path(output)
    if "-" in (data, output) or data in BUILTIN or not (given.is_file() and wanted.is_file()):
        return
    if given.samefile(wanted):
        other = wanted.with_stem(f"{wanted.stem}-predictions")
        raise Refusal(
            f"{output} is the file that the rows are read from; predictions would replace it. "
            "Write them to another file.",
            Exit.DATA,
            shlex.join(["likely", "predict", run, data, "-o", str(other)]),
        )


def _predicted(run: "Run", data: "Dataset", proba: bool) -> Iterator[dict[str, list[Any]]]:
    """Columns of predictions, chunk by chunk."""
    from likely.data.memory import CHUNK_ROWS
    from likely.data.source_blocks import chunks
    from likely.progress import report
    from likely.workbench.roles import roles_in_run

    model, roles, start = run.model, roles_in_run(run.facts), 0
    names = list(map(str, model.feature_names_in_))
    for table in chunks(data.source.select([*names, *roles.at_prediction()]), CHUNK_ROWS):
        asked = _as_trained(table.select(names), model)
        _refuse_text(model, asked, start)
        _refuse_gaps(run, table, start)
        given = roles.to_predict(table)
        columns: dict[str, list[Any]] = {"prediction": model.predict(asked, **given).tolist()}
        if proba:
            probability = model.predict_proba(asked, **given)
            for k, label in enumerate(_labels(model)):
                columns[f"p_{label}"] = probability[:, k].tolist()
        yield columns
        start += table.num_rows
        report("rows", table.num_rows)


def _refuse_text(model: Any, table: "pa.Table", start: int) -> None:
    """A column of numbers with a cell that is none: say which one, by its row of the table."""
    import pyarrow as pa

    from likely.data.labels import are_written_numbers

    for name in _numbers(model):
        column = table.column(name)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        for row, cell in enumerate(column.to_pylist(), start=start + 1):
            if cell is not None and not are_written_numbers([cell])[0]:
                raise Refusal(
                    f"Column {name!r} must hold numbers, as in training; found {cell!r} in row "
                    f"{row}. Correct the cell, or drop the row.",
                    Exit.DATA,
                    "likely predict --help",
                )


def _numbers(model: Any) -> tuple[str, ...]:
    """The columns that held numbers in training."""
    preparation = getattr(model, "preparation_", None)
    if preparation is not None:
        return tuple(preparation.numbers)
    coding = getattr(model, "coding_", None)
    schema = getattr(model, "schema_", None) if coding is None else coding.schema
    if schema is None:
        return ()
    kinds = zip(schema.names, schema.kinds, strict=True)
    return tuple(str(name) for name, kind in kinds if kind == "number")


def _refuse_gaps(run: "Run", table: "pa.Table", start: int) -> None:
    """A linear model needs every cell; say which one is missing, by its row of the table."""
    from likely.cli.suitable import first_gap

    if getattr(run.model, "coding_", None) is None:
        return
    gap = first_gap(table, start)
    if gap is not None:
        raise Refusal(
            f"Column {gap.column!r} has a missing cell in row {gap.row}; a linear model needs a "
            "value in every cell. Fill it, or drop the row.",
            Exit.DATA,
            "likely predict --help",
        )


def _refuse_no_classes(model: Any, run: str, data: str) -> None:
    if not callable(getattr(model, "predict_proba", None)):
        raise Refusal(
            f"{run} predicts a number, which has no class probabilities; --proba is for classes. "
            "Leave it out.",
            Exit.DATA,
            shlex.join(["likely", "predict", run, data]),
        )


def _columns(model: Any, proba: bool) -> list[str]:
    return ["prediction", *(f"p_{label}" for label in (_labels(model) if proba else ()))]


def _labels(model: Any) -> list[Any]:
    """Classes, or the numbers of the components."""
    classes = getattr(model, "classes_", None)
    if classes is not None:
        return list(classes.tolist())
    return list(range(model.distribution_.n_components))


def _as_trained(table: "pa.Table", model: Any) -> "pa.Table":
    """A column that was text in training is text here, even where all its values are digits."""
    import pyarrow as pa

    from likely.data.frames import kinds_of

    coding = getattr(model, "coding_", None)
    schema = getattr(model, "schema_", None) if coding is None else coding.schema
    if schema is None:  # a model with its preparation inside
        return table
    found = kinds_of(table).kinds
    for j, (kind, trained) in enumerate(zip(found, schema.kinds, strict=True)):
        if trained == "category" and kind in ("number", "boolean"):
            table = table.set_column(j, table.column_names[j], table.column(j).cast(pa.string()))
    return table


def _refuse_missing_columns(run: "Run", names: tuple[str, ...], label: str, name: str) -> None:
    from difflib import get_close_matches

    from likely.workbench.roles import roles_in_run

    wanted = getattr(run.model, "feature_names_in_", None)
    if wanted is None:
        raise Refusal(
            f"The model in {run.path} was trained on an array without column names; the command "
            "line goes by names. Train it on a table.",
            Exit.DATA,
            "likely train --help",
        )
    wanted = [*wanted, *roles_in_run(run.facts).at_prediction()]
    missing = [str(column) for column in wanted if column not in names]
    if not missing:
        return
    extra = [column for column in names if column not in set(wanted)]
    close = get_close_matches(missing[0], extra, n=1, cutoff=0.4)
    hint = f" Was it renamed to {close[0]!r}? Rename it back." if close else " Add it."
    others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    raise Refusal(
        f"{label} has no column {missing[0]!r}{others}, which the model was trained on; its "
        f"columns are {listed(names)}.{hint}",
        Exit.DATA,
        f"likely explain {shlex.quote(name)}",
    )
