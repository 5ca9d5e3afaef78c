"""``likely.train``: one model on one table, with a score on held-out rows, and its RUN.

A SEAL, folds, groups, time, a kind of target, an order or a positive class, and tables with cells
that a model cannot use as they are, are scored by cross-validation, with the columns prepared
inside each fit.  Otherwise columns are used as they are, and a fifth of the rows is held out.  The
model is fitted to all rows.
"""

import shlex
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, final

from likely.kinds import order_with_positive
from likely.names import known_name
from likely.output.progress import stage
from likely.tasks.final_run import scored_elsewhere
from likely.tasks.fits import (
    TrainedModel,
    TrainRequest,
    fit_direct,
    fit_prepared,
    fit_text_stream,
    is_text_stream,
    refuse_counts,
    with_unlabelled_marked,
)
from likely.tasks.request import (
    HOW_READ,
    UNLABELLED,
    Caller,
    DataOptions,
    Exit,
    Refusal,
    reading_options,
    refuse_no_target,
)
from likely.tasks.suitability import naming_rows, needs_preparation, refuse_two_orders
from likely.tasks.train_text import Part, plain_text
from likely.workbench.data.opening import DataArguments, dataset, in_list, takes_data_arguments
from likely.workbench.models.model_entry import ModelEntry
from likely.workbench.models.registry import entry_for, trainable

if TYPE_CHECKING:
    from likely.metrics import Score
    from likely.runs import RunFolder
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.look.look import Look
    from likely.workbench.scoring.column_effects import ColumnEffects
    from likely.workbench.verdict.verdict import Verdict


