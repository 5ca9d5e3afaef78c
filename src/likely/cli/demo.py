"""``likely demo``: the whole story on built-in data, in under a minute.

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
from likely.cli.settings import Settings, global_options
from likely.cli.show import heading, wrapped

DATA = "breast-cancer"
SEAL = f"{DATA}.seal"
REPORT = "report.html"
MODEL = "logistic"


class Chapter(NamedTuple):
    """A command of the story, and why it comes."""

    title: str
    why: str
    words: tuple[str, ...]


STORY = (
    Chapter(
        "What is in the table?",
        "569 tumours, 30 measurements each. Nothing is learned yet; mistakes in a table are "
        "cheapest to find before it is used.",
        ("look", DATA),
    ),
    Chapter(
        "Set rows aside.",
        "A fifth of the rows is sealed. It will be looked at once, at the end, and the ledger will "
        "say so.",
        ("seal", DATA),
    ),
    Chapter(
        "Which model?",
        "All models that suit two classes, by repeated cross-validation on the other rows. A log "
        "loss is what a model pays for the truth, in nats: sure and wrong is dear. The constant "
        "knows the class shares and nothing else.",
        ("compare", SEAL),
    ),
    Chapter(
        "Would more rows help?",
        "The score of one of them, as it learns from more and more rows.",
        ("curve", SEAL, MODEL),
    ),
    Chapter(
        "Which settings?",
        "A short search over the settings of one model.",
        ("tune", SEAL, MODEL, "--trials", "8"),
    ),
    Chapter(
        "What is it worth?",
        "Now the seal is opened: predictions are fixed, written down, and only then compared with "
        "what happened.",
        ("final", "@last"),
    ),
    Chapter(
        "Write it down.",
        "One file with everything, for someone who was not here.",
        ("report", "@last", "-o", REPORT),
    ),
)


@click.command()
@click.option("-o", "output", metavar="FOLDER", help="Where to write; a new temporary folder.")
@global_options
@click.pass_obj
def demo(settings: Settings, output: str | None) -> Answer:
    """Tell the whole story on built-in data, in under a minute; ends with the path of the report.

    Everything is written to a folder of its own.
    """
    from likely.cli.using import using_jobs

    folder = Path(tempfile.mkdtemp(prefix="likely-demo-")) if output is None else Path(output)
    facts: dict[str, Any] = {}
    files: list[Path] = []
    with using_jobs(settings.jobs), _inside(folder):
        for number, chapter in enumerate(STORY, start=1):
            answer = _played(settings, chapter, number)
            facts[chapter.words[0]] = answer.result
            files += [folder / path for path in answer.files]
    return Answer(
        text=f"The report: {click.style(str(folder / REPORT), bold=True)}",
        result={**facts, "folder": str(folder), "report": str(folder / REPORT)},
        files=tuple(files),
        next=f"likely look {DATA}",
    )


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Work in the folder, and come back."""
    from likely.errors import CannotWrite
    from likely.files import make_folder

    before = Path.cwd()
    try:
        os.chdir(make_folder(folder))
    except PermissionError as error:
        raise CannotWrite(folder, error) from None
    try:
        yield
    finally:
        os.chdir(before)


def _played(settings: Settings, chapter: Chapter, number: int) -> Answer:
    """The command, done as if it had been typed, and told as it ends."""
    from likely.cli.main import verbs

    command = " ".join(["likely", *chapter.words])
    _say(settings, f"{heading(f'{number}. {chapter.title}')} {chapter.why}", f"$ {command}")
    inner = replace(settings, command=command)
    answer: Answer = verbs.main(
        args=list(chapter.words), prog_name="likely", standalone_mode=False, obj=inner
    )
    _say(settings, "", answer.text + "\n")
    return answer


def _say(settings: Settings, paragraph: str, text: str) -> None:
    if settings.json or settings.quiet:
        return
    if paragraph:
        click.echo(wrapped(paragraph) + "\n", color=settings.color)
    click.echo(text, color=settings.color)
