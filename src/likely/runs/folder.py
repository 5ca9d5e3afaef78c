"""The folder of a RUN: its files, how each is written and read, and all its facts."""

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from likely.errors import InvalidFile, InvalidInput
from likely.runs.seals import LedgerFacts, ledger_facts, place_of_seal
from likely.sealing.final_score import FinalScore
from likely.sealing.ledger import estimates_recorded, hashes_of, models_evaluated
from likely.storage.files import make_folder, write_atomically
from likely.storage.json import as_json, read_json, write_json
from likely.storage.values import MODEL_FILE
from likely.workbench.comparison.records import (
    Record,
    comparisons_in,
    curves_in,
    joined_comparisons,
    joined_curves,
    kept_files,
)

if TYPE_CHECKING:
    from likely.output.description import Description
    from likely.sealing.folder import SealFolder
    from likely.workbench.scoring.column_effects import ColumnEffects
    from likely.workbench.scoring.validation import Validation

FACTS, LOOK = "run.json", "look.json"
UNSAVED = {"model_saved": False}  # in the facts of a RUN whose model no file can hold
STUDY, STUDY_FOLDER, COMMAND = "study.json", "study", "command.txt"
VALIDATION, VALIDATION_FACTS = "validation.parquet", "validation.json"
EFFECTS = "effects.json"
HELD_OUT_BY = ("group", "by_time", "weight", "offset", "exposure")
SCORING = ("compare", "tune", "seal")  # verbs that take these options
DECLARED = {  # and those about columns, by their names in run.json
    "--drop": "dropped",
    "--category": "categories",
    "--feature": "declared_features",
    "--text": "declared_texts",
}


