"""Explanations of rows of a table, for ``likely explain RUN DATA``."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likely.cli.answer import Answer, Exit, Refusal
from likely.formatting import cell, count, listed

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.explanations.explanation import Explanation
    from likely.runs import Run
    from likely.text.text_explanation import TextExplanation

FIRST_ROWS = 3  # without --row
BACKGROUND_ROWS = 500  # of the table, for models that compare a row with others
MOST_CLASSES = 5  # whose probability is shown, the most probable first
WITHOUT_OFFSET = (
    "The contributions and their total are without the {} of the row, which the prediction "
    "includes: an offset, or the logarithm of an exposure, is added to the total first."
)
MOST_COLUMNS = 20  # without --top; JSON has all


def rows_answer(
    opened: "Run", run: str, data: str, rows: tuple[int, ...], top: int | None, against: str | None
) -> Answer:
    """The explanation of some rows of a table, as text and as JSON."""
    return _answer(opened, run, data, _tables(opened, run, data, rows), top, against)


def texts_answer(
    opened: "Run",
    run: str,
    texts: tuple[str, ...],
    top: int | None,
    against: str | None,
    page: str | None,
) -> Answer:
    """The explanation of documents, word by word, also as a page in a file."""
    import pyarrow as pa

    from likely.cli.document_lines import text_alone
    from likely.cli.predict import needed_columns
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
        return _words_answer(opened, run, table, documents, top, page)
    in_place = _in_place(opened, table, texts, label)
    if in_place is not None:
        return _words_answer(opened, run, table, in_place, top, page)
    if page is not None:
        raise Refusal(
            f"-o {page} was given, and the model of {run} has no weights of words to be coloured; "
            "naive Bayes or a linear model was expected. Leave -o out.",
            Exit.DATA,
            shlex.join(["likely", "explain", run, "--text", texts[0]]),
        )
    tables = table, table, tuple(range(len(texts)))
    return _answer(opened, run, "--text", tables, top, against)


def _in_place(
    opened: "Run", table: "pa.Table", texts: tuple[str, ...], against: Any
) -> "list[TextExplanation] | None":
    """The explanations of documents that are all a prepared model reads; None without weights."""
    from likely.names import has_method
    from likely.workbench.preparation.texts import TextColumn
    from likely.workbench.preparation.word_explanations import explained_in_place

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


def _words_answer(
    opened: "Run",
    run: str,
    table: "pa.Table",
    found: "list[TextExplanation]",
    top: int | None,
    page: str | None,
) -> Answer:
    """The explanations of documents, each with its words in their places."""
    from likely.cli.terminal import width
    from likely.files import write_atomically
    from likely.text.text_explanation import page_of

    parts = [each.text(top=top or MOST_COLUMNS, width=width()) for each in found]
    rows = [each.to_json() for each in found]
    for i, chances in enumerate(_probabilities(opened, table)):
        rows[i]["prediction"] = chances[0][0]
        rows[i]["probabilities"] = {str(label): p for label, p in chances}
        parts[i] += f"\nprobability: {_most_probable(chances)}"
    files = () if page is None else (Path(page),)
    for path in files:
        write_atomically(path, page_of(found).encode())
        parts.append(f"Wrote {path}.")
    model = opened.facts.get("model", type(opened.model).__name__)
    return Answer(
        text="\n\n".join(parts),
        result={"model": model, "data": "--text", "rows": rows},
        files=files,
        next=shlex.join(["likely", "explain", run]),
    )


def _answer(
    opened: "Run",
    run: str,
    data: str,
    tables: "tuple[pa.Table, pa.Table, tuple[int, ...]]",
    top: int | None,
    against: str | None,
) -> Answer:
    from likely.cli.terminal import heading, width
    from likely.workbench.data.roles import roles_in_run

    table, others, positions = tables
    found = _explained(opened, table, others, positions, against)
    roles = roles_in_run(opened.facts)
    given, moved = roles.to_predict(table), roles.offsets(table)
    if moved is not None:
        found = found.also(WITHOUT_OFFSET.format(" and ".join(given)))
    predicted = opened.model.predict(_features(opened, table), **given)
    names = [str(value) for value in predicted.tolist()]
    texts = found.text(most=len(found), top=top or MOST_COLUMNS, width=width()).split("\n\n")
    for i, name in enumerate(names):
        title, _, rest = texts[i].partition("\n")
        in_words = "".join(f", {role} {cell(column[i].as_py())}" for role, column in given.items())
        texts[i] = f"{heading(f'{title}; prediction {name}{in_words}')}\n{rest}"
    facts = found.to_json()
    for each, value in zip(facts["rows"], predicted.tolist(), strict=True):
        each["prediction"] = value
    for i, chances in enumerate(_probabilities(opened, table)):
        facts["rows"][i]["probabilities"] = {str(label): p for label, p in chances}
        texts[i] += f"\nprobability: {_most_probable(chances)}"
    if moved is not None:
        for each, value in zip(facts["rows"], moved.tolist(), strict=True):
            each["offset"] = value
    model = opened.facts.get("model", type(opened.model).__name__)
    return Answer(
        text="\n\n".join(texts),
        result={"model": model, "data": data, **facts},
        next=shlex.join(["likely", "explain", run]),
    )


def _probabilities(opened: "Run", table: "pa.Table") -> list[list[tuple[Any, float]]]:
    """The classes of each row with their probabilities, the most probable first; or none."""
    from likely.names import has_method
    from likely.workbench.data.roles import roles_in_run

    if not (has_method(opened.model, "predict_proba") and hasattr(opened.model, "classes_")):
        return []
    given = roles_in_run(opened.facts).to_predict(table)
    if not given.keys() <= {"offset"}:
        return []
    probability = opened.model.predict_proba(_features(opened, table), **given)
    labels = opened.model.classes_.tolist()
    return [
        sorted(zip(labels, row, strict=True), key=lambda pair: -pair[1])
        for row in probability.tolist()
    ]


def _most_probable(chances: list[tuple[Any, float]]) -> str:
    return ", ".join(f"{label} {p:.3f}" for label, p in chances[:MOST_CLASSES])


def _explained(
    opened: "Run",
    table: "pa.Table",
    others: "pa.Table",
    positions: tuple[int, ...],
    against: str | None,
) -> "Explanation":
    from dataclasses import replace

    from likely.explanations.any_model import explain

    label = None if against is None else _label(opened.model, against)
    rows, background = _features(opened, table, positions[0]), _features(opened, others)
    found = explain(opened.model, rows, label, background=background)
    return replace(found, rows=positions)


def _label(model: Any, written: str) -> Any:
    """The class, component or state that is written like this."""
    classes = getattr(model, "classes_", None)
    known = [] if classes is None else classes.tolist()
    return next((label for label in known if str(label) == written), written)


def _tables(
    opened: "Run", run: str, data: str, rows: tuple[int, ...]
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
            f"Row {missing[0]} was given; {data} has {count(start, 'row')}, numbered from 0. "
            f"Choose a row from 0 to {start - 1}.",
            Exit.DATA,
            shlex.join(["likely", "explain", run, data]),
        )
    order = tuple(dict.fromkeys(row for row in rows or wanted if row in found))
    return pa.concat_tables([found[row] for row in order]), pa.concat_tables(others), order


def _source(opened: "Run", run: str, data: str) -> Any:
    """The columns of the table that the model reads, and an offset or exposure."""
    from likely.cli.options import with_categories_of_run
    from likely.cli.predict import (
        needed_columns,
        refuse_missing_columns,
        with_text_as_trained,
    )
    from likely.workbench.data.opening import dataset
    from likely.workbench.data.roles import roles_in_run

    rows = with_text_as_trained(opened, dataset(data))
    refuse_missing_columns(opened, rows.source.names, rows.label, run)
    names = needed_columns(opened.model)
    rows = with_categories_of_run(rows, opened.facts, set(names))
    return rows.source.select([*names, *roles_in_run(opened.facts).at_prediction()])


def _features(opened: "Run", table: "pa.Table", start: int = 0) -> "pa.Table":
    """The columns that the model reads, as in training."""
    from likely.cli.predict import _as_trained, _refuse_text, columns_read_by, needed_columns

    read = columns_read_by(opened.model)
    names = needed_columns(opened.model)
    asked = _as_trained(table.select(names), frozenset(read.categories))
    _refuse_text(asked, read.numbers, start)
    return asked
