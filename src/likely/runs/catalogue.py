"""The RUNs of this folder: their numbers, new ones, ``@last``, and what was not finished.

A run is written under a temporary name and renamed when it is complete, so a RUN is never
incomplete.  Remains of a killed command in ``runs/`` are removed by the next one.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

from likely.errors import InvalidFile, UnusableRun
from likely.runs.folder import FACTS, RunFolder
from likely.sealing.folder import SUFFIX, is_seal
from likely.storage.files import folder_made_whole, make_folder, sweep
from likely.storage.values import MODEL_FILE

RUNS = Path("runs")
LAST = "@last"
NUMBERED = re.compile(r"(\d{3,})-")


class Run(NamedTuple):
    """A trained model and the facts of its training."""

    path: Path
    model: Any
    facts: Mapping[str, Any]  # what run.json holds; empty for a bare model file

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self.path)

    def is_as_written(self) -> bool:
        """Whether the model is the one that ``run.json`` was written with; not if it names none."""
        from likely.data.arrow import digest_of_file

        return digest_of_file(self.path / MODEL_FILE) == self.facts.get("model_sha256")


@dataclass
class RunPlace:
    """The temporary and the final path of a RUN."""

    draft: Path
    path: Path


@contextmanager
def new_run(model: str, given: str | None) -> Iterator[RunPlace]:
    """A folder to write to, which becomes the RUN; removed if the command fails.

    The number is assigned at the end, so that two commands at once make two runs.
    """
    path = _next_path(model) if given is None else Path(given)
    if not _is_free(path):
        raise UnusableRun(
            f"{path} exists and is not an empty folder; a RUN is written to a new one. "
            "Name another folder, or remove it.",
            next="likely train --help",
        )
    new_parent = not path.parent.exists()
    place = RunPlace(path, path)
    sweep(make_folder(path.parent))

    def final_path() -> Path:
        if given is None:
            place.path = _next_path(model)
        elif place.path.is_dir():
            place.path.rmdir()  # empty, as checked
        return place.path

    try:
        with folder_made_whole(path, final_path=final_path) as place.draft:
            yield place
    finally:
        if new_parent:
            with suppress(OSError):  # it is no longer empty
                path.parent.rmdir()


def run_for_search(model: str, given: str | None) -> RunFolder:
    """A RUN that does not exist yet, or one whose search is not finished."""
    place = RunFolder(_next_path(model) if given is None else Path(given))
    if place.has_study and place.is_whole:
        raise UnusableRun(
            f"The search in {place.path} has ended, and a run is never changed; a new folder, or "
            "one of an unfinished search, was expected. Leave -o out, and ask for more --trials.",
            next="likely tune --help",
        )
    if not place.has_study and not _is_free(place.path):
        raise UnusableRun(
            f"{place.path} exists and holds no search that could be resumed; a new folder, or one "
            "of an unfinished search, was expected. Name another.",
            next="likely tune --help",
        )
    return place


def discard(run: RunFolder) -> None:
    """Remove a RUN without a result, and ``runs/`` where it was the first."""
    rmtree(run.path, ignore_errors=True)
    if run.path.parent == RUNS:
        with suppress(OSError):  # it is not empty
            RUNS.rmdir()


def place_of_run(name: str) -> Path:
    """The path of a folder or a model file; ``@last`` is the newest RUN."""
    path = _last() if name == LAST else Path(name)
    return RUNS / name if not path.exists() and (RUNS / name).is_dir() else path


def open_run(name: str) -> Run:
    """The run with that name: a folder, ``@last``, or a model file."""
    from likely.storage.model_file import load

    path = place_of_run(name)
    if path.is_file():
        return Run(path, load(path), {})
    found = RunFolder(path)
    if not found.is_whole:
        _refuse_missing(found)
    facts = found.facts()
    if facts is None:
        raise InvalidFile(path / FACTS, "it is missing. Train the model again.")
    return Run(path, load(path), facts)


def is_run(name: str) -> bool:
    """Whether ``name`` is ``@last`` or a folder with a model."""
    return name == LAST or any(RunFolder(path).is_whole for path in (Path(name), RUNS / name))


def whole_runs() -> list[RunFolder]:
    """The RUNs of this folder that have a model, the newest last."""
    return [RunFolder(path) for _, path in _numbered() if RunFolder(path).is_whole]


def unfinished_searches(model: str) -> list[Path]:
    """The RUNs of a model whose search was stopped."""
    found = [path for _, path in _numbered() if NUMBERED.sub("", path.name) == model]
    return [path for path in found if RunFolder(path).command_of_search() is not None]


def newest_run_on(digest: str, target: str | None, model: str | None = None) -> Path | None:
    """The newest RUN on these data, by their hash; of one model, or of any."""
    for run in reversed(whole_runs()):
        facts = run.facts() or {}
        about = (facts.get("target"), (facts.get("data") or {}).get("sha256"))
        if about == (target, digest) and model in (None, facts.get("model")):
            return run.path
    return None


def refuse_an_older_last(path: Path) -> None:
    """The newest complete run, ``@last``; refused if a newer one has no model."""
    places = [each for _, each in _numbered()]
    newer = [RunFolder(each) for each in places[places.index(path) + 1 :]]
    if newer:
        unsaved = newer[-1].is_unsaved
        why = (
            "holds only a search, because its model cannot be saved" if unsaved else "not finished"
        )
        raise UnusableRun(
            f"{newer[-1].path} is newer than {path} and {why}, so {LAST} may not be the run that "
            "you mean; an evaluation of the sealed rows should not be used up by mistake. Name the "
            f"run{'' if unsaved else ', or finish the newer one'}.",
            next=f"likely final {path}",
        )


def _is_free(path: Path) -> bool:
    """Whether the path does not exist or is an empty folder."""
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))


def _numbered() -> list[tuple[int, Path]]:
    if not RUNS.is_dir():
        return []
    found = ((NUMBERED.match(path.name), path) for path in RUNS.iterdir())
    return sorted((int(match.group(1)), path) for match, path in found if match)


def _next_path(model: str) -> Path:
    number = max((number for number, _ in _numbered()), default=0) + 1
    return RUNS / f"{number:03d}-{model}"


def _train_first() -> str:
    """A command on the way to a run: with a seal of this folder, if there is one."""
    seals = sorted(path for path in Path().glob(f"*{SUFFIX}") if is_seal(path))
    if seals:
        return shlex.join(["likely", "compare", str(seals[0])])
    return "likely train FILE MODEL --target COL"


def _last() -> Path:
    trained = [path for _, path in _numbered() if RunFolder(path).is_reported]
    if not trained:
        raise UnusableRun(
            f"There is no run in {RUNS}/ yet, so there is no {LAST}. Train a model first, or "
            "go to the folder where you did.",
            next=_train_first(),
        )
    return trained[-1]


def _refuse_missing(run: RunFolder) -> None:
    going_on = run.command_of_search()
    if going_on is not None:
        raise UnusableRun(
            f"The search in {run.path} is not finished, so it has no model yet; a RUN with "
            f"{MODEL_FILE} was expected. Resume it: every trial so far was saved.",
            next=going_on,
        )
    if run.is_unsaved:
        what = "holds only scores" if run.is_reported else "holds only a search"
        raise UnusableRun(
            f"{run.path} {what}: its model belongs to another library and was not saved, because "
            f"skops is not installed. A RUN with {MODEL_FILE} was expected. Run: pip install "
            "skops, and train again; or fit the model in Python: sealed.final(model) scores it on "
            "sealed rows.",
            next=f"likely report {run.path}" if run.is_reported else "likely models",
        )
    if is_seal(run.path):
        raise UnusableRun(
            f"{run.path} is a SEAL; a RUN was expected: a folder with {MODEL_FILE}. Train a model "
            "on the seal, and give its RUN.",
            next=shlex.join(["likely", "compare", str(run.path)]),
        )
    whole = [str(place.path) for place in whole_runs()]
    close = get_close_matches(str(run.path), whole, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    newest = f", or {LAST}" if whole else ""
    raise UnusableRun(
        f"There is no run {str(run.path)!r}: a folder with {MODEL_FILE} was expected. Give a "
        f"folder that likely train wrote{newest}.{hint}",
        next=f"likely explain {close[0] if close else LAST}" if whole else _train_first(),
    )