@final
@dataclass(frozen=True)
class RunFolder:
    """A RUN on disk."""

    path: Path

    @property
    def is_whole(self) -> bool:
        """Whether it has a model, which is written last."""
        return (self.path / MODEL_FILE).is_file()

    def model_sha256(self) -> str | None:
        """The SHA-256 of the file of the model, as it is now; None where there is none."""
        from likely.data.arrow import digest_of_file

        return digest_of_file(self.path / MODEL_FILE) if self.is_whole else None

    @property
    def is_scored(self) -> bool:
        """Whether its model was scored on sealed rows."""
        return (self.path / FINAL).is_file()

    @property
    def study(self) -> Path:
        """The folder of the search that found the model's settings."""
        return self.path / STUDY_FOLDER

    @property
    def has_study(self) -> bool:
        return self.study.is_dir()

    def write_model(self, model: Any, facts: Mapping[str, Any]) -> tuple[Path, ...]:
        """The facts, then the model, written last: a folder with a model is a complete RUN."""
        from likely.storage.model_file import file_content

        content = file_content(model)
        known = {**facts, "versions": versions(), "model_sha256": content.sha256()}
        write_json(self.path / FACTS, known)
        write_atomically(self.path / MODEL_FILE, content)
        return self.model_files

    @property
    def model_files(self) -> tuple[Path, ...]:
        """The files that every RUN has; no model where none could be saved."""
        return (*((self.path / MODEL_FILE,) if self.is_whole else ()), self.path / FACTS)

    def write_unsaved(self, facts: Mapping[str, Any]) -> Path:
        """The facts alone, of a model that was trained and scored, and that no file can hold."""
        return write_json(self.path / FACTS, {**facts, "versions": versions(), **UNSAVED})

    def write_look(self, facts: Record) -> None:
        write_json(self.path / LOOK, facts)

    def write_effects(self, effects: "ColumnEffects") -> Path:
        """The importance and the effects of columns."""
        return write_json(self.path / EFFECTS, effects.to_json())

    def write_study(self, facts: Record) -> Path:
        return write_json(self.path / STUDY, facts)

    def write_final(self, facts: Record) -> Path:
        return write_json(self.path / FINAL, facts)

    def write_kept_by(self, seal: "SealFolder") -> None:
        """Copies of the comparisons and curves that the seal has kept."""
        for name, content in kept_files(seal.path).items():
            write_atomically(self.path / name, content)

    def write_validation(self, validation: "Validation") -> None:
        """Its rows as a Parquet file, and what is known about them as JSON."""
        import pyarrow as pa

        from likely.sealing.folder import parquet_bytes

        table = pa.table(validation.columns())
        write_atomically(self.path / VALIDATION, parquet_bytes(table))
        write_json(self.path / VALIDATION_FACTS, validation.to_json())

    @property
    def is_unsaved(self) -> bool:
        """Whether its search or training has ended, and its model is one that no file can hold."""
        if self.is_whole:
            return False  # without reading its facts
        return UNSAVED.items() <= (self.study_facts() or self.facts() or {}).items()

    @property
    def is_reported(self) -> bool:
        """Whether a model was trained, saved or not; a search that saved none has no score."""
        return self.is_whole or (self.is_unsaved and not self.has_study)

    def note_search(self, command: str) -> None:
        """Save the command of a search: its RUN has no model until the search is finished."""
        file = make_folder(self.study) / COMMAND
        (self.path / STUDY).unlink(missing_ok=True)  # of a search that now goes on
        if not file.exists():
            write_atomically(file, (self.going_on(command) + "\n").encode())

    def going_on(self, command: str) -> str:
        """The command of a search, changed to resume the one in this folder."""
        words = shlex.split(command)
        return shlex.join(words if "-o" in words else [*words, "-o", str(self.path)])

    def command_of_search(self) -> str | None:
        """The command that resumes an unfinished search; None if there is none."""
        if not self.has_study or self.is_whole or self.is_unsaved:
            return None
        try:
            return (self.study / COMMAND).read_text(encoding="utf-8").strip()
        except OSError:  # of an earlier version
            return f"likely tune DATA MODEL -o {shlex.quote(str(self.path))}"

    def facts(self) -> Record | None:
        """The content of ``run.json``; None where there is none."""
        return _read_object(self.path / FACTS)

    def look(self) -> Record | None:
        return _read_object(self.path / LOOK)

    def study_facts(self) -> Record | None:
        return _read_object(self.path / STUDY)

    def effects(self) -> "ColumnEffects | None":
        """The effects that ``write_effects`` has written; None where there are none."""
        from likely.workbench.scoring.column_effects import ColumnEffects

        found = read_json(self.path / EFFECTS)
        if found is None:
            return None
        try:
            return ColumnEffects.from_json(found)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidFile(
                self.path / EFFECTS,
                f"it was changed after it was written ({error}). Remove it, or train again.",
            ) from None

    def final(self) -> Record | None:
        return _read_object(self.path / FINAL)

    def validation(self) -> "Validation | None":
        """The validation that ``write_validation`` has written; None where there is none."""
        from pyarrow import ArrowException
        from pyarrow.parquet import read_table

        from likely.workbench.scoring.validation import Validation

        path, facts = self.path / VALIDATION, self.path / VALIDATION_FACTS
        if not path.is_file() or not facts.is_file():
            return None
        try:
            table = read_table(path)
            columns = {name: table[name].to_numpy() for name in table.column_names}
            return Validation.from_json(read_json(facts), columns)
        except (OSError, ValueError, KeyError, ArrowException) as error:
            raise InvalidFile(
                path, f"it was changed after it was written ({error}). Remove it, or train again."
            ) from None


def _read_object(path: Path) -> Record | None:
    """A JSON object; None where there is no file."""
    found = read_json(path)
    if found is not None and not isinstance(found, dict):
        what = f"it holds {type(found).__name__}; a JSON object was expected"
        raise InvalidFile(path, f"{what}. Remove it, or train again.")
    return found


def versions() -> dict[str, str]:
    """The versions of everything that a result may depend on."""
    import platform
    from importlib.metadata import version

    import likely

    packages = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow")
    found = {package: version(package) for package in packages}
    return {"likely": likely.__version__, "python": platform.python_version(), **found}


