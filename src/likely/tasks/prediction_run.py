"""``likely.predict``: predictions for every row of a table, read and predicted in chunks."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from likely.errors import InvalidInput
from likely.inputs.bounded_rows import BoundedRows, counting_bounded
from likely.output.formatting import cell, count, paragraph, text_table
from likely.tasks.request import (
    Caller,
    DataOptions,
    Exit,
    Refusal,
    opened_as_trained,
    reading_options,
    refuse_unknown_column,
    share,
    with_categories_of_run,
)
from likely.tasks.suitability import (
    as_trained,
    columns_read_by,
    needed_columns,
    refuse_gaps,
    refuse_missing_columns,
    refuse_text,
    with_text_as_trained,
)
from likely.tasks.table_files import Chunk, is_same_file, write_table

if TYPE_CHECKING:
    import pyarrow as pa

    from likely._typing import Array
    from likely.data.readings.table_readings import Given
    from likely.runs import Run
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.data.opening import HeaderAlone
    from likely.workbench.scoring.predictions import PredictionIntervals

LEVEL = 0.95
FIRST_ROWS = 10  # of predictions that are printed


@final
class Chunks:
    """Chunks that are read once; the first rows can be seen before and after."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._rest = iter(chunks)
        self._waiting: list[Chunk] = []  # seen, and not yet read
        self._head: dict[str, list[Any]] | None = None

    def __iter__(self) -> Iterator[Chunk]:
        self.head()
        waiting, self._waiting = self._waiting, []
        yield from waiting
        yield from self._rest

    def head(self) -> dict[str, list[Any]]:
        """The first rows, by column; the first chunk is computed for them."""
        import pyarrow as pa

        if self._head is None:
            self._waiting = list(islice(self._rest, 1))
            first = self._waiting[0] if self._waiting else {}
            cells = {name: values[:FIRST_ROWS] for name, values in first.items()}
            self._head = pa.table(cells).to_pydict()
        return self._head


