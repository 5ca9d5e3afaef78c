"""``likely curve``: the score of a model by training rows, iterations or a setting."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer
from likely.cli.compare import refuse_unknown_metric
from likely.cli.models import models_named, set_option, setting_name, word_choices
from likely.cli.options import data_options, folds_option, metric_option
from likely.cli.terminal import GlobalOptions, global_options, heading, on_terminal, wrapped
from likely.tasks.request import SCORED, DataOptions, separated, value_of
from likely.tasks.suitability import about_task
from likely.workbench.models.model_entry import PREFIX

if TYPE_CHECKING:
    from likely.tasks.curve_run import CurveRequest, SavedCurve

SUFFIXES = (".svg", ".png", ".pdf", ".json")


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
    settings: GlobalOptions,
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
    from likely.runs.catalogue import is_run
    from likely.tasks.curve_run import curve_of_run, curved, refusing_unknown, write_curve

    _refuse_unknown_suffix(output)
    refuse_unknown_metric(metric, "curve")
    axis = setting_name(of)
    if is_run(data):
        request = curve_of_run(settings.caller, data, model, options, changed=bool(assignments))
    else:
        request = _on_data(settings, data, model, options, assignments)
    with refusing_unknown(request.name):
        points = None if values is None else _values_on(axis, values)
    with settings.using_jobs(), on_terminal(settings):
        found = curved(request, axis, points, folds=folds, seed=settings.seed, metric=metric)
    drawn = () if output is None else (write_curve(found.curve, Path(output)),)
    task = found.curve.rows.task
    return Answer(
        text=_text(found, drawn),
        result=found.facts,
        findings=() if task is None else about_task(task),
        files=(*found.kept, *drawn),
        next=_next(data, request, options),
    )


def _on_data(
    settings: GlobalOptions,
    data: str,
    model: str | None,
    options: DataOptions,
    assignments: tuple[str, ...],
) -> "CurveRequest":
    from likely.tasks.curve_run import curve_on_data

    if model is None:
        raise click.UsageError(
            f"No model was given for {data}; only a RUN has its own model. Add a model: "
            "likely models lists them."
        )
    entry = models_named([model], assignments)[0]
    return curve_on_data(settings.caller, data, model, entry, options)


def _values_on(axis: str, values: str) -> list[Any]:
    """The points on the axis."""
    if axis.startswith(PREFIX):
        return word_choices(axis, values)
    return [value_of(word.strip()) for word in separated(values)]


def _refuse_unknown_suffix(output: str | None) -> None:
    if output is not None and Path(output).suffix.lower() not in SUFFIXES:
        raise click.UsageError(
            f"-o {output} has an unknown suffix; one of {', '.join(SUFFIXES)} was expected. Use -o "
            "curve.svg."
        )


def _text(found: "SavedCurve", drawn: tuple[Path, ...]) -> str:
    title, _, rest = str(found.curve).partition("\n")
    notes = [f"Wrote {path}." for path in drawn]
    if found.kept:
        notes.append(f"Saved for the report in {found.kept[0]}.")
    elif not drawn:
        notes.append("Not saved: use -o FILE, or a RUN, which saves the curve for its report.")
    return f"{heading(title)}\n{rest}\n\n{wrapped(' '.join(notes))}"


def _next(data: str, request: "CurveRequest", options: DataOptions) -> str:
    """The next command: report on a RUN, else tune the model, or train a mixture."""
    if request.run is not None:
        return f"likely report {shlex.quote(data)}"
    words = shlex.quote("FILE" if data == "-" else data)
    if request.model.is_mixture:
        return f"likely train {words} {request.name}{options.words()}"
    about = "" if request.rows.sealed else f" --target {shlex.quote(str(request.rows.target))}"
    verb = (
        "compare" if "." in request.name else "tune"
    )  # a model of another library has no default search space
    return f"likely {verb} {words} {request.name}{about}{options.words()}"