@final
@dataclass(frozen=True, eq=False)
class RunFacts:
    """All facts about a run; None where its folder does not have them."""

    name: str
    run: Record
    look: Record | None = None
    comparisons: tuple[Record, ...] = ()
    curves: tuple[Record, ...] = ()
    study: Record | None = None
    validation: "Validation | None" = None
    effects: "ColumnEffects | None" = None
    final: Record | None = None  # the score of sealed rows in the ledger, as in final.json
    final_problem: str | None = None  # why final.json is not believed
    ledger: LedgerFacts | None = None
    description: "Description | None" = None  # what its model says about itself
    path: str = "RUN"  # as a command names it
    in_python: bool = False  # whether there is no RUN, but a model or a study in Python

    @property
    def findings(self) -> tuple[Record, ...]:
        """What ``look`` found in the data: the code, columns, severity and text of each.

        Of a seal, it was found before its rows were sealed.
        """
        return tuple(self.run.get("findings") or ())

    def command(self, verb: str, *words: str) -> str:
        """``likely VERB DATA WORDS``, with the target, unless the data have their own.

        Commands that score models hold rows out and weight them as this run did.
        """
        seal, data = self.run.get("seal"), self.run.get("data") or {}
        name = str(seal["path"] if seal and seal.get("path") else data.get("name", "DATA"))
        target = self.run.get("target")
        options = [] if seal or target is None else ["--target", str(target)]
        known = {**self.run, **(self.run.get("roles") or {})}
        for key in HELD_OUT_BY if verb in SCORING else ():
            if known.get(key) is not None:
                options += [f"--{key.replace('_', '-')}", str(known[key])]
        for option, key in DECLARED.items() if verb in SCORING and not seal else ():
            options += [word for name in known.get(key) or () for word in (option, str(name))]
        read = known.get("readings") or {} if not seal else {}
        for key in ("number", "date"):
            options += [word for each in read.get(key) or () for word in (f"--{key}", str(each))]
        return shlex.join(["likely", verb, name, *words, *options])


def read_run(
    folder: str | Path, *, run: Record | None = None, description: "Description | None" = None
) -> RunFacts:
    """The facts in a RUN folder; ``run`` and ``description`` may have been read already."""
    held = RunFolder(Path(folder))
    run = run or held.facts()
    if run is None:
        raise InvalidInput(
            f"{folder} has no {FACTS}; a report needs the facts of a run. Give a folder that "
            "likely train wrote, not a model file."
        )
    place, known = held.path, run.get("seal")
    seal = place_of_seal(place, known) if known and known.get("path") else None
    places = (place,) if seal is None else (place, seal)
    beside = _comparisons_beside(place, run) if seal is None else []
    copy = held.final()  # before the ledger, which another process may add lines to
    ledger = None if seal is None else ledger_facts(seal, known or {})
    scored = sealed_score(run, copy, ledger, held.model_sha256())
    return RunFacts(
        name=place.name or str(place),
        run=run,
        look=held.look(),
        comparisons=joined_comparisons(*beside, *map(comparisons_in, places)),
        curves=joined_curves(*map(curves_in, places)),
        study=held.study_facts(),
        validation=held.validation(),
        effects=held.effects(),
        final=scored.record,
        final_problem=scored.problem,
        ledger=ledger,
        description=description,
        path=place.name if place.is_absolute() else str(place),
    )


def _comparisons_beside(place: Path, run: Record) -> list[tuple[Record, ...]]:
    """Those of other RUNs in the same folder, on the same rows with the same target and roles.

    ``likely compare`` saves to the newest one, and the report of each shows it.
    """
    about, own, found = _about(run), place.resolve(), []
    for file in sorted(own.parent.glob(f"*/{FACTS}")) if about[0] else ():
        with suppress(InvalidFile):  # of another run
            if file.parent != own and _about(_read_object(file) or {}) == about:
                found.append(comparisons_in(file.parent))
    return found


def _about(run: Record) -> tuple[object, ...]:
    """The hash of the data, the target, and the columns with roles."""
    return ((run.get("data") or {}).get("sha256"), run.get("target"), run.get("roles"))


# ── The score of a RUN on sealed rows, as the ledger of its seal records it ───────────────────────
# ``final.json`` is a copy for programs, and anyone can edit it.  What is shown is the line of the
# ledger that scores the run's model, found by the SHA-256 of the model file.  The copy must agree
# with it, and name a state of the ledger (``head``) that it has; otherwise that is a problem.

FINAL = "final.json"
OF_THE_CALL = ("head", "resumed")  # of one call of ``final``, and not of the score


class SealedScore(NamedTuple):
    """The score in the ledger, or None; and why ``final.json`` is not believed, if so."""

    record: Record | None
    problem: str | None = None


