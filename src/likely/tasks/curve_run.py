"""The task of ``likely curve``: the curve of a model, named or that of a RUN, and its files."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from likely.errors import UnknownName
from likely.tasks.request import (
    UNLABELLED,
    Caller,
    DataOptions,
    Exit,
    Refusal,
    open_data,
    open_with_target,
)
from likely.workbench.models.model_entry import ModelEntry

if TYPE_CHECKING:
    from likely.workbench.curves.curves import Curve
    from likely.workbench.data.dataset import Dataset

UNDATED: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


class CurveRequest(NamedTuple):
    """The rows, the model, and the folder in which its curve is saved."""

    rows: "Dataset"
    name: str  # of the model
    model: Any  # its entry, or the estimator of a RUN
    home: Path | None  # a SEAL or a RUN
    run: str | None = None  # the name of the RUN whose model it is


class SavedCurve(NamedTuple):
    """A curve, its facts, and the files in which it was saved for a report."""

    curve: "Curve"
    facts: dict[str, Any]
    kept: tuple[Path, ...]


def curve_on_data(
    caller: Caller, data: str, name: str, entry: ModelEntry, options: DataOptions
) -> CurveRequest:
    """A model by its name, on DATA or on the training rows of a SEAL."""
    from likely.runs.catalogue import newest_run_on

    opened = open_data if entry.is_mixture else open_with_target
    rows = opened(caller, data, options)
    home = None if rows.seal is None else rows.seal.path
    if home is None:
        target = None if entry.is_mixture else rows.target
        home = newest_run_on(rows.digest, target, name)
    return CurveRequest(rows, name, entry, home)


def curve_of_run(
    caller: Caller, name: str, model: str | None, options: DataOptions, *, changed: bool = False
) -> CurveRequest:
    """The model of a RUN with its settings, on its rows, held out as they were for its score.

    Another model, options about the data, or other settings (``changed``) are refused.
    """
    from likely.runs import open_run
    from likely.runs.seals import seal_of
    from likely.tasks.suitability import task_for
    from likely.workbench.models.registry import entry_for

    run = open_run(name)
    facts, given = run.facts, run.facts.get("parameters") or {}
    own, column = str(facts.get("model")), facts.get("target")
    other = model not in (None, own) or options.target not in (None, column)
    about = "" if column is None else f" for {column}"
    if other or changed or options.beyond_target:
        raise Refusal(
            f"{name} is a {own}{about}; another model, --set or an option about the data "
            "was given. Leave out MODEL, --set, --target, --kind, --order, --group, --by-time, "
            "--weight, --offset, --exposure, --drop and --category, or give the data in place of "
            "the run.",
            Exit.USAGE,
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
    rows = open_data(caller, seal or data, DataOptions.in_run(facts))
    if seal is None and rows.digest != facts["data"]["sha256"]:
        _refuse_changed(name, data, "has changed since")
    if facts.get("target") is not None and facts.get("task") is None:  # a file that was streamed
        rows = rows.of_task(task_for(rows, entry_for(own), given))
    return CurveRequest(rows, own, run.model, run.path, name)


def curved(
    request: CurveRequest,
    axis: str,
    values: list[Any] | None,
    *,
    folds: int,
    seed: int,
    metric: str | None,
) -> SavedCurve:
    """The curve along an axis, saved for the report where the request has a home."""
    from likely.workbench.comparison.records import keep_curve
    from likely.workbench.curves.curves import learning_curve

    with refusing_unknown(request.name):
        found = learning_curve(
            request.rows,
            model=request.model,
            of=axis,
            values=values,
            folds=folds,
            seed=seed,
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
    home = request.home
    facts = found.facts() | ({"run": home.name} if home and request.run else {})
    return SavedCurve(found, facts, () if home is None else keep_curve(home, facts))


@contextmanager
def refusing_unknown(model: str) -> Iterator[None]:
    """Refuse a setting that the model does not have as a mistake in the request."""
    try:
        yield
    except UnknownName as error:
        raise Refusal(str(error), Exit.USAGE, f"likely models {model}") from None


def write_curve(found: "Curve", path: Path) -> Path:
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