@final
@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model, its score and verdict, and the RUN that holds it.

    Attributes
    ----------
    model : estimator
        Fitted to all rows.
    score : Score or None
        Of held-out rows; None where there are too few, or no target.
    verdict : Verdict or None
        Whether the model is better than the baseline, by the rules of docs/verdict.rst.
    notes : tuple of str
        What should be known about the data and the score.
    run : Path or None
        The RUN folder; None where none was asked for.
    data : Dataset
        The table with the roles of its columns, as the model was trained on it.
    facts : dict
        What ``likely train --json`` prints.
    """

    model: Any
    score: "Score | None"
    verdict: "Verdict | None"
    notes: tuple[str, ...]
    run: Path | None
    data: "Dataset" = field(repr=False)
    facts: dict[str, Any] = field(repr=False)
    parts: tuple[Part, ...] = field(repr=False)

    def __str__(self) -> str:
        where = () if self.run is None else (f"Saved to {self.run}.",)
        notes = (f"Note: {each}" for each in self.notes)
        return plain_text((*self.parts, *where, *notes))

    def to_json(self) -> dict[str, Any]:
        """The facts, the verdict and the RUN, as ``likely train --json`` has them in ``result``."""
        return {
            **self.facts,
            "verdict": None if self.verdict is None else self.verdict.to_json(),
            "run": None if self.run is None else str(self.run),
        }


@takes_data_arguments
def train(
    data: Any,
    target: Any = None,
    model: Any = None,
    *,
    settings: Mapping[str, Any] | None = None,
    folds: int | None = None,
    run: str | Path | None = None,
    clusters: str | None = None,
    seed: int = 0,
    **about: Unpack[DataArguments],
) -> Trained:
    """Train one model, and score it on held-out rows, as ``likely train`` does.

    Parameters
    ----------
    data : path of a file or a seal, built-in name, data frame, Sealed, Dataset
        Of a seal, the training rows.
    target : str
        The column to predict; a seal and built-in data have their own.
    model : str or estimator
        A name, such as ``"naive-bayes"``, the import path of a class of another library, or an
        estimator.
    settings : mapping
        Arguments of the model; ``words__name`` says how words of texts are counted.
    folds : int
        The number of folds of the cross-validation; None is 5, or, for a table whose columns the
        model can use as they are, one held-out fifth of the rows.
    run : path, or "new"
        The RUN folder to write, which ``predict``, ``explain``, ``report`` and the command line
        read; ``"new"`` is the next ``runs/NNN-MODEL``.  None writes nothing.
    clusters : str
        A column of clusters, for clustered standard errors.
    seed : int
        Of every random choice.

    Returns
    -------
    Trained
        ``model``, ``score``, ``verdict``, ``notes``; prints as the verb does.

    Examples
    --------
    >>> from likely import train
    >>> found = train("iris", model="naive-bayes")
    >>> found.score.metric, found.score.main.value < 0.3
    ('log-loss', True)
    >>> found.model.predict(found.model.sample(2, random_state=0)[0]).shape
    (2,)
    """
    entry = entry_for(model)
    read: Any = {name: about.get(name) for name in HOW_READ}
    if target is not None and not isinstance(target, str):  # one label for each row
        data, target = dataset(data, target, **read), None
    given = {**(settings or {})}
    for name in given:
        if not name.startswith("words__"):
            known_name(f"setting of {entry.name}", name, entry.defaults())
    listed = {
        "order": "classes",
        **dict.fromkeys(("drop", "category", "feature", "text"), "columns"),
    }
    given_about: dict[str, Any] = dict(about)
    given_about["order"] = order_with_positive(
        given_about.pop("positive", None), about.get("order"), about.get("kind")
    )
    roles: Any = {
        name: in_list(value, name, of=listed[name])
        if name in listed and value is not None
        else value
        for name, value in given_about.items()
    } | reading_options(given_about)
    options = DataOptions(target=target, clusters=clusters, **roles)
    label = data if isinstance(data, str) else str(getattr(data, "label", "DATA"))
    asked = TrainRequest(data, entry, given, options, folds, label=label)
    asked = asked._replace(caller=Caller(_as_command(asked, run), seed))
    return trained(asked, None if run is None else "" if run == "new" else str(run))


def _as_command(request: TrainRequest, run: str | Path | None) -> str:
    """The command that does the same, which the RUN records."""
    words = ["likely", "train", request.label, request.model.name]
    if request.options.target is not None:
        words += ["--target", request.options.target]
    for name, value in request.given.items():
        words += ["--set", f"{name.replace('__', '.', 1)}={value}"]
    words += [] if request.folds is None else ["-x", str(request.folds)]
    words += [] if run in (None, "new") else ["-o", str(run)]
    return shlex.join(words) + request.options.words()


def trained(request: TrainRequest, output: str | None = "") -> Trained:
    """Train as a request says, and write the RUN.

    ``output`` is its folder, empty for the next number, None for no RUN.
    """
    from likely.runs import RunFolder, new_run
    from likely.runs.folder import UNSAVED
    from likely.storage.model_file import save

    refuse_two_orders(request.options, request.given)
    notes = _about_saving(request, output)
    place = nullcontext() if output is None else new_run(request.model.short_name, output or None)
    with place as where:
        found = train_on(request)
        look, effects = looked_at(found), None
        if where is not None:
            draft = RunFolder(where.draft)
            write_evidence(draft, found, look, request.caller.seed)
            effects = draft.effects()
            facts = run_facts(request.caller, found, look)
            if notes:
                draft.write_unsaved(facts)
            else:
                draft.write_model(found.model, facts)
        else:
            effects = None if look is None else _effects(found, request.caller.seed)
        if request.copy is not None:
            save(found.model, request.copy)
    judged = _verdict(found, look, effects)
    return Trained(
        found.model,
        found.score,
        judged,
        (*found.findings, *notes, *(() if judged is None else judged.doubts)),
        None if where is None else where.path,
        found.data,
        {**found.facts, **UNSAVED} if notes else found.facts,
        found.parts,
    )


def _about_saving(request: TrainRequest, output: str | None) -> tuple[str, ...]:
    """A note that the RUN will have no model, where what saves it is not installed.

    Refused if a copy of the model was asked for by its file.
    """
    from likely.storage.foreign import INSTALL, has_skops, refuse_without_skops

    chosen = request.model
    if not chosen.is_foreign or has_skops():
        return ()
    if request.copy is not None:
        refuse_without_skops(chosen.name)
    if output is None:
        return ()
    return (
        f"The model is not saved: {chosen.name} belongs to another library, and is saved by the "
        f"package skops, which is not installed. Its score and its report need no model; to "
        f"predict, run {INSTALL} and train it again.",
    )


def run_facts_of(found: Trained) -> dict[str, Any]:
    """What ``run.json`` says of the columns of a model that was trained in Python."""
    data = found.data
    return {
        **found.facts,
        "categories": list(data.categories),
        "readings": data.readings.to_json(),
        "data": {"name": found.facts["data"]},
    }


def train_on(request: TrainRequest) -> TrainedModel:
    """Open the data, score the model on held-out rows, and fit it to all rows."""
    data = _opened(request)
    data.refuse_sealed_rows("train")
    refuse_counts(data, request)
    mark = request.given.get(UNLABELLED)
    if mark is not None:
        data, request = with_unlabelled_marked(data, request, mark)
    with naming_rows(data.rows):
        if is_text_stream(data, request):
            found = fit_text_stream(data, request)
        elif _wants_preparation(data, request):
            found = fit_prepared(data, request)
        else:
            found = fit_direct(data, request)
    if mark is not None:
        found = found._replace(parameters={**found.parameters, UNLABELLED: mark})
    if request.test is None or data.target is None:
        return found
    learned = replace(
        DataOptions.in_run({**found.facts, "readings": data.readings.to_json()}),
        category=data.categories,
    )
    text, facts = scored_elsewhere(found.model, request.test, learned, training=data)
    return found._replace(parts=(*found.parts, text), facts={**found.facts, "unguarded": facts})


def _opened(request: TrainRequest) -> "Dataset":
    """The data with the options about it, refused if the model cannot use them."""
    from likely.workbench.data.dataset import refuse_no_features
    from likely.workbench.data.unsettled import refuse_unsettled

    data = request.options.on(request.caller, request.options.opened(request.data))
    _refuse_unused(request.model, data)
    if request.model.supervised:
        refuse_no_target(request.caller, data)
        refuse_no_features(data)
    refuse_unsettled(data)
    return data


def _takes(model: ModelEntry, argument: str) -> bool:
    """Whether its fit takes an argument, for classes, counts or other numbers."""
    return model.accepts(argument) or any(model.accepts(argument, k) for k in ("count", "real"))


def _refuse_unused(chosen: ModelEntry, data: "Dataset") -> None:
    """Refuse weights, offsets, exposures or clusters that the fit of the model does not take."""
    from likely.workbench.data.roles import ARGUMENTS

    for role in data.roles.given():
        able = [model.name for model in trainable() if _takes(model, ARGUMENTS[role])]
        if not _takes(chosen, ARGUMENTS[role]):
            raise Refusal(
                f"{chosen.name} does not take --{role}; {', '.join(able)} do. Leave the option "
                "out, or use one of these models.",
                Exit.USAGE,
                "likely models",
            )


def _wants_preparation(data: "Dataset", request: TrainRequest) -> bool:
    """Whether the table is prepared inside the fit, and scored by cross-validation."""
    chosen = request.model
    _refuse_split(chosen, data, request.options)
    if not chosen.supervised:
        return False
    if data.clusters is not None:
        if not chosen.streams:
            raise Refusal(
                f"--clusters was given; {chosen.name} cannot compute clustered errors on a table "
                "that needs preparation. Leave it out, or use one of "
                f"{', '.join(entry.name for entry in trainable() if entry.streams)}.",
                Exit.USAGE,
                "likely models",
            )
        return False
    if data.sealed or not chosen.streams or request.folds is not None:
        return True
    if data.group is not None or data.by_time is not None:
        return True
    if not data.in_memory:
        return False
    if chosen.for_numbers:  # the kind of its target is that of a prepared table
        return True
    return data.declared or needs_preparation(data, gaps=not chosen.missing)


def _refuse_split(chosen: ModelEntry, data: "Dataset", options: DataOptions) -> None:
    """Refuse --group and --by-time for a score of one part, whose rows are chosen individually."""
    column = options.group or options.by_time
    if column is None or (chosen.supervised and data.clusters is None):
        return
    option = "--group" if options.by_time is None else "--by-time"
    why = "--clusters was given" if chosen.supervised else f"{chosen.name} needs no target"
    raise Refusal(
        f"{option} {column} is for cross-validation, and {why}: the held-out rows are chosen "
        f"individually. Leave {option} out.",
        Exit.USAGE,
        "likely train --help",
    )


def run_facts(caller: Caller, trained: TrainedModel, found: "Look | None") -> dict[str, Any]:
    """The content of ``run.json``; ``found`` is what ``look`` says of the rows."""
    from datetime import UTC, datetime

    from likely.runs.seals import seal_facts

    facts, data = trained.facts, trained.data
    return {
        "command": caller.command,
        "seed": caller.seed,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": facts["model"],
        "parameters": {name: _written(value) for name, value in trained.parameters.items()},
        "target": facts["target"],
        "task": facts.get("task"),
        "group": facts.get("group"),
        "by_time": facts.get("by_time"),
        "dropped": list(data.dropped),
        "categories": list(data.categories),
        "declared_features": list(data.declared_features),
        "declared_texts": list(data.declared_texts),
        "identifiers": list(data.identifiers),
        "texts": list(data.texts),
        "readings": data.readings.to_json(),
        "findings": findings_kept(data, found),
        "roles": facts["roles"],
        "columns": facts["columns"],
        "classes": facts["classes"],
        "data": {"name": facts["data"], "sha256": data.digest, "rows": facts["rows"]},
        "seal": None if data.seal is None else seal_facts(data.seal),
        "scores": facts["scores"],
    }


def _verdict(
    trained: TrainedModel, found: "Look | None", effects: "ColumnEffects | None"
) -> "Verdict | None":
    from likely.workbench.comparison.records import comparisons_in
    from likely.workbench.verdict.checks import evidence_in_run
    from likely.workbench.verdict.verdict import verdict_on

    facts = {**trained.facts, "findings": findings_kept(trained.data, found)}
    seal = trained.data.seal
    comparisons = () if seal is None else comparisons_in(seal.path)
    held = trained.validation
    return verdict_on(evidence_in_run(facts, held=held, effects=effects, comparisons=comparisons))


def findings_kept(data: "Dataset", found: "Look | None") -> list[dict[str, Any]]:
    """What ``look`` found before the rows were sealed; else in the rows of the run."""
    if data.seal is not None and data.seal.manifest.identifiers is not None:
        return [dict(each) for each in data.seal.manifest.findings]
    return [] if found is None else [each.record() for each in found.findings]


def looked_at(trained: TrainedModel) -> "Look | None":
    """The checks of the data; None for a file that was read in chunks."""
    from likely.workbench.look.look import look

    if not trained.data.in_memory:
        return None
    task = trained.facts.get("task") or {}
    return look(trained.data, kind=task.get("kind"), order=task.get("order"))


def write_evidence(
    run: "RunFolder", trained: TrainedModel, found: "Look | None", seed: int
) -> None:
    """Write what the report also needs: held-out predictions and the checks of the data."""
    if trained.validation is not None:
        run.write_validation(trained.validation)
    if found is not None:
        run.write_look(found.facts())
        if (measured := _effects(trained, seed)) is not None:
            run.write_effects(measured)
    if trained.data.seal is not None and found is not None:
        run.write_kept_by(trained.data.seal)


def _effects(trained: TrainedModel, seed: int) -> "ColumnEffects | None":
    """The importance and the effects of columns, measured on one held-out fold."""
    from likely.workbench.scoring.column_effects import held_out_effects_or_note

    if trained.validation is None:
        return None
    with stage("measuring what the columns do"):
        return held_out_effects_or_note(trained.model, trained.data, seed=seed)


def _written(value: Any) -> Any:
    """NaN as text, because JSON has no NaN."""
    return "nan" if isinstance(value, float) and value != value else value
