"""``likely``: finds the verb, runs it, and turns its outcome into text and an exit code.

Commands are imported when they are used, and import large libraries when they run, so that
``likely --help`` is quick.
"""

import logging
import os
import re
import shlex
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click

import likely
from likely.cli.answer import Answer, Notes, tell, tell_aside, tell_failure
from likely.cli.streams import (
    OutputFailed,
    abandon_output,
    is_of_output,
    open_streams,
    output_fails,
)
from likely.cli.terminal import GlobalOptions, global_options
from likely.errors import (
    BrokenLedger,
    HonestyRefusal,
    InvalidFile,
    LikelyError,
    LikelyWarning,
    SealedData,
    SealedRows,
    UnknownName,
    UnsettledColumn,
    UnusableRun,
)
from likely.output.control_characters import printable
from likely.output.formatting import shortened
from likely.tasks.request import SCORED, Exit, Refusal

VERBS = {  # in the order of the workflow; each is likely.cli.<verb>:<verb>
    "look": "Check a table: types, missing values, duplicates, possible leaks.",
    "seal": "Set test rows aside, to be evaluated once, at the end.",
    "compare": "Cross-validate all suitable models, with a baseline.",
    "tune": "Search for the best settings of one model.",
    "train": "Train one model, and score it on held-out rows.",
    "curve": "Show scores by training rows, iterations or a setting.",
    "final": "Evaluate a run on the sealed test rows.",
    "report": "Write everything about a run to one HTML file.",
    "predict": "Write predictions for every row of a table.",
    "explain": "Show what a trained model has learned.",
    "graph": "Answer questions about a Bayesian network or Markov field.",
    "ledger": "Show or verify the record of evaluations of a seal.",
    "demo": "Run the whole workflow on built-in data, in under a minute.",
    "models": "List the models, or the settings of one.",
}
ABOUT_COLUMNS = {f"--{name.replace('_', '-')}" for name in SCORED}  # each with a value
LONGEST_NAME = 200  # letters of a path in a message
NOT_UTF_8 = (
    "The name of a file or folder is not valid UTF-8, and a library that reads it needs that. "
    "Rename it, with letters of this system's encoding."
)
NO_MEMORY = (
    "There is not enough memory; the rows and the columns computed from them must fit into it. Use "
    "fewer rows or columns, or train one model, which reads a file in chunks: likely train."
)


class Verbs(click.Group):
    """The commands, each imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        found: click.Command = getattr(import_module(f"likely.cli.{cmd_name}"), cmd_name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS:
            raise click.UsageError(str(UnknownName("command", args[0], VERBS)), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands, in the order of the workflow"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    subcommand_metavar="COMMAND [ARGUMENTS]...",
    epilog="To start: likely demo",
)
@click.version_option(likely.__version__, prog_name="likely")
@global_options
def verbs() -> None:
    """Probability models for tables: fast, with a baseline and an interval for every score.

    DATA is a CSV, TSV, ARFF, JSON lines or Parquet file, '-' for standard input, or one of the
    built-in data iris, wine, breast-cancer, digits, diabetes, pydoc. A SEAL is a folder written by
    likely seal, a RUN a folder written by likely train or likely tune.
    """


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """The entry point of the ``likely`` command."""
    open_streams()
    try:
        code = run(sys.argv[1:] if argv is None else list(argv))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has stopped reading
        abandon_output()
        code = Exit.FINE
    except OSError as error:
        abandon_output()
        click.echo(printable(f"Error: {_unwritable(error)}"), err=True)
        code = Exit.DATA
    if code == Exit.INTERRUPTED:
        _leave_workers(code)
    sys.exit(code)


def _leave_workers(code: int) -> None:
    """After Ctrl-C, end without waiting for a fit that is in the middle of a long step."""
    from likely.compute.executor import workers_are_busy

    if workers_are_busy():
        sys.stderr.flush()
        os._exit(code)


def run(argv: list[str]) -> int:
    """Run the command line and return its exit code: the one list of errors and their codes."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where it keeps its fonts
    settings = GlobalOptions(command=shlex.join(["likely", *argv]), json="--json" in argv)
    verb = next((word for word in argv if word in VERBS), None)
    help_of = "likely --help" if verb is None else f"likely {verb} --help"
    try:
        with _collected() as notes:
            answer = verbs.main(args=argv, prog_name="likely", standalone_mode=False, obj=settings)
    except click.exceptions.NoArgsIsHelpError as help:
        click.echo(help.format_message())
        return Exit.FINE
    except click.UsageError as error:
        help_of = help_of if error.ctx is None else f"{error.ctx.command_path} --help"
        return _fail(error.format_message(), Exit.USAGE, help_of, settings)
    except (click.Abort, KeyboardInterrupt):
        again = "The command was interrupted. No file was left half-written. Run it again."
        return _fail(again, Exit.INTERRUPTED, settings.command, settings)
    except Refusal as error:
        return _fail(str(error), error.exit, error.next or help_of, settings)
    except UnusableRun as error:
        return _fail(str(error), Exit.DATA, error.next, settings)
    except SealedRows as error:
        return _fail(
            str(error), Exit.HONESTY, _instead_of_sealed(error, settings.command), settings
        )
    except (HonestyRefusal, SealedData) as error:
        return _fail(str(error), Exit.HONESTY, help_of, settings)
    except BrokenLedger as error:
        return _fail(str(error), Exit.CHECK, _verify(error), settings)
    except (UnsettledColumn, InvalidFile) as error:
        way = f"{settings.command} {error.option}" if error.option else help_of
        if isinstance(error, InvalidFile) and error.next:
            way = error.next
        return _fail(str(error), Exit.DATA, way, settings)
    except LikelyError as error:
        return _fail(str(error), Exit.DATA, help_of, settings)
    except MemoryError:
        return _fail(NO_MEMORY, Exit.DATA, help_of, settings)
    except SystemExit:  # click's answer to a broken pipe
        return Exit.FINE
    except BrokenPipeError:
        raise
    except OSError as error:
        if isinstance(error, OutputFailed) or (is_of_output(error) and output_fails()):
            raise  # main says so
        return _fail(_refused_by_the_system(error), Exit.DATA, help_of, settings)
    except Exception as error:
        if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
            return _fail(NOT_UTF_8, Exit.DATA, help_of, settings)
        return _fail(_bug(error), Exit.BUG, help_of, settings)
    return (
        _print_answer(_with_notes(answer, notes), settings)
        if isinstance(answer, Answer)
        else Exit.FINE
    )


