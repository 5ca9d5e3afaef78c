"""``likely.explain``: why a model predicts what it predicts, for rows of a table and for documents.

A fitted model is explained by its own method, or by replacing cells.  A RUN is explained on rows of
DATA, which are read and checked as ``predict`` does, or on documents, word by word; without either
it is described.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.explanations.any_model import explain as explain_model
from likely.inputs.bounded_rows import counting_bounded
from likely.inputs.tables import as_frame, n_rows_of, refuse_file, rows_at
from likely.names import has_method
from likely.output.formatting import WIDEST, cell, count, listed
from likely.tasks.prediction_run import run_of
from likely.tasks.request import (
    NO_OPTIONS,
    DataOptions,
    Exit,
    Refusal,
    opened_as_trained,
    with_categories_of_run,
)
from likely.tasks.suitability import (
    as_trained,
    columns_read_by,
    needed_columns,
    refuse_missing_columns,
    refuse_text,
    text_alone,
    with_text_as_trained,
)
from likely.tasks.training_run import Trained

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.explanations.explanation import Explanation
    from likely.runs import Run
    from likely.text.text_classifier import TextClassifier
    from likely.text.text_explanation import TextExplanation

FIRST_ROWS = 3  # without --row
BACKGROUND_ROWS = 500  # of the table, for models that compare a row with others
MOST_CLASSES = 5  # whose probability is shown, the most probable first
WITHOUT_OFFSET = (
    "The contributions and their total are without the {} of the row, which the prediction "
    "includes: an offset, or the logarithm of an exposure, is added to the total first."
)
MOST_COLUMNS = 20  # without --top; JSON has all

Chances = list[tuple[Any, float]]  # classes with their probabilities, the most probable first


@final
@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Rows of a table: what each column adds, and what is predicted.

    Attributes
    ----------
    explanation : Explanation
        The contributions of the columns.
    predictions : tuple
        Of each row.
    chances : list of lists of pairs
        The classes of each row with their probabilities, the most probable first.
    """

    explanation: "Explanation"
    predictions: tuple[Any, ...]
    chances: list[Chances] = field(repr=False)
    given: dict[str, Any] = field(repr=False)  # offsets and exposures, by role
    offsets: Any = field(default=None, repr=False)

    def titled(self, top: int | None = None, width: int = WIDEST) -> list[tuple[str, str]]:
        """A title and a table for each row."""
        found = self.explanation
        texts = found.text(most=len(found), top=top or MOST_COLUMNS, width=width).split("\n\n")
        parts = []
        for i, value in enumerate(self.predictions):
            title, _, rest = texts[i].partition("\n")
            words = "".join(f", {role} {cell(x[i].as_py())}" for role, x in self.given.items())
            if self.chances:
                rest += f"\nprobability: {most_probable(self.chances[i])}"
            parts.append((f"{title}; prediction {value}{words}", rest))
        return [*parts, *(("", text) for text in texts[len(parts) :])]

    def __str__(self) -> str:
        return "\n\n".join("\n".join(filter(None, pair)) for pair in self.titled())

    def html(self) -> str:
        """The table for a notebook."""
        return self.explanation._repr_html_()

    _repr_html_ = html

    def to_frame(self, library: str | None = None) -> Any:
        """The contributions, as ``Explanation.to_frame`` has them."""
        return self.explanation.to_frame(library)

    def to_json(self) -> dict[str, Any]:
        """The contributions and the predictions, as ``likely explain --json`` has them."""
        facts = self.explanation.to_json()
        for i, each in enumerate(facts["rows"]):
            each["prediction"] = self.predictions[i]
            if self.chances:
                each["probabilities"] = {str(name): p for name, p in self.chances[i]}
            if self.offsets is not None:
                each["offset"] = self.offsets[i]
        return facts


@final
@dataclass(frozen=True, eq=False)
class ExplainedTexts:
    """Documents: what each word adds, in its place, and the probabilities of the classes.

    Attributes
    ----------
    explanations : list of TextExplanation
    chances : list of lists of pairs
    """

    explanations: "list[TextExplanation]"
    chances: list[Chances] = field(repr=False)

    def texts(self, top: int | None = None, width: int = WIDEST) -> list[str]:
        """Each document with its words, and a table of them."""
        parts = [each.text(top=top or MOST_COLUMNS, width=width) for each in self.explanations]
        return [
            f"{part}\nprobability: {most_probable(self.chances[i])}" if self.chances else part
            for i, part in enumerate(parts)
        ]

    def __str__(self) -> str:
        return "\n\n".join(self.texts())

    def html(self) -> str:
        """A page with the words in colours."""
        from likely.text.text_explanation import page_of

        return page_of(self.explanations)

    def to_json(self) -> dict[str, Any]:
        """The words, the predictions and the probabilities."""
        rows = [each.to_json() for each in self.explanations]
        for row, chances in zip(rows, self.chances, strict=False):
            row["prediction"] = chances[0][0]
            row["probabilities"] = {str(name): p for name, p in chances}
        return {"rows": rows}


