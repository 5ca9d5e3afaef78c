"""``likely curve``: the score of a model by training rows, iterations or a setting."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from likely.cli.answer import Answer
from likely.cli.compare import folds_option, metric_option, refuse_unknown_metric
from likely.cli.models import UNLABELLED, models_named, set_option
from likely.cli.options import data_options
from likely.cli.terminal import Settings, global_options
from likely.cli.word_options import setting_name, word_choices
from likely.errors import UnknownName
from likely.tasks.request import SCORED, DataOptions, Exit, Refusal, open_data, open_with_target
from likely.tasks.setting_values import separated, value_of
from likely.tasks.suitability import about_task
from likely.workbench.models.model_entry import PREFIX

if TYPE_CHECKING:
    from likely.workbench.curves.curves import Curve
    from likely.workbench.data.dataset import Dataset

SUFFIXES = (".svg", ".png", ".pdf", ".json")
UNDATED: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


class CurveRequest(NamedTuple):
    """The rows, the model, and the folder in which its curve is saved."""

    rows: "Dataset"
    name: str  # of the model
    model: Any  # its entry, or the estimator of a RUN
    home: Path | None  # a SEAL or a RUN


@click.command()
@click.argument("data", metavar="DATA|SEAL|RUN")
@click.argument("model", required=False)
@data_options(*SCORED)
@click.option(
    "--of",
    "of",
    default="size",
    show_default=True,
    metavar="AXIS",
    help="Axis: size (training rows), iterations, or a setting of the model.",
)
@click.option(
    "--values",
    metavar="A,B,…",
    help="Points on the axis: shares of the rows, iterations, or values of the setting.",
)
@folds_option
@set_option
@metric_option
@click.option(
    "-o",
    "output",
    metavar="FILE",
    help="File for a picture (.svg, .png, .pdf) or the numbers (.json).",
)
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

    If the gap between the two curves still narrows at the largest size, more rows would help; if
    the curves have already met, try another model. A mixture needs no target: it is scored by its
    log-likelihood per row. With a RUN, its own model and settings are used.
    The curve is saved for the report in the SEAL, in the RUN, or in the newest RUN of that model on
    DATA.
    """
    from likely.cli.terminal import showing_progress
    from likely.runs.catalogue import is_run
    from likely.workbench.curves.curves import learning_curve

    _refuse_unknown_suffix(output)
    refuse_unknown_metric(metric, "curve")
    axis, of_run = setting_name(of), is_run(data)
    request = (_of_run if of_run else _of_data)(settings, data, model, options, assignments)
    with (
        settings.using_jobs(),
        showing_progress(settings, f"curve of {request.name}", None, unit="fits"),
        _refusing_unknown_axis(request.name),
    ):
        found = learning_curve(
            request.rows,
            model=request.model,
            of=axis,
            values=None if values is None else _values_on(axis, values),
            folds=folds,
            seed=settings.seed,
            metric=metric,
            name=request.name,
        )
    if all(point.problem for point in found.points):
        problem = f"{request.name} failed: {found.points[-1].problem}"
        raise Refusal(
            f"No point of the curve could be scored; at least one was expected. {problem}",
            Exit.DATA,
            "likely look --help",
        )
    drawn = () if output is None else (_write(found, Path(output)),)
    return _answer(found, request, data, drawn, options)


def _values_on(axis: str, values: str) -> list[Any]:
    """The points on the axis."""
    if axis.startswith(PREFIX):
        return word_choices(axis, values)
    return [value_of(word.strip()) for word in separated(values)]


def _answer(
    found: "Curve", request: CurveRequest, data: str, drawn: tuple[Path, ...], options: DataOptions
) -> Answer:
    """The answer; the curve is saved for the report."""
    from likely.runs.catalogue import is_run
    from likely.workbench.comparison.records import keep_curve

    facts = found.facts() | ({"run": request.home.name} if request.home and is_run(data) else {})
    kept = () if request.home is None else keep_curve(request.home, facts)
    return Answer(
        text=_text(found, request, kept, drawn),
        result=facts,
        findings=() if found.rows.task is None else about_task(found.rows.task),
        files=(*kept, *drawn),
        next=_next(data, request, options),
    )


@contextmanager
def _refusing_unknown_axis(model: str) -> Iterator[None]:
    """Refuse a setting that the model does not have as a usage error."""
    try:
        yield
    except UnknownName as error:
        raise Refusal(str(error), Exit.USAGE, f"likely models {model}") from None


def _refuse_unknown_suffix(output: str | None) -> None:
    if output is not None and Path(output).suffix.lower() not in SUFFIXES:
        raise click.UsageError(
            f"-o {output} has an unknown suffix; one of {', '.join(SUFFIXES)} was expected. Use -o "
            "curve.svg."
        )