def sealed_score(
    run: Record, copy: Record | None, ledger: LedgerFacts | None, model_sha256: str | None
) -> SealedScore:
    """The score of a run on sealed rows; ``copy`` is the content of its ``final.json``, if any.

    ``model_sha256`` is of the file of its model as it is now, and not as ``run`` records it.
    """
    if ledger is None or not ledger.sound:
        return SealedScore(None, None if copy is None else _unchecked(run, ledger))
    try:
        evaluation = _evaluation_of(model_sha256, copy, ledger)
        record = None if evaluation is None else _record(evaluation, ledger)
    except (KeyError, TypeError, ValueError):  # a line that likely has not written
        return SealedScore(None, f"The ledger of {ledger.name} has a score that cannot be read.")
    if record is None:
        return SealedScore(None, None if copy is None else _not_in(ledger))
    return SealedScore(record, None if copy is None else _difference(copy, record, ledger))


def _unchecked(run: Record, ledger: LedgerFacts | None) -> str:
    if not run.get("seal"):
        return (
            f"{FINAL} holds a score of sealed rows, and {run.get('model', 'the model')} was not "
            "trained on a seal: the score is not shown."
        )
    why = "its seal was not found" if ledger is None else f"the ledger of {ledger.name} was changed"
    return f"{FINAL} holds a score of sealed rows that cannot be checked, because {why}."


def _not_in(ledger: LedgerFacts) -> str:
    return (
        f"{FINAL} holds a score that the ledger of {ledger.name} does not have for this model: it "
        "was changed or copied from another run, or the seal was replaced by an earlier copy. The "
        "score is not shown."
    )


def _evaluation_of(digest: str | None, copy: Record | None, ledger: LedgerFacts) -> Record | None:
    """The newest score of the run's model; without hashes in the ledger, one that equals a copy."""
    models = models_evaluated(ledger.entries)
    scores = {int(e["evaluation"]): e for e in ledger.entries if e["event"] == "score"}
    own = [k for k in scores if digest is not None and digest in (models.get(k) or ())]
    if own:
        score = scores[own[-1]]
        return {**score, "cv_estimate": _own_estimate(score, digest, copy, ledger)}
    number = None if copy is None else copy.get("evaluation")
    if copy is None or number not in scores or models.get(number, set()) is not None:
        return None
    same = not _changed_keys(copy, _record(scores[number], ledger))
    return scores[number] if same else None


def _own_estimate(
    score: Record, digest: str | None, copy: Record | None, ledger: LedgerFacts
) -> float | None:
    """The cross-validation estimate of the run: that of its copy, if the ledger has it.

    Another run may have an equal model file, and an estimate from other folds.
    """
    known = estimates_recorded(ledger.entries, int(score["evaluation"]), digest)
    given = (copy or {}).get("cv_estimate")
    return given if given in known else next(iter(known), score["cv_estimate"])


def _record(score: Record, ledger: LedgerFacts) -> Record:
    """The score as ``final.json`` has it, from its line in the ledger and the manifest."""
    head = hashes_of(ledger.entries, ledger.head)[int(score["n"])]
    recorded = {"budget": ledger.budget, "group": ledger.group, "head": head, "resumed": False}
    found: Record = json.loads(as_json(FinalScore.from_json({**score, **recorded}).to_json()))
    return found


def _changed_keys(copy: Record, record: Mapping[str, object]) -> list[str]:
    return [
        key
        for key, value in record.items()
        if key not in OF_THE_CALL and key in copy and copy[key] != value
    ]


def _difference(copy: Record, record: Record, ledger: LedgerFacts) -> str | None:
    changed = _changed_keys(copy, record)
    if changed:
        key = changed[0]
        return (
            f"{FINAL} was changed after it was written: its {key} is {copy[key]!r:.60}, and the "
            f"ledger of {ledger.name} has {record[key]!r:.60}. What is shown is from the ledger."
        )
    if copy.get("head") not in hashes_of(ledger.entries, ledger.head):
        return (
            f"{FINAL} records a line that the ledger of {ledger.name} does not have: the seal was "
            f"replaced by another copy, or {FINAL} was changed, so the number of evaluations is "
            "unknown."
        )
    return None
