"""Labelled documents in batches: of memory, or of a file that is read as it is needed."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.compute.executor import executor_for
from likely.data.formats.registry import read
from likely.data.source import Source, column_index
from likely.data.source_blocks import class_codes, find_schema, weights
from likely.errors import InvalidInput
from likely.formatting import listed
from likely.inputs.labels import classes_of, codes_among, label_array
from likely.inputs.numbers import check_weight, refuse_other_length, required
from likely.inputs.tables import is_file, own_columns
from likely.text.documents import documents, empty_where_missing


class LabelledBatch(NamedTuple):
    """Documents with the codes of their classes."""

    documents: Any  # anything that has documents
    codes: Codes  # int64; −1 where the weight is 0
    weight: Array


class LabelledDocuments(NamedTuple):
    """Batches to learn from, once, and the classes that occur in them."""

    batches: Iterable[LabelledBatch]
    classes: Array
    in_memory: bool


def labelled_documents(estimator: Any, X: Any, y: Any, sample_weight: Any) -> LabelledDocuments:
    """Documents of memory or of a file, with their classes; a document of weight 0 has none."""
    if is_file(X) and not (isinstance(X, str) and not Path(X).is_file()):
        return _of_file(estimator, X, y, sample_weight)
    X, y, sample_weight = own_columns(X, y, sample_weight)
    given = X if isinstance(X, list | tuple) else documents(X)  # lists are read in parts
    labels, weight = _checked(estimator, len(given), y, sample_weight)
    codes = np.full(len(labels), -1, dtype=np.int64)
    classes, codes[weight > 0] = classes_of(labels[weight > 0])
    return LabelledDocuments([LabelledBatch(given, codes, weight)], classes, in_memory=True)


def batch_of(estimator: Any, X: Any, y: Any, sample_weight: Any, classes: Array) -> LabelledBatch:
    """Documents of memory whose classes are among those that are known."""
    X, y, sample_weight = own_columns(X, y, sample_weight)
    given = documents(X)  # all of them are checked before one is counted
    labels, weight = _checked(estimator, len(given), y, sample_weight)
    codes = codes_among(labels, classes).astype(np.int64)
    return LabelledBatch(given, np.where(weight > 0, codes, -1), weight)


def _checked(estimator: Any, n: int, y: Any, sample_weight: Any) -> tuple[Array, Array]:
    if not n:
        raise InvalidInput("there are no documents to learn from. Pass at least one.")
    labels = label_array(required(y, estimator))
    refuse_other_length(labels, n)
    weight = check_weight(sample_weight, n_rows=n)
    return labels, np.ones(n) if weight is None else weight


def _of_file(estimator: Any, X: Any, y: Any, sample_weight: Any) -> LabelledDocuments:
    """The text column of a file, with the label and the weight of each row in other columns."""
    source = read(X) if isinstance(X, str | Path) else X
    beside = [name for name in (required(y, estimator), sample_weight) if name is not None]
    for name in beside:
        if not isinstance(name, str):
            raise InvalidInput(
                "X is a file, so y and sample_weight must be names of its columns; found "
                f"{type(name).__name__}. Columns are {listed(source.names)}."
            )
        column_index(source.names, name)
    texts = [name for name in source.names if name not in beside]
    if len(texts) != 1:
        raise InvalidInput(
            f"the file has the columns {listed(source.names)}; one column of text was expected "
            "beside the label and the weight. Choose columns: likely.read(path).select([text, "
            f"{y!r}])."
        )
    one = executor_for("serial", None)
    schema = find_schema(source.select([y]), [True], one, table=source, weight=sample_weight)
    (classes,) = schema.categories
    assert classes is not None  # the column is read as codes
    batches = _batches(source, texts[0], y, sample_weight, classes)
    return LabelledDocuments(batches, classes, in_memory=False)


def _batches(
    source: Source, text: str, target: str, weight: str | None, classes: Array
) -> Iterator[LabelledBatch]:
    start = 0
    wanted = [text, target] if weight is None else [text, target, weight]
    for table in source.select(wanted).with_text([text]):
        given = documents(empty_where_missing(table.column(text)))
        codes = class_codes(table.column(target), classes).astype(np.int64)
        of_row = np.ones(len(codes)) if weight is None else weights(table.column(weight), start)
        unknown = (codes < 0) & (of_row > 0)
        if unknown.any():
            raise InvalidInput(
                f"Row {start + int(unknown.argmax())} has no label in column {target!r}; every "
                "row needs one. Remove the row."
            )
        yield LabelledBatch(given, np.where(of_row > 0, codes, -1), of_row)
        start += len(codes)