def explain(
    model: Any,
    X: Any = None,
    against: Any = None,
    *,
    background: Any = None,
    rows: int | Sequence[int] = (),
    texts: str | Sequence[str] = (),
) -> Any:
    """Why a model predicts what it predicts: what each column, or each word, adds.

    A model with a method ``explain`` explains itself.  Any other (an estimator of scikit-learn, a
    pipeline) is explained by replacing the cells of a row with those of background rows, one after
    the other, in random orders of the columns: approximately, and always with the same result.

    Parameters
    ----------
    model : fitted estimator, path of a RUN, "@last", or what ``train`` or ``tune`` returned
        A RUN is explained as ``likely explain`` does.
    X : array, data frame, or, for a RUN, also a path or a built-in name
        The rows to explain.  Without rows and texts, the model is described.
    against : label or None
        The class that log-odds compare with; the first where none is given.
    background : array, data frame or None
        Rows that a prediction is compared with, such as (some of) the training rows, for models
        that do not explain themselves.  None takes the rows of X.
    rows : int or sequence of int
        The numbers of the rows of X to explain, from 0.  If none are given, all rows are explained,
        and of a RUN the first three.
    texts : str or sequence of str
        For a RUN that reads one column of text: documents to explain, word by word.  To a
        TextClassifier they may be given as X, too.

    Returns
    -------
    Explanation, ExplainedRows, ExplainedTexts or Description
        Each prints as tables; an Explanation has ``to_frame()`` and ``plot()``, and is the
        ``explanation`` of ExplainedRows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from likely import explain
    >>> X = np.array([[0.0, 5.0], [1.0, 4.0], [0.0, 3.0], [1.0, 5.0]])
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 8.0, 0.0, 8.0])
    >>> print(explain(tree, X[1:2], background=X).text(width=60))
    row 0: prediction
    base    +4.000
    x0 = 1  +4.000
    x1 = 4  +0.000
    total   +8.000
    <BLANKLINE>
    Note: Contributions are estimates, by replacing cells with
    those of background rows in 25 random orders of the columns
    and their reverses; they add up exactly.
    """
    from likely.output.description import describe
    from likely.text.text_classifier import TextClassifier
    from likely.workbench.search.study import Study

    wanted = _numbers(rows)
    if wanted and X is None:
        raise InvalidInput(
            f"rows={rows!r} was given without X; rows of a table are explained. Give the table."
        )
    if not isinstance(model, str | Path | Trained | Study):
        if X is None and not len(texts):
            return describe(model)
        if isinstance(model, TextClassifier):
            return _explained_by_words(model, texts if X is None else X, against, wanted)
        if len(texts):
            raise InvalidInput(
                f"texts= was given with a {type(model).__name__}; it is for RUNs and a "
                "TextClassifier. Give rows as X."
            )
        return _explained_by_model(model, X, against, background, wanted)
    run = str(model) if isinstance(model, str | Path) else "RUN"
    opened = run_of(model)
    if len(texts):
        documents = [texts] if isinstance(texts, str) else texts
        return explained_texts(opened, run, documents, against)
    if X is None:
        return describe(opened.model)
    return explained_rows(opened, run, X, wanted, against)


def _numbers(rows: int | Sequence[int]) -> tuple[int, ...]:
    """The numbers of rows, each once; one number is one row."""
    given = np.atleast_1d(np.asarray(rows, dtype=object)).tolist()
    if not all(isinstance(row, Integral) and not isinstance(row, bool) for row in given):
        raise InvalidInput(
            f"rows={rows!r} was given; numbers of rows, from 0, were expected. Write rows=[3, 17], "
            "for instance."
        )
    return tuple(dict.fromkeys(map(int, given)))


