"""``likely demo``: the whole workflow on built-in data, in under a minute.

look → seal → compare → curve → tune → final → report, by the commands that a user would type.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from likely.cli.answer import Answer
from likely.cli.terminal import GlobalOptions, echo, global_options, heading, wrapped

DATA = "breast-cancer"
SEAL = f"{DATA}.seal"
REPORT = "report.html"
MODEL = "logistic"


class Chapter(NamedTuple):
    """A step of the demo: its title, its purpose and its command."""

    title: str
    why: str
    words: tuple[str, ...]


STORY = (
    Chapter(
        "What is in the table?",
        "569 tumours with 30 measurements each. Problems in a table are easiest to fix before "
        "anything is trained.",
        ("look", DATA),
    ),
    Chapter(
        "Set test rows aside.",
        "A fifth of the rows is sealed as a test set. It will be evaluated once, at the end; a "
        "ledger records every evaluation.",
        ("seal", DATA),
    ),
    Chapter(
        "Which model?",
        "All models for two classes, by repeated cross-validation on the training rows. The log "
        "loss is minus the mean log probability of the observed class, so confident mistakes are "
        "costly. The baseline (constant) predicts the class shares for every row.",
        ("compare", SEAL),
    ),
    Chapter(
        "Would more rows help?",
        "The score of one model by the number of training rows.",
        ("curve", SEAL, MODEL),
    ),
    Chapter(
        "Which settings?",
        "A short search for the best settings of that model.",
        ("tune", SEAL, MODEL, "--trials", "8"),
    ),
    Chapter(
        "How good is it?",
        "The test set is used now: the predictions are recorded in the ledger first, and only then "
        "compared with the labels.",
        ("final", "@last"),
    ),
    Chapter(
        "Write a report.",
        "One HTML file with all results, to share.",
        ("report", "@last", "-o", REPORT),
    ),
)


@click.command()
@click.option(
    "-o", "output", metavar="FOLDER", help="Folder to write [default: a new temporary folder]."
)
@global_options
@click.pass_obj
def demo(settings: GlobalOptions, output: str | None) -> Answer:
    """Run the whole workflow on built-in data, in under a minute, and write a report."""

    folder = Path(tempfile.mkdtemp(prefix="likely-demo-")) if output is None else Path(output)
    facts: dict[str, Any] = {}
    files: list[Path] = []
    with settings.using_jobs(), _inside(folder):
        for number, chapter in enumerate(STORY, start=1):
            answer = _played(settings, chapter, number)
            facts[chapter.words[0]] = answer.result
            files += [folder / path for path in answer.files]
    return Answer(
        text=f"Report: {click.style(str(folder / REPORT), bold=True)}",
        result={**facts, "folder": str(folder), "report": str(folder / REPORT)},
        files=tuple(files),
        next=f"likely look {DATA}",
    )


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Make the folder the working folder inside the block."""
    from likely.errors import CannotWrite
    from likely.storage.files import make_folder

    before = Path.cwd()
    try:
        os.chdir(make_folder(folder))
    except PermissionError as error:
        raise CannotWrite(folder, error) from None
    try:
        yield
    finally:
        os.chdir(before)


def _played(settings: GlobalOptions, chapter: Chapter, number: int) -> Answer:
    """Run the command of a chapter, and print its title, purpose and answer."""
    from likely.cli.main import verbs

    command = " ".join(["likely", *chapter.words])
    _say(settings, f"{heading(f'{number}. {chapter.title}')} {chapter.why}", f"$ {command}")
    inner = replace(settings, command=command)
    answer: Answer = verbs.main(
        args=list(chapter.words), prog_name="likely", standalone_mode=False, obj=inner
    )
    _say(settings, "", answer.text + "\n")
    return answer


def _say(settings: GlobalOptions, paragraph: str, text: str) -> None:
    if settings.json or settings.quiet:
        return
    if paragraph:
        echo(wrapped(paragraph) + "\n", settings)
    echo(text, settings)