def _print_answer(answer: Answer, settings: GlobalOptions) -> int:
    """Print the answer; on standard error where standard output cannot be written."""
    try:
        tell(answer, settings)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        abandon_output()
        click.echo(f"Error: {_unwritable(error)} This is the answer:\n", err=True)
        tell_aside(answer, settings)
        return Exit.DATA
    return Exit.FINE


def _unwritable(error: OSError) -> str:
    return f"Standard output cannot be written ({error.strerror})."


def _fail(message: str, exit: Exit, next: str, settings: GlobalOptions) -> int:
    tell_failure(message, exit, next, settings)
    return exit


def _verify(error: BrokenLedger) -> str:
    """The command that lists every problem of a seal."""
    path = Path(error.path)
    return f"likely ledger verify {shlex.quote(str(path if path.is_dir() else path.parent))}"


def _instead_of_sealed(error: SealedRows, command: str) -> str:
    """A command that uses the seal whose rows were refused, or seals them for another target."""
    if error.other_target is not None and (again := _sealed_again(command, error.other_target)):
        return again
    path, here = Path(error.seal), Path().resolve()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return f"likely {'ledger show' if error.scoring else 'compare'} {shlex.quote(str(shown))}"


def _sealed_again(command: str, target: str) -> str:
    """``likely seal DATA -o TARGET.seal`` with the options of a command about columns.

    It is empty without a file.
    """
    words, data, options = shlex.split(command)[2:], "", list[str]()
    while words:
        word = words.pop(0)
        if word.partition("=")[0] in ABOUT_COLUMNS:
            options += [word] if "=" in word else [word, *words[:1]]
            words = words if "=" in word else words[1:]
        elif not data and Path(word).is_file():
            data = word
    name = re.sub(r"[^\w-]+", "-", target)
    return shlex.join(["likely", "seal", data, *options, "-o", f"{name}.seal"]) if data else ""


def _bug(error: Exception) -> str:
    """A message about a bug; the traceback goes to a file."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="likely-traceback-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            traceback.print_exception(error, file=file)
        where = f"in {file.name}"
    except OSError:  # there is no folder for temporary files, or no space
        where = "\n" + "".join(traceback.format_exception(error)) + "\n"
    return (
        f"An unexpected error occurred in likely ({type(error).__name__}: {error}). This is a bug "
        f"in likely. The traceback is {where}; please send it with the command."
    )


def _refused_by_the_system(error: OSError) -> str:
    """A message about a file or folder that nothing else had a message about."""
    name = "A file or folder"
    if isinstance(error.filename, str | bytes):
        name = shortened(os.fsdecode(error.filename), LONGEST_NAME)
    return (
        f"{name} cannot be used ({error.strerror or error}). Check its permissions and the space "
        "on the disk. On a read-only system, set the environment variables TMPDIR (temporary "
        "files), MPLCONFIGDIR (pictures) and NUMBA_CACHE_DIR (compiled loops) to a folder that "
        "can be written."
    )


NUMBERS_AND_NAMES = re.compile(r"'[^']*'|\d[\d.,]*")


@contextmanager
def _collected() -> Iterator[Notes]:
    """Warnings of likely as notes; those of other libraries are shown as usual."""
    notes = Notes()
    kinds: dict[str, list[str]] = {}  # texts that differ in numbers and names only
    others: list[warnings.WarningMessage] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
        for warning in caught:
            ours = issubclass(warning.category, LikelyWarning)
            if ours or warning.category.__name__ == "ConvergenceWarning":
                text = str(warning.message)
                texts = kinds.setdefault(NUMBERS_AND_NAMES.sub("…", text), [])
                texts += [text] * (text not in texts)
            else:
                others.append(warning)
        for text, *more in kinds.values():
            notes.add(text + (f" ({len(more)} more like it.)" if more else ""))
    for warning in others:
        text = printable(str(warning.message))
        warnings.warn_explicit(text, warning.category, warning.filename, warning.lineno)


def _with_notes(answer: Answer, notes: Notes) -> Answer:
    from dataclasses import replace

    extra = tuple(note for note in notes.notes if note not in answer.findings)
    return replace(answer, findings=answer.findings + extra)