@final
@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of the rows of a table, computed as they are read.  The first print as a table.

    Attributes
    ----------
    names : tuple of str
        The columns: those that are kept, ``prediction``, ``p_CLASS``, ``low`` and ``high``.
    n_rows : int or None
        The number of rows, where it is known before they are read.
    notes : tuple of str
        What should be known about them.
    path : Path or None
        The file that they were written to, with ``output``.
    n_bounded : int
        How many of the rows that were read are so far outside the fit that their prediction is
        bounded; after the last row a warning says so.
    """

    names: tuple[str, ...]
    n_rows: int | None
    notes: tuple[str, ...]
    chunks: Chunks = field(repr=False)
    library: str | None = None  # of the frame that was given
    path: Path | None = None
    bounded: BoundedRows = field(default_factory=BoundedRows, repr=False)

    @property
    def n_bounded(self) -> int:
        return self.bounded.n

    def __str__(self) -> str:
        head = self.chunks.head()
        rows = list(zip(*head.values(), strict=True))
        words = {j for j, cells in enumerate(zip(*rows, strict=True)) if isinstance(cells[0], str)}
        table = text_table(self.names, [[cell(x) for x in row] for row in rows], words=words)
        total = "of all rows" if self.n_rows is None else f"of {count(self.n_rows, 'row')}"
        which = (
            f"The first {len(rows)} {total}" if len(rows) != self.n_rows else f"Predictions {total}"
        )
        where = "" if self.path is None else f", written to {self.path}"
        return "\n".join([*table, *paragraph(f"{which}{where}.")])

    def __iter__(self) -> Iterator[Any]:
        """Frames of some thousands of rows each, once."""
        import pyarrow as pa

        from likely.data.frames import frame_of

        for chunk in self.chunks:
            yield frame_of(pa.table(dict(chunk)), self.library)

    def to_frame(self) -> Any:
        """All predictions, as a frame of the library of the rows; of a file, an Arrow table."""
        import pyarrow as pa

        from likely.data.frames import frame_of

        tables = [pa.table(dict(chunk)) for chunk in self.chunks]
        empty = pa.table({name: [] for name in self.names})
        return frame_of(pa.concat_tables(tables) if tables else empty, self.library)

    def write(self, path: str | Path, *, safe: bool = False) -> int:
        """Write a .csv, .tsv, .jsonl (each also .gz) or .parquet file; the number of rows.

        The file gets its name when it is complete.  In ``safe`` CSV, no text is a formula of a
        spreadsheet.
        """
        return write_table(Path(path), list(self.names), self.chunks, safe=safe)


class PredictRequest(NamedTuple):
    """What to predict, with which model, and what to add."""

    run: str  # as a command names it
    opened: "Run"
    data: str
    keep: Sequence[str] = ()
    proba: bool = False
    interval: float | None = None
    of: str | None = None
    threshold: float | None = None
    caller: Caller = Caller()
    options: DataOptions = DataOptions()


def predict(
    run: Any,
    data: Any,
    *,
    proba: bool = False,
    interval: float | bool | None = None,
    of: str | None = None,
    threshold: float | None = None,
    keep: Sequence[str] = (),
    output: str | Path | None = None,
    number: "Given | None" = None,
    date: "Given | None" = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> Predictions:
    """Predict every row of a table, as ``likely predict`` does.

    Rows are read, predicted and handed on in chunks, so a file may be larger than memory.

    Parameters
    ----------
    run : path, "@last", Trained, or Study
        A RUN folder, a model file, or what ``train`` returned.  Of what ``tune`` returned, the
        model with the best settings, fitted to all rows of the study again.
    data : path, built-in name, or data frame
        It needs the columns that the model was trained on; others are ignored.
    proba : bool
        Also the probability of each class, ``p_CLASS``.
    interval : float or True
        Also the ends of an interval of this level (True is 0.95), ``low`` and ``high``.
    of : {"y", "mean"}
        What the interval is for; None is a new value, and for two classes the probability of the
        second.
    threshold : float
        For two classes: the second is predicted where its probability is at least this.
    keep : sequence of str
        Columns of the data to carry along.
    output : path
        A file to write: .csv, .tsv, .jsonl (each also .gz) or .parquet.
    number, date, decimal, sheet
        How the file is written, as in ``read``; otherwise its columns are read as those of the RUN.

    Returns
    -------
    Predictions
        Iterate over it for frames of some thousands of rows; ``to_frame()`` and ``write(path)``.
        With ``output`` the file has been written, and is read back.

    Examples
    --------
    >>> from likely import predict, train
    >>> found = train("iris", model="naive-bayes")
    >>> predict(found, "iris", proba=True).to_frame().column_names
    ['prediction', 'p_setosa', 'p_versicolor', 'p_virginica']
    """
    opened = run_of(run)
    name = str(run) if isinstance(run, str | Path) else "RUN"
    label = str(data) if isinstance(data, str | Path) else "DATA"
    level = LEVEL if interval is True else None
    if interval is not None and not isinstance(interval, bool):
        level = share(interval, "Write interval=0.9, for instance.")
    if threshold is not None:
        threshold = share(threshold, "Write threshold=0.3, for instance.")
    keep = (keep,) if isinstance(keep, str) else keep
    said = {"number": number, "date": date, "decimal": decimal, "sheet": sheet}
    how = DataOptions(**reading_options(said))
    request = PredictRequest(name, opened, label, keep, proba, level, of, threshold, options=how)
    if output is None:
        return predictions(request, data)
    if isinstance(data, str | Path) and is_same_file(str(data), str(output)):
        raise InvalidInput(
            f"output={str(output)!r} is also the input; the predictions would overwrite it. Give "
            "another file."
        )
    found = predictions(request, data)
    found.write(output)
    return _written(output, found.bounded)


def _written(path: str | Path, bounded: BoundedRows) -> Predictions:
    """The predictions in a file."""
    from likely.data.formats.registry import read

    source = read(path)
    tables = ({n: batch.column(n) for n in source.names} for batch in source)
    names = tuple(source.names)
    return Predictions(names, source.n_rows, (), Chunks(tables), path=Path(path), bounded=bounded)


def run_of(run: Any) -> "Run":
    """The model and the facts of its training: of a RUN, or what ``train`` or ``tune`` returned."""
    from likely.runs import Run, open_run
    from likely.tasks.training_run import Trained, run_facts_of
    from likely.workbench.search.study import Study

    if isinstance(run, Trained):
        return Run(run.run or Path(), run.model, run_facts_of(run))
    if isinstance(run, Study):
        rows = run.question.objective.rows
        facts = {
            "roles": rows.roles.given(),
            "categories": list(rows.categories),
            "readings": rows.readings.to_json(),
        }
        return Run(Path(), run.refit(), facts)
    if isinstance(run, str | Path):
        return open_run(str(run))
    raise InvalidInput(
        f"{type(run).__name__} was given; a RUN folder, '@last', a model file, or what "
        "likely.train or likely.tune returned, was expected. Fitted models have predict and "
        "predict_proba of their own."
    )


def predictions(request: PredictRequest, data: Any) -> Predictions:
    """The predictions of a request: nothing is computed before they are read."""
    from likely.data.frames import library_of
    from likely.workbench.data.opening import HeaderAlone

    opened, run = request.opened, request.run
    labels = _labels(opened, run, request.data) if request.proba else []
    options = PredictionOptions.of(opened, request)
    names = ["prediction", *(f"p_{label}" for label in labels), *options.names]
    try:
        rows = opened_as_trained(opened.facts, data, request.options)
    except HeaderAlone as alone:
        notes = _nothing_to_predict(opened, alone, run)
        kept = kept_names(request.caller, request.keep, alone.names, names)
        return Predictions((*kept, *names), 0, notes, Chunks(()))
    rows = with_text_as_trained(opened, rows)
    refuse_missing_columns(opened, rows.source.names, rows.label, run)
    notes = (*rows.readings.remarks, *rows.log_prediction(), *options.remarks)
    kept = kept_names(request.caller, request.keep, rows.source.names, names)
    read = {*map(str, opened.model.feature_names_in_)}
    rows = with_categories_of_run(rows, opened.facts, read)
    tables, n_rows, bounded = _needed(opened, rows, kept), rows.source.n_rows, BoundedRows()
    chunks = _prediction_chunks(opened, tables, names, kept, options, bounded, n_rows)
    library = None if isinstance(data, str | Path) else library_of(data)
    return Predictions((*kept, *names), n_rows, notes, Chunks(chunks), library, bounded=bounded)


def document_predictions(
    request: PredictRequest, text: str, tables: "Iterator[pa.Table]"
) -> Predictions:
    """The predictions of documents that come one after the other, each before the next is read."""
    opened = request.opened
    labels = _labels(opened, request.run, request.data) if request.proba else []
    options = PredictionOptions.of(opened, request)
    names = ["prediction", *(f"p_{label}" for label in labels), *options.names]
    kept = kept_names(request.caller, request.keep, [text], names)
    bounded = BoundedRows()
    chunks = _prediction_chunks(opened, tables, names, kept, options, bounded)
    return Predictions((*kept, *names), None, options.remarks, Chunks(chunks), bounded=bounded)


class PredictionOptions(NamedTuple):
    """What is computed in addition to the predictions, or in place of their rule."""

    intervals: "PredictionIntervals | None"
    level: float
    threshold: float | None
    positive: int = 1  # of two classes, the place of the one that the threshold is of

    @classmethod
    def of(cls, opened: "Run", request: PredictRequest) -> "PredictionOptions":
        """The options, checked against the model of a run."""
        from likely.workbench.scoring.predictions import prediction_intervals

        model, positive, threshold = opened.model, 1, request.threshold
        run, data, interval, of = request.run, request.data, request.interval, request.of
        plain = shlex.join(["likely", "predict", run, data])
        if of is not None and interval is None:
            raise Refusal(
                f"--of {of} was given without --interval, which it is about. Add --interval.",
                Exit.DATA,
                f"{plain} --interval --of {of}",
            )
        if threshold is not None:
            _refuse_without_two_classes(model, run, plain)
            order = (opened.facts.get("task") or {}).get("order")
            positive = model.classes_.tolist().index(order[-1]) if order else 1
        try:
            intervals = None if interval is None else prediction_intervals(model, of or "auto")
        except InvalidInput as error:
            raise Refusal(str(error), Exit.DATA, plain) from None
        return cls(intervals, interval or LEVEL, threshold, positive)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the interval, where one was asked for."""
        return () if self.intervals is None else self.intervals.names

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know about the intervals."""
        none = self.intervals is None or not self.intervals.remark
        return () if none else (self.intervals.remark,)  # type: ignore[union-attr]  # not None

    def predictions(self, model: Any, table: Any, given: Mapping[str, Any]) -> "Array":
        """The predictions: at the threshold, where one was given."""
        import numpy as np

        if self.threshold is None:
            return np.asarray(model.predict(table, **given))
        likely = model.predict_proba(table, **given)[:, self.positive] >= self.threshold
        return np.asarray(model.classes_)[np.where(likely, self.positive, 1 - self.positive)]

    def ends(self, table: Any, given: Mapping[str, Any]) -> "list[Array]":
        """The lower and the upper ends, where an interval was asked for."""
        if self.intervals is None:
            return []
        return list(self.intervals.values(table, self.level, given).T)


def _refuse_without_two_classes(model: Any, run: str, plain: str) -> None:
    from likely.workbench.scoring.predictions import has_probabilities, probability_labels

    labels = probability_labels(model)
    if len(labels) == 2 and has_probabilities(model) and hasattr(model, "classes_"):
        return
    what = f"{len(labels)} classes or components" if labels else "a number"
    raise Refusal(
        f"--threshold was given, and {run} predicts {what}; a threshold decides between two "
        "classes. Leave it out.",
        Exit.DATA,
        plain,
    )


def kept_names(
    caller: Caller, keep: Sequence[str], names: Sequence[str], written: Sequence[str]
) -> list[str]:
    """The columns to carry along; refused if DATA has none of that name, or the output has one."""
    kept = list(dict.fromkeys(keep))
    for name in kept:
        refuse_unknown_column(caller, names, name)
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


def _nothing_to_predict(run: "Run", alone: "HeaderAlone", name: str) -> tuple[str, ...]:
    """A note about a file that has a header and no rows."""
    from likely.inputs.tables import names_in_fit

    if not set(alone.names) & set(names_in_fit(run.model) or ()):
        raise alone  # a line, but no header
    refuse_missing_columns(run, alone.names, alone.path, name)
    return (f"{alone.path} has a header but no rows, so there is nothing to predict.",)


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
    bounded: BoundedRows,
    n_rows: int | None = None,
) -> Iterator[Chunk]:
    """The kept columns, predictions, any probabilities and ends of intervals, chunk by chunk.

    Rows far outside the fit are added to ``bounded``; one warning follows the last chunk.
    """
    from likely.output.progress import report, stage
    from likely.workbench.data.roles import roles_in_run

    model, roles, start = run.model, roles_in_run(run.facts), 0
    names, read = needed_columns(model), columns_read_by(model)
    with stage("predicting", n_rows):
        for table in tables:
            asked = as_trained(table.select(names), frozenset(read.categories))
            refuse_text(asked, read.numbers, start)
            if read.complete:
                refuse_gaps(table.select([*names, *roles.at_prediction()]), start)
            given = roles.to_predict(table)
            with counting_bounded() as outside:
                found = [options.predictions(model, asked, given)]
            bounded.add(outside.n, table.num_rows, outside.columns)
            with counting_bounded():  # the same rows
                if len(columns) > 1 + len(options.names):
                    found += list(model.predict_proba(asked, **given).T)
                _refuse_nan(found, start)
                found += options.ends(asked, given)
            predicted = {name: values.tolist() for name, values in zip(columns, found, strict=True)}
            yield {**kept_cells(table, kept), **predicted}
            start += table.num_rows
            report("rows", table.num_rows)
    bounded.warn()


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