def _write(found: "Curve", path: Path) -> Path:
    """Write the picture or the numbers, by the suffix; the same curve gives the same file."""
    from io import BytesIO

    from likely.storage.files import write_atomically
    from likely.storage.json import write_json

    kind = path.suffix.lower()
    if kind == ".json":
        return write_json(path, found.facts())
    from matplotlib.figure import Figure

    drawn, figure = BytesIO(), Figure(figsize=(6.4, 4.0), layout="constrained")  # in no window
    found.plot(figure.subplots())
    figure.savefig(drawn, format=kind[1:], metadata=UNDATED.get(kind, {}))
    write_atomically(path, drawn.getvalue())
    return path


def _of_data(
    settings: Settings,
    data: str,
    model: str | None,
    options: DataOptions,
    assignments: tuple[str, ...],
) -> CurveRequest:
    """A model by its name, on DATA or on the training rows of a SEAL."""
    from likely.runs.catalogue import newest_run_on

    if model is None:
        raise click.UsageError(
            f"No model was given for {data}; only a RUN has its own model. Add a model: "
            "likely models lists them."
        )
    entry = models_named([model], assignments)[0]
    opened = open_data if entry.is_mixture else open_with_target
    rows = opened(settings.caller, data, options)
    home = None if rows.seal is None else rows.seal.path
    if home is None:
        target = None if entry.is_mixture else rows.target
        home = newest_run_on(rows.digest, target, model)
    return CurveRequest(rows, model, entry, home)


def _of_run(
    settings: Settings,
    name: str,
    model: str | None,
    options: DataOptions,
    assignments: tuple[str, ...],
) -> CurveRequest:
    """The model of a RUN with its settings, on its rows, held out as they were for its score."""
    from likely.runs import open_run
    from likely.runs.seals import seal_of
    from likely.tasks.suitability import task_for
    from likely.workbench.models.registry import entry_for

    run = open_run(name)
    facts, given = run.facts, run.facts.get("parameters") or {}
    own, column = str(facts.get("model")), facts.get("target")
    other = model not in (None, own) or options.target not in (None, column)
    about = "" if column is None else f" for {column}"
    if other or assignments or options.beyond_target:
        raise click.UsageError(
            f"{name} is a {own}{about}; another model, --set or an option about the data "
            "was given. Leave out MODEL, --set, --target, --kind, --order, --group, --by-time, "
            "--weight, --offset, --exposure, --drop and --category, or give the data in place of "
            "the run."
        )
    if given.get(UNLABELLED) is not None:
        raise Refusal(
            f"{name} was trained with rows without a label ({UNLABELLED}={given[UNLABELLED]}); a "
            "curve scores fits to labelled rows. Give the data and the model in place of the run.",
            Exit.USAGE,
            f"likely explain {shlex.quote(name)}",
        )
    seal, data = seal_of(run), str(facts["data"]["name"])
    if seal is None:
        _refuse_missing(name, data)
    rows = open_data(settings.caller, seal or data, DataOptions.in_run(facts))
    if seal is None and rows.digest != facts["data"]["sha256"]:
        _refuse_changed(name, data, "has changed since")
    if facts.get("target") is not None and facts.get("task") is None:  # a file that was streamed
        rows = rows.of_task(task_for(rows, entry_for(own), given))
    return CurveRequest(rows, own, run.model, run.path)


def _refuse_missing(name: str, data: str) -> None:
    from likely.workbench.data.builtin_data import BUILTIN

    if data not in BUILTIN and not Path(data).exists():
        _refuse_changed(name, data, "is missing")


def _refuse_changed(name: str, data: str, what: str) -> NoReturn:
    """Refuse a run whose data are missing or have changed."""
    raise Refusal(
        f"{name} was trained on {data}, which {what}; its curve needs the same rows. Restore "
        "them, or train again.",
        Exit.DATA,
        f"likely explain {shlex.quote(name)}",
    )


def _text(
    found: "Curve", request: CurveRequest, kept: tuple[Path, ...], drawn: tuple[Path, ...]
) -> str:
    from likely.cli.terminal import heading, wrapped

    title, _, rest = str(found).partition("\n")
    notes = [f"Wrote {path}." for path in drawn]
    if kept:
        notes.append(f"Saved for the report in {kept[0]}.")
    elif not drawn:
        notes.append("Not saved: use -o FILE, or a RUN, which saves the curve for its report.")
    return f"{heading(title)}\n{rest}\n\n{wrapped(' '.join(notes))}"


def _next(data: str, request: CurveRequest, options: DataOptions) -> str:
    """The next command: report on a RUN, else tune the model, or train a mixture."""
    from likely.runs.catalogue import is_run

    if is_run(data):
        return f"likely report {shlex.quote(data)}"
    words = shlex.quote("FILE" if data == "-" else data)
    if request.model.is_mixture:
        return f"likely train {words} {request.name}{options.words()}"
    about = "" if request.rows.sealed else f" --target {shlex.quote(str(request.rows.target))}"
    verb = (
        "compare" if "." in request.name else "tune"
    )  # a model of another library has no default search space
    return f"likely {verb} {words} {request.name}{about}{options.words()}"
