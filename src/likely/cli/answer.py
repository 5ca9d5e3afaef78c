"""The answer or the error of a command, printed as text or as one JSON object.

The keys of the object are command, version, exit, seed, result, findings, files, next.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import click

import likely
from likely.cli.streams import encodable
from likely.cli.terminal import GlobalOptions, echo, wrapped
from likely.output.control_characters import printable_json
from likely.storage.json import as_ascii_json, as_json
from likely.tasks.request import Exit


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """The outcome of a successful command."""

    text: str  # for a person
    result: Mapping[str, Any]  # for a program
    next: str  # the next sensible command
    findings: tuple[str, ...] = ()  # what should be known about it
    files: tuple[Path, ...] = ()  # what was written
    aside: bool = False  # the data are on standard output, so messages go to standard error


def tell(answer: Answer, settings: GlobalOptions) -> None:
    """Print an answer."""
    if settings.json:
        _tell_json(settings, Exit.FINE, answer.result, answer.findings, answer.files, answer.next)
        return
    echo(answer.text, settings, err=answer.aside)
    if settings.quiet:  # on standard error, so that standard output has only the answer
        echo(f"Seed {settings.seed}.", settings, err=True)
        return
    for finding in answer.findings:
        echo(click.style("Note: ", fg="yellow") + wrapped(finding, 6), settings, err=True)
    footer = click.style(f"Seed {settings.seed}, likely {likely.__version__}.", dim=True)
    echo(f"\n{footer}\n{_next(answer.next)}", settings, err=answer.aside)


def tell_aside(answer: Answer, settings: GlobalOptions) -> None:
    """Print an answer on standard error, because standard output cannot be written."""
    if settings.json:
        click.echo(printable_json(as_json(answer.result)), err=True)
        return
    files = [f"Written: {path}" for path in answer.files]
    for text in (answer.text, *answer.findings, *files):
        echo(text, settings, err=True)


def tell_failure(message: str, exit: Exit, next: str, settings: GlobalOptions) -> None:
    """Print what went wrong and what to do."""
    if settings.json:
        _tell_json(settings, exit, None, (message,), (), next)
        return
    word = "Stopped: " if exit == Exit.INTERRUPTED else "Error: "
    styled = click.style(word, fg="red", bold=True)
    echo(styled + wrapped(message, len(word)), settings, err=True)
    echo(_next(next), settings, err=True)


def _next(command: str) -> str:
    return click.style("Next: ", bold=True) + click.style(command, fg="cyan")


def _tell_json(
    settings: GlobalOptions,
    exit: Exit,
    result: Mapping[str, Any] | None,
    findings: tuple[str, ...],
    files: tuple[Path, ...],
    next: str,
) -> None:
    record = {
        "command": settings.command,
        "version": likely.__version__,
        "exit": int(exit),
        "seed": settings.seed,
        "result": result,
        "findings": list(findings),
        "files": [str(path) for path in files],
        "next": next,
    }
    text = printable_json(as_json(record))
    click.echo(text if encodable(text) else as_ascii_json(text))


@final
@dataclass(eq=False)
class Notes:
    """The findings collected so far, each once."""

    most: int = 5
    notes: list[str] = field(default_factory=list)

    def add(self, note: str) -> None:
        if note not in self.notes and len(self.notes) < self.most:
            self.notes.append(note)
