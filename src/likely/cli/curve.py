"""``likely curve``: how a model's score goes with rows, steps of the fit, or a setting."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.kinds import about_task, kind_options, said, said_in_run
from likely.cli.parting import parted, parting_in_run, parting_options
from likely.cli.settings import Settings, global_options
from likely.errors import UnknownName

if TYPE_CHECKING:
    from likely.runs import Run
    from likely.workbench.curves import Curve
    from likely.workbench.rows import Rows

SUFFIXES = (".svg", ".png", ".pdf", ".json")
UNDATED: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


class Asked(NamedTuple):
    """Rows, the model to be followed on them, and where its curve is kept."""

    rows: "Rows"
    name: str  # of the model
    model: Any  # a name, or an estimator
    home: Path | None  # a SEAL or a RUN


@click.command()
@click.argument("data", metavar="DATA|SEAL|RUN")
@click.argument("model", required=False)
@click.option("--target", metavar="COL", help="The column to predict; a SEAL knows its own.")
@click.option(
    "--of", "of", default="size", metavar="AXIS", help="size, iterations, or a setting; size."
)
@parting_options
@kind_options
@click.option("--values", metavar="A,B,…", help="Where to look: shares of the rows, steps, values.")
@click.option("--folds", type=click.IntRange(min=2), default=5, help="Parts of the rows; 5.")
@click.option("-o", "output", metavar="FILE", help="Also a picture (.svg, .png, .pdf) or .json.")
@global_options
@click.pass_obj
def curve(
    settings: Settings,
    data: str,
    model: str | None,
    target: str | None,
    of: str,
    values: str | None,
    folds: int,
    output: str | None,
) -> Answer:
    """Score MODEL on training and held-out rows of DATA or a SEAL, along one axis.

    A gap that closes as rows are added asks for more rows; two curves that met ask for another
    model.  Of a RUN the model and its settings are known.  The curve is kept in the SEAL, in the
    RUN, or in the newest RUN of that model on DATA, and is in its report.
    """
    from likely.cli.using import using_jobs
    from likely.cli.watch import watched
    from likely.runs.catalogue import is_run
    from likely.workbench.curves import curve_of_rows

    _refuse_unknown_suffix(output)
    asked = _of_run(data, model, target) if is_run(data) else _of_data(data, model, target)
    with (
        using_jobs(settings.jobs),
        watched(settings, f"curve of {asked.name}", None, unit="fits"),
        _refusing_unknown_axis(asked.name),
    ):
        found = curve_of_rows(
            asked.rows,
            asked.model,
            of=of,
            values=_parsed(values),
            folds=folds,
            seed=settings.seed,
            name=asked.name,
        )
    if all(point.problem for point in found.points):
        problem = f"{asked.name} failed: {found.points[-1].problem}"
        raise Refusal(
            f"No point of the curve could be scored; at least one was expected. {problem}",
            Exit.DATA,
            "likely look --help",
        )
    return _answer(found, asked, data, output)


def _answer(found: "Curve", asked: Asked, data: str, output: str | None) -> Answer:
    """The curve, kept and drawn."""
    from likely.runs.catalogue import is_run
    from likely.runs.records import keep_curve

    facts = found.facts() | ({"run": asked.home.name} if asked.home and is_run(data) else {})
    kept = () if asked.home is None else keep_curve(asked.home, facts)
    drawn = () if output is None else (_write(found, Path(output)),)
    return Answer(
        text=_text(found, asked, kept, drawn),
        result=facts,
        findings=about_task(asked.rows.task),
        files=(*kept, *drawn),
        next=_next(data, asked),
    )


@contextmanager
def _refusing_unknown_axis(model: str) -> Iterator[None]:
    """A setting that the model does not have is a mistake on the command line."""
    try:
        yield
    except UnknownName as error:
        raise Refusal(str(error), Exit.USAGE, f"likely models {model}") from None


def _refuse_unknown_suffix(output: str | None) -> None:
    if output is not None and Path(output).suffix.lower() not in SUFFIXES:
        raise click.UsageError(
            f"-o {output} names no kind of file that a curve has; one of {', '.join(SUFFIXES)} was "
            "expected. Use -o curve.svg."
        )


def _write(found: "Curve", path: Path) -> Path:
    """The picture, or the numbers, as the suffix says; the same curve twice is the same file."""
    from io import BytesIO

    from likely.files import write_atomically
    from likely.json_files import write_json
    from likely.workbench.curve_text import figure_of

    kind = path.suffix.lower()
    if kind == ".json":
        return write_json(path, found.facts())
    drawn = BytesIO()
    figure_of(found).savefig(drawn, format=kind[1:], metadata=UNDATED.get(kind, {}))
    write_atomically(path, drawn.getvalue())
    return path


def _of_data(data: str, model: str | None, target: str | None) -> Asked:
    """A model by its name, on DATA or on the training rows of a SEAL."""
    from likely.cli.compare import refuse_unknown_models, rows_of
    from likely.cli.tables import open_data
    from likely.runs.catalogue import newest_run_on

    if model is None:
        raise click.UsageError(
            f"No model was given for {data}; a RUN knows its own, other data do not. Add one of "
            "those that likely models names."
        )
    refuse_unknown_models((model,))
    rows = rows_of(data, target, models=(model,), said=said(), parting=parted(), doing="curve")
    column = rows.task.target
    if rows.sealed:
        return Asked(rows, model, model, Path(data))
    digest = "" if data == "-" else open_data(data, load=False).digest
    return Asked(rows, model, model, newest_run_on(digest, column, model))


def _of_run(name: str, model: str | None, target: str | None) -> Asked:
    """The model of a RUN with its settings, on its rows, parted as they were for its score."""
    from likely.cli.compare import rows_of
    from likely.cli.kinds import task_for
    from likely.cli.registry import MODELS
    from likely.runs import open_run
    from likely.runs.seals import seal_of

    run = open_run(name)
    facts, given = run.facts, run.facts.get("parameters") or {}
    own, column = str(facts.get("model")), str(facts.get("target"))
    other = model not in (None, own) or target not in (None, column)
    if other or said().anything or parted().anything:
        raise click.UsageError(
            f"{name} is a {own} for {column}, and something else was given. Leave MODEL, "
            "--target, --kind, --order, --group and --by-time out, or give the data in place of "
            "the run."
        )
    _refuse_roles(run, name)
    seal = seal_of(run)
    data = str(facts["data"]["name"]) if seal is None else str(seal.path)
    if seal is None:
        _refuse_changed(run, name, data)
    told, parting = said_in_run(facts), parting_in_run(facts)
    rows = rows_of(data, column, said=told, parting=parting, doing="curve")
    if facts.get("task") is None:  # a file that was streamed
        rows = rows._replace(task=task_for(rows.table, column, MODELS[own], given))
    return Asked(rows, own, run.model, run.path)


def _refuse_roles(run: "Run", name: str) -> None:
    if run.facts.get("target") is None or run.facts.get("beside"):
        role = next(iter(run.facts.get("beside") or {}), None)
        what = "predicts no target" if role is None else f"was trained with --{role}"
        raise Refusal(
            f"{name} {what}; a curve scores predictions of a target from the features alone. Draw "
            "one of another run.",
            Exit.DATA,
            f"likely explain {shlex.quote(name)}",
        )


def _refuse_changed(run: "Run", name: str, data: str) -> None:
    """A curve of other rows would tell of another model."""
    from likely.cli.builtin import BUILTIN
    from likely.cli.tables import open_data

    there = data in BUILTIN or Path(data).exists()
    if not there or open_data(data, load=False).digest != run.facts["data"]["sha256"]:
        what = "has changed since" if there else "is not here"
        raise Refusal(
            f"{name} was trained on {data}, which {what}; its curve needs the same rows. Put them "
            "back, or train again.",
            Exit.DATA,
            f"likely explain {shlex.quote(name)}",
        )


def _parsed(values: str | None) -> list[Any] | None:
    return None if values is None else [_value(word.strip()) for word in values.split(",")]


def _value(word: str) -> Any:
    """A number, True, False, None, or text."""
    named = {"true": True, "false": False, "none": None}
    if word.lower() in named:
        return named[word.lower()]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def _text(found: "Curve", asked: Asked, kept: tuple[Path, ...], drawn: tuple[Path, ...]) -> str:
    from likely.cli.show import heading, wrapped

    title, _, rest = str(found).partition("\n")
    told = [f"Wrote {path}." for path in drawn]
    if kept:
        whose = "the reports of its runs" if asked.rows.sealed else "its report"
        told.append(f"Kept in {kept[0]}, for {whose}.")
    elif not drawn:
        told.append("It was not kept: -o FILE does so, and a RUN keeps its own for its report.")
    return f"{heading(title)}\n{rest}\n\n{wrapped(' '.join(told))}"


def _next(data: str, asked: Asked) -> str:
    """Of a RUN its report; of others the settings."""
    from likely.runs.catalogue import is_run

    if is_run(data):
        return f"likely report {shlex.quote(data)}"
    words = shlex.quote("FILE" if data == "-" else data)
    about = "" if asked.rows.sealed else f" --target {shlex.quote(asked.rows.task.target)}"
    return f"likely tune {words} {asked.name}{about}{said().words}{parted().words}"
