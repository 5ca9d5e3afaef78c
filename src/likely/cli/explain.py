"""``likely explain``: what a trained model has learned, and why it predicts what it predicts."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer
from likely.cli.options import data_options
from likely.cli.terminal import GlobalOptions, global_options, heading, width
from likely.tasks.request import HOW_READ, DataOptions, Exit, Refusal

if TYPE_CHECKING:
    from likely.runs import Run
    from likely.tasks.row_explanations import ExplainedRows

MOST_ROWS = 20  # of a table, without --top; JSON has all
OUTPUT = ("-o", "predictions.csv")


@click.command()
@click.argument("run")
@click.argument("data", required=False)
@click.option(
    "--row",
    "rows",
    type=click.IntRange(min=0),
    multiple=True,
    metavar="N",
    help="Number of a row of DATA to explain, from 0; may be repeated [default: the first 3].",
)
@click.option(
    "--against",
    metavar="CLASS",
    help="Class that log-odds compare with [default: the first].",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Number of columns or terms to show, the most informative [default: {MOST_ROWS}].",
)
@click.option(
    "--text",
    "texts",
    multiple=True,
    metavar="TEXT",
    help="Document to explain, for a model that reads one column of text; may be repeated.",
)
@data_options(*HOW_READ)
@click.option(
    "-o",
    "output",
    metavar="FILE.html",
    help="Page to write with --text: the document with its words in colours.",
)
@global_options
@click.pass_obj
def explain(
    settings: GlobalOptions,
    run: str,
    data: str | None,
    rows: tuple[int, ...],
    against: str | None,
    top: int | None,
    texts: tuple[str, ...],
    output: str | None,
    options: DataOptions,
) -> Answer:
    """Show what the model of RUN (a folder, or @last) has learned, or explain rows of DATA.

    Without DATA: the most informative columns of each class or component, or the coefficients of
    a linear model with their standard errors, and how each column was prepared.  With DATA: what
    each column adds to the prediction of each row, and of a text each word.  With --text: what each
    word adds to the prediction of a document.
    """
    from likely.output.description import describe
    from likely.output.description_text import text_of
    from likely.runs import open_run
    from likely.text.text_classifier import TextClassifier

    _refuse_page(run, texts, data, rows, output)
    opened = open_run(run)
    if texts:
        return _texts_answer(opened, run, texts, top, against, output)
    if data is not None:
        from likely.tasks.row_explanations import explained_rows

        return _rows_answer(
            opened, run, data, explained_rows(opened, run, data, rows, against, options), top
        )
    if rows or against is not None:
        option = "--row" if rows else "--against"
        raise Refusal(
            f"{option} was given without DATA; rows of a table are explained. Name the table.",
            Exit.USAGE,
            shlex.join(["likely", "explain", run, "DATA", *(["--row", "0"] if rows else [])]),
        )
    if isinstance(opened.model, TextClassifier):
        return _about_texts(opened, run)
    description = describe(opened.model)
    most = MOST_ROWS if top is None else top
    text = text_of(description, top=most, width=width(), more="--top {} shows all")
    title, _, rest = text.partition("\n")
    name = opened.facts.get("model", type(opened.model).__name__)
    return Answer(
        text=f"{heading(title)}\n{rest}",
        result={"model": name, **description.to_json()},
        next=_next(opened, run),
    )


def _rows_answer(
    opened: "Run", run: str, data: str, found: "ExplainedRows", top: int | None
) -> Answer:
    """The explanation of some rows, as text and as JSON."""
    parts = [
        "\n".join(filter(None, (title and heading(title), rest)))
        for title, rest in found.titled(top, width())
    ]
    model = opened.facts.get("model", type(opened.model).__name__)
    return Answer(
        text="\n\n".join(parts),
        result={"model": model, "data": data, **found.to_json()},
        next=shlex.join(["likely", "explain", run]),
    )


def _texts_answer(
    opened: "Run",
    run: str,
    texts: tuple[str, ...],
    top: int | None,
    against: str | None,
    page: str | None,
) -> Answer:
    """The explanation of documents, word by word, also as a page in a file."""
    from likely.storage.files import write_atomically
    from likely.tasks.row_explanations import ExplainedRows, explained_texts

    found = explained_texts(opened, run, texts, against)
    if isinstance(found, ExplainedRows):
        if page is not None:
            raise Refusal(
                f"-o {page} was given, and the model of {run} has no weights of words to be "
                "coloured; naive Bayes or a linear model was expected. Leave -o out.",
                Exit.DATA,
                shlex.join(["likely", "explain", run, "--text", texts[0]]),
            )
        return _rows_answer(opened, run, "--text", found, top)
    parts = found.texts(top, width())
    files = () if page is None else (Path(page),)
    for path in files:
        write_atomically(path, found.html().encode())
        parts.append(f"Wrote {path}.")
    model = opened.facts.get("model", type(opened.model).__name__)
    return Answer(
        text="\n\n".join(parts),
        result={"model": model, "data": "--text", **found.to_json()},
        files=files,
        next=shlex.join(["likely", "explain", run]),
    )


def _refuse_page(
    run: str, texts: tuple[str, ...], data: str | None, rows: tuple[int, ...], output: str | None
) -> None:
    """Refuse documents together with rows, and a page that is none of documents."""
    if texts and (data is not None or rows):
        raise Refusal(
            "--text was given with DATA or --row; either a document or rows of a table are "
            "explained. Leave one of them out.",
            Exit.USAGE,
            shlex.join(["likely", "explain", run, "--text", texts[0]]),
        )
    if output is None:
        return
    page = [] if output.lower().endswith((".html", ".htm")) else ["a file named .html"]
    if missing := [*([] if texts else ["--text with a document"]), *page]:
        raise Refusal(
            f"-o {output} was given; {' and '.join(missing)} was expected: the page shows a "
            "document with its words in colours.",
            Exit.USAGE,
            shlex.join(["likely", "explain", run, "--text", *(texts[:1] or "…"), "-o", "why.html"]),
        )


def _about_texts(opened: "Run", run: str) -> Answer:
    """A classifier of texts in numbers, and the words that say most; hashed columns have none."""
    from likely.cli.terminal import wrapped
    from likely.output.description import describe
    from likely.output.description_text import text_of
    from likely.output.formatting import count, listed

    model = opened.model
    classes = [str(label) for label in model.classes_.tolist()]
    facts = {
        "model": opened.facts.get("model", type(model).__name__),
        "documents": int(model.n_documents_),
        "columns": int(model.words_.n_columns),
        "classes": classes,
    }
    text = (
        f"{facts['model']} on the words of texts: {count(facts['documents'], 'document')}, "
        f"{facts['columns']:,} columns of words, {count(len(classes), 'class', 'classes')} "
        f"({listed(classes, 12)}). --text explains a document, word by word."
    )
    text = wrapped(text)
    if model.words_.n_features is None:
        description = describe(model)
        facts |= {"words": [each for table in description.tables for each in table.to_json()]}
        text += "\n" + text_of(description).partition("\n")[2]
    after = shlex.join(["likely", "explain", run, "--text", "…"])
    return Answer(text=text, result=facts, next=after)


def _next(opened: "Run", name: str) -> str:
    """The next command: final, then report for a run on a SEAL; predict for others."""
    from likely.workbench.scoring.predictions import probability_labels

    if opened.facts.get("seal") and opened.facts.get("target") is not None:
        verb = "report" if opened.folder.is_scored else "final"
        return shlex.join(["likely", verb, name])
    data = str(opened.facts.get("data", {}).get("name", "DATA"))
    data = "DATA" if data == "standard input" else data
    proba = ["--proba"] if probability_labels(opened.model) else []
    return shlex.join(["likely", "predict", name, data, *proba, *OUTPUT])