def _explained_by_model(
    model: Any, X: Any, against: Any, background: Any, rows: tuple[int, ...]
) -> "Explanation":
    """The explanation of these rows of X, or of all, compared with all rows of X."""
    if not rows:
        return explain_model(model, X, against, background=background)
    if has_method(model, "explain") and "lengths" in signature(model.explain).parameters:
        raise InvalidInput(
            f"rows={list(rows)} was given, and a {type(model).__name__} explains a row by the "
            "other rows of its sequence. Leave rows out."
        )
    refuse_file(X, "explain")
    X = as_frame(X)
    n = n_rows_of(X)
    for row in rows:
        if not 0 <= row < n:
            raise InvalidInput(_no_row(row, "X", n))
    background = X if background is None else background
    found = explain_model(model, rows_at(X, np.array(rows)), against, background=background)
    return replace(found, rows=rows)


def _explained_by_words(
    model: "TextClassifier", texts: object, against: object, rows: tuple[int, ...]
) -> ExplainedTexts:
    """The explanation of these documents, or of all, word by word."""
    from likely.data.frames import library_of
    from likely.text.documents import documents

    read = documents([texts] if isinstance(texts, str) else texts).to_pylist()
    for row in rows:
        if not 0 <= row < len(read):
            raise InvalidInput(_no_row(row, "X", len(read)))
    chosen = [read[row] for row in rows] if rows else read
    proba = model.predict_proba(chosen)
    chances = [_most_probable_first(model.classes_, row) for row in proba]
    found = model.explain(chosen, against)
    assert isinstance(found, list)  # a list of documents was given
    return ExplainedTexts([each.with_library(library_of(texts)) for each in found], chances)


def _no_row(row: int, data: str, n_rows: int) -> str:
    return (
        f"Row {row} was given; {data} has {count(n_rows, 'row')}, numbered from 0. Choose a row "
        f"from 0 to {n_rows - 1}."
    )


def explained_rows(
    opened: "Run",
    run: str,
    data: Any,
    rows: tuple[int, ...],
    against: Any,
    options: DataOptions = NO_OPTIONS,
) -> ExplainedRows:
    """The explanation of some rows of a table, in frames of its library."""
    from likely.data.frames import library_of

    given = data
    if options != NO_OPTIONS:
        given = opened_as_trained(opened.facts, data, options)
    found = _explained_tables(opened, *_tables(opened, run, given, rows), against)
    library = None if isinstance(data, str | Path) else library_of(data)
    return replace(found, explanation=replace(found.explanation, library=library))


def explained_texts(
    opened: "Run", run: str, texts: Sequence[str], against: Any
) -> ExplainedTexts | ExplainedRows:
    """The explanation of documents, word by word; of models without weights of words, by column."""
    import pyarrow as pa

    from likely.text.text_classifier import TextClassifier

    name = text_alone(opened)
    if name is None:
        needed = listed(needed_columns(opened.model))
        raise Refusal(
            f"--text explains a model that reads one column of text; {run} reads {needed}. Give "
            "DATA with these columns.",
            Exit.DATA,
            shlex.join(["likely", "explain", run, "DATA"]),
        )
    table = pa.table({name: pa.array(texts, pa.string())})
    label = None if against is None else _label(opened.model, against)
    if isinstance(opened.model, TextClassifier):
        documents: Any = opened.model.explain(list(texts), label)
        return ExplainedTexts(documents, _chances(opened, table))
    in_place = _in_place(opened, table, texts, label)
    if in_place is not None:
        return ExplainedTexts(in_place, _chances(opened, table))
    return _explained_tables(opened, table, table, tuple(range(len(texts))), against)


def _explained_tables(
    opened: "Run",
    table: "pa.Table",
    others: "pa.Table",
    positions: tuple[int, ...],
    against: Any,
) -> ExplainedRows:
    """The explanation of the rows of a table, compared with those of another."""
    from likely.workbench.data.roles import roles_in_run

    label = None if against is None else _label(opened.model, against)
    read, background = _features(opened, table, positions[0]), _features(opened, others)
    found = explain_model(opened.model, read, label, background=background)
    found = replace(found, rows=positions)
    roles = roles_in_run(opened.facts)
    given, moved = roles.to_predict(table), roles.offsets(table)
    if moved is not None:
        found = found.also(WITHOUT_OFFSET.format(" and ".join(given)))
    predicted = opened.model.predict(_features(opened, table), **given).tolist()
    offsets = None if moved is None else moved.tolist()
    return ExplainedRows(found, tuple(predicted), _chances(opened, table), given, offsets)


