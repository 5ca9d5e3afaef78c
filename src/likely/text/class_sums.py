"""Counts of terms by class, from labelled documents, without a matrix.

    N_vk = Σ_d w_d [y_d = k] x_dv        n_v = Σ_d [x_dv > 0]        t_v = Σ_d x_dv

n_v and t_v have no weights: they decide which terms are kept, as in ``BagOfWords``.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.compute.executor import executor_for
from likely.data.formats.registry import read
from likely.data.sequences import TermIds
from likely.data.source import Source, column_index
from likely.data.source_blocks import class_codes, find_schema, weights
from likely.errors import InvalidInput
from likely.generative.class_counts import ClassCounts
from likely.inputs.tables import is_file, own_columns
from likely.inputs.targets import (
    check_weight,
    classes_of,
    codes_among,
    label_array,
    refuse_other_length,
    required,
)
from likely.output.formatting import listed
from likely.text.documents import documents, empty_where_missing

# ── Labelled documents in batches: of memory, or of a file that is read as it is needed ───────────


class LabelledBatch(NamedTuple):
    """Documents with the codes of their classes."""

    documents: Any  # anything that has documents
    codes: Codes  # int64; −1 where the weight is 0
    weight: Array


Keep = Callable[[LabelledBatch, TermIds, int], None]  # documents of a batch, from a row on


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


# ── Counts of each class ──────────────────────────────────────────────────────────────────────────


@final
class ClassSums:
    """Running sums of the terms of each class, with room for new terms."""

    def __init__(self, counts: ClassCounts, *, once: bool) -> None:
        self.sums = np.require(counts.by_feature, np.float64, ["C", "W"])  # (room, n_classes)
        self.of_class = counts.of_class.copy()  # weights of the documents of each class
        self.n_terms = len(self.sums)  # so far: the rest is room
        self.once = once
        self.n_documents = 0
        self.seen = np.zeros((len(self.sums), 3), np.int64)  # last document, documents, total

    @classmethod
    def of_classes(cls, n_classes: int, n_terms: int, *, once: bool) -> "ClassSums":
        """No documents yet; memory is used by the terms that occur, not by ``n_terms``."""
        nothing = ClassCounts(np.zeros((n_terms, n_classes)), np.zeros(n_classes))
        return cls(nothing, once=once)

    @property
    def counts(self) -> ClassCounts:
        """The counts so far; later ones are added in place."""
        return ClassCounts(self.sums[: self.n_terms], self.of_class.copy())

    def without_frequencies(self) -> "ClassSums":
        """The same sums, without the numbers of documents with each term."""
        return ClassSums(self.counts, once=self.once)

    def copied(self) -> "ClassSums":
        """The same sums, to which documents can be added without a change of these."""
        new = ClassSums(ClassCounts(self.sums.copy(), self.of_class), once=self.once)
        new.n_terms, new.n_documents, new.seen = self.n_terms, self.n_documents, self.seen.copy()
        return new

    def of_terms(self, order: Array) -> "ClassSums":
        """The sums of some terms, in this order."""
        return ClassSums(ClassCounts(self.sums[order], self.of_class), once=self.once)

    @property
    def frequency(self) -> Array:
        """n_v, the number of documents with each term."""
        return self.seen[:, 1]

    @property
    def total(self) -> Array:
        """t_v, how often each term occurs; with ``once``, in how many documents."""
        return self.seen[:, 2]

    def add(
        self,
        batch: LabelledBatch,
        parts: Iterable[tuple[TermIds, int]],
        keep: Keep | None = None,
    ) -> None:
        """Add the documents of a batch, in parts with the number of terms so far; ``keep`` them.

        Ids of a part are below its number of terms.
        """
        first = 0
        for found, n_terms in parts:
            self._make_room(n_terms)
            here = slice(first, first + found.stops.size)
            self.count(found, batch.codes[here], batch.weight[here])
            if keep is not None:
                keep(batch, found, first)
            first = here.stop

    def count(self, found: TermIds, codes: Codes, weight: Array) -> None:
        """Add documents with the codes of their classes; there is room for their ids."""
        from likely.fast.text_scores import count_by_class

        number = self.n_documents + 1
        count_by_class(
            found.ids, found.stops, number, codes, weight, self.once, self.seen, self.sums
        )
        known = codes >= 0
        self.of_class += np.bincount(codes[known], weight[known], self.of_class.size)
        self.n_documents += found.stops.size

    def _make_room(self, n_terms: int) -> None:
        room = len(self.sums)
        self.n_terms = n_terms
        if n_terms <= room:
            return
        more = max(n_terms, 2 * room)
        for name in ("sums", "seen"):
            given = getattr(self, name)
            larger = np.zeros((more, given.shape[1]), given.dtype)
            larger[:room] = given
            setattr(self, name, larger)
