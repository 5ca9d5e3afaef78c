"""``likely curve``: how a model's score goes with rows, steps of the fit, or a setting."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from likely.cli.answer import Answer
from likely.cli.assignments import models_named, set_option, value_of
from likely.cli.compare import metric_option, refuse_unknown_metric
from likely.cli.exits import Exit, Refusal
from likely.cli.kinds import about_task
from likely.cli.options import DataOptions, data_options, open_data, open_with_target
from likely.cli.settings import Settings, global_options
from likely.errors import UnknownName

if TYPE_CHECKING:
    from likely.runs import Run
    from likely.workbench.curves import Curve
    from likely.workbench.dataset import Dataset

SUFFIXES = (".svg", ".png", ".pdf", ".json")
UNDATED: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


class Asked(NamedTuple):
    """Rows, the model to be followed on them, and where its curve is kept."""

    rows: "Dataset"
    name: str  # of the model
    model: Any  # its entry, or the estimator of a RUN
    home: Path | None  # a SEAL or a RUN


@click.command()
@click.argument("data", metavar="DATA|SEAL|RUN")
@click.argument("model", required=False)
@data_options("target", "kind", "order", "group", "by_time", "drop", "category")
@click.option(
    "--of", "of", default="size", metavar="AXIS", help="size, iterations, or a setting; size."
)
@click.option("--values", metavar="A,B,…", help="Where to look: shares of the rows, steps, values.")
@click.option("--folds", type=click.IntRange(min=2), default=5, help="Parts of the rows; 5.")
@set_option
@metric_option
@click.option("-o", "output", metavar="FILE", help="Also a picture (.svg, .png, .pdf) or .json.")
@global_options
@click.pass_obj
def curve(
    settings: Settings,
    data: str,
    model: str | None,
    options: DataOptions,
    of: str,
    values: str | None,
    folds: int,
    assignments: tuple[str, ...],
    metric: str | None,
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
    from likely.workbench.curves import learning_curve

    _refuse_unknown_suffix(output)
    refuse_unknown_metric(metric, "curve")
    of_run = is_run(data)
    asked = (_of_run if of_run else _of_data)(settings, data, model, options, assignments)
    with (
        using_jobs(settings.jobs),
        watched(settings, f"curve of {asked.name}", None, unit="fits"),
        _refusing_unknown_axis(asked.name),
    ):
        found = learning_curve(
            asked.rows,
            model=asked.model,
            of=of,
            values=_parsed(values),
            folds=folds,
            seed=settings.seed,
            metric=metric,
            name=asked.name,
        )
    if all(point.problem for point in found.points):
        problem = f"{asked.name} failed: {found.points[-1].problem}"
        raise Refusal(
            f"No point of the curve could be scored; at least one was expected. {problem}",
            Exit.DATA,
            "likely look --help",
        )
    drawn = () if output is None else (_write(found, Path(output)),)
    return _answer(found, asked, data, drawn, options)


def _answer(
    found: "Curve", asked: Asked, data: str, drawn: tuple[Path, ...], options: DataOptions
) -> Answer:
    """The curve, kept and drawn."""
    from likely.runs.catalogue import is_run
    from likely.runs.records import keep_curve

    facts = found.facts() | ({"run": asked.home.name} if asked.home and is_run(data) else {})
    kept = () if asked.home is None else keep_curve(asked.home, facts)
    return Answer(
        text=_text(found, asked, kept, drawn),
        result=facts,
        findings=about_task(found.rows.settled),
        files=(*kept, *drawn),
        next=_next(data, asked, options),
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

    kind = path.suffix.lower()
    if kind == ".json":
        return write_json(path, found.facts())
    drawn = BytesIO()
    found.plot().savefig(drawn, format=kind[1:], metadata=UNDATED.get(kind, {}))
    write_atomically(path, drawn.getvalue())
    return path


def _of_data(
    settings: Settings,
    data: str,
    model: str | None,
    options: DataOptions,
    assignments: tuple[str, ...],
) -> Asked:
    """A model by its name, on DATA or on the training rows of a SEAL."""
    from likely.runs.catalogue import newest_run_on

    if model is None:
        raise click.UsageError(
            f"No model was given for {data}; a RUN knows its own, other data do not. Add one of "
            "those that likely models names."
        )
    entry = models_named([model], assignments)[0]
    rows = open_with_target(settings, data, options)
    home = None if rows.seal is None else rows.seal.path
    if home is None:
        home = newest_run_on(rows.digest, str(rows.target), model)
    return Asked(rows, model, entry, home)


def _of_run(
    settings: Settings,
    name: str,
    model: str | None,
    options: DataOptions,
    assignments: tuple[str, ...],
) -> Asked:
    """The model of a RUN with its settings, on its rows, held out as they were for its score."""
    from likely.cli.kinds import task_for
    from likely.runs import open_run
    from likely.runs.seals import seal_of
    from likely.workbench.models import entry_for

    run = open_run(name)
    facts, given = run.facts, run.facts.get("parameters") or {}
    own, column = str(facts.get("model")), str(facts.get("target"))
    other = model not in (None, own) or options.target not in (None, column)
    if other or assignments or options.beyond_target:
        raise click.UsageError(
            f"{name} is a {own} for {column}, and something else was given. Leave MODEL, --set and "
            "the options about the data (--target, --kind, --order, --group, --by-time, --drop, "
            "--category) out, or give the data in place of the run."
        )
    _refuse_roles(run, name)
    seal = seal_of(run)
    data = str(facts["data"]["name"]) if seal is None else str(seal.path)
    if seal is None:
        _refuse_missing(name, data)
    rows = open_data(settings, data, DataOptions.in_run(facts))
    if seal is None and rows.digest != facts["data"]["sha256"]:
        _refuse_changed(name, data, "has changed since")
    if facts.get("task") is None:  # a file that was streamed
        rows = rows.of_task(task_for(rows, entry_for(own), given))
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


def _refuse_missing(name: str, data: str) -> None:
    from likely.workbench.given_data import BUILTIN

    if data not in BUILTIN and not Path(data).exists():
        _refuse_changed(name, data, "is not here")


def _refuse_changed(name: str, data: str, what: str) -> NoReturn:
    """A curve of other rows would tell of another model."""
    raise Refusal(
        f"{name} was trained on {data}, which {what}; its curve needs the same rows. Put them "
        "back, or train again.",
        Exit.DATA,
        f"likely explain {shlex.quote(name)}",
    )


def _parsed(values: str | None) -> list[Any] | None:
    return None if values is None else [value_of(word.strip()) for word in values.split(",")]


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


def _next(data: str, asked: Asked, options: DataOptions) -> str:
    """Of a RUN its report; of others the settings."""
    from likely.runs.catalogue import is_run

    if is_run(data):
        return f"likely report {shlex.quote(data)}"
    words = shlex.quote("FILE" if data == "-" else data)
    about = "" if asked.rows.sealed else f" --target {shlex.quote(str(asked.rows.target))}"
    verb = "compare" if "." in asked.name else "tune"  # another library's has no usual space
    return f"likely {verb} {words} {asked.name}{about}{options.words()}"