def _in_place(
    opened: "Run", table: "pa.Table", texts: Sequence[str], against: Any
) -> "list[TextExplanation] | None":
    """The explanations of documents that are all a prepared model reads; None without weights."""
    from likely.workbench.preparation.texts import TextColumn, explained_in_place

    model = opened.model
    if not has_method(model, "predict_log_proba"):
        return None
    (column,) = (step for step in model.preparation_.steps if isinstance(step, TextColumn))
    log_proba = model.predict_log_proba(_features(opened, table))
    found = [
        explained_in_place(model.model_, column, text, row, against)
        for text, row in zip(texts, log_proba, strict=True)
    ]
    kept = [each for each in found if each is not None]
    return kept if len(kept) == len(found) else None


def _chances(opened: "Run", table: "pa.Table") -> list[Chances]:
    """The classes of each row with their probabilities, the most probable first; or none."""
    from likely.workbench.data.roles import roles_in_run

    if not (has_method(opened.model, "predict_proba") and hasattr(opened.model, "classes_")):
        return []
    given = roles_in_run(opened.facts).to_predict(table)
    if not given.keys() <= {"offset"}:
        return []
    with counting_bounded():  # the prediction of these rows has warned
        probability = opened.model.predict_proba(_features(opened, table), **given)
    return [_most_probable_first(opened.model.classes_, row) for row in probability]


def _most_probable_first(classes: Array, probability: Array) -> Chances:
    pairs = zip(classes.tolist(), probability.tolist(), strict=True)
    return sorted(pairs, key=lambda pair: -pair[1])


def most_probable(chances: Chances) -> str:
    """The classes with their probabilities, in words."""
    return ", ".join(f"{label} {p:.3f}" for label, p in chances[:MOST_CLASSES])


def _label(model: Any, written: Any) -> Any:
    """The class, component or state that is written like this."""
    classes = getattr(model, "classes_", None)
    known = [] if classes is None else classes.tolist()
    return next((label for label in known if str(label) == str(written)), written)


def _tables(
    opened: "Run", run: str, data: Any, rows: tuple[int, ...]
) -> "tuple[pa.Table, pa.Table, tuple[int, ...]]":
    """The rows to explain, the rows they are compared with, and their numbers in the table."""
    import pyarrow as pa

    from likely.data.arrow import CHUNK_ROWS
    from likely.data.source_blocks import chunks

    source = _source(opened, run, data)
    wanted = sorted(set(rows)) or list(range(FIRST_ROWS))
    found: dict[int, pa.Table] = {}
    others: list[pa.Table] = []
    start = 0
    for chunk in chunks(source, CHUNK_ROWS):
        if start < BACKGROUND_ROWS:
            others.append(chunk.slice(0, BACKGROUND_ROWS - start))
        for row in wanted:
            if start <= row < start + chunk.num_rows:
                found[row] = chunk.slice(row - start, 1)
        start += chunk.num_rows
        if len(found) == len(wanted) and start >= BACKGROUND_ROWS:
            break
    missing = [row for row in wanted if row not in found]
    if missing and (rows or not found):
        raise Refusal(
            _no_row(missing[0], _named(data), start),
            Exit.DATA,
            shlex.join(["likely", "explain", run, _named(data)]),
        )
    order = tuple(dict.fromkeys(row for row in rows or wanted if row in found))
    return pa.concat_tables([found[row] for row in order]), pa.concat_tables(others), order


def _source(opened: "Run", run: str, data: Any) -> Any:
    """The columns of the table that the model reads, and an offset or exposure."""
    from likely.workbench.data.roles import roles_in_run

    rows = with_text_as_trained(opened, opened_as_trained(opened.facts, data))
    refuse_missing_columns(opened, rows.source.names, rows.label, run)
    names = needed_columns(opened.model)
    rows = with_categories_of_run(rows, opened.facts, set(names))
    return rows.source.select([*names, *roles_in_run(opened.facts).at_prediction()])


def _features(opened: "Run", table: "pa.Table", start: int = 0) -> "pa.Table":
    """The columns that the model reads, as in training."""

    read = columns_read_by(opened.model)
    names = needed_columns(opened.model)
    asked = as_trained(table.select(names), frozenset(read.categories))
    refuse_text(asked, read.numbers, start)
    return asked


def _named(data: Any) -> str:
    """The data as a command names them."""
    return str(data) if isinstance(data, str | Path) else "DATA"
