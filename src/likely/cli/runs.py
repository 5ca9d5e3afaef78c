"""RUN folders: ``runs/NNN-model/`` with ``model.likely`` and ``run.json``.

A run is written beside its place and renamed when it is whole, so a RUN is never half there.
What a killed command left in ``runs/`` goes with the next one.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from likely.cli.answer import as_json
from likely.cli.exits import Exit, Refusal
from likely.errors import InvalidFile
from likely.files import folder_made_whole, make_folder, sweep, write_atomically
from likely.names import MODEL_FILE

if TYPE_CHECKING:
    from likely.sealing.folder import SealFolder

RUNS = Path("runs")
RUN_FILE = "run.json"
COMPARISON, CURVE = "comparison.json", "curve.json"
STUDY_FOLDER, COMMAND_FILE = "study", "command.txt"  # of a search, inside of its RUN
LAST = "@last"


class Run(NamedTuple):
    """A trained model and how it came about."""

    path: Path
    model: Any
    facts: Mapping[str, Any]  # what run.json says; empty for a bare model file


@dataclass
class Place:
    """Where a RUN is written, and where it is found once it is whole."""

    draft: Path
    path: Path


@contextmanager
def place_for_run(model: str, wanted: str | None) -> Iterator[Place]:
    """A folder to write to, which becomes the RUN; removed again if the work fails.

    A number is taken at the end, so that two commands at once leave two runs.
    """
    path = RUNS / f"{next_number():03d}-{model}" if wanted is None else Path(wanted)
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise Refusal(
            f"{path} exists and is not an empty folder; a RUN is written to a new one. "
            "Name another folder, or remove it.",
            Exit.DATA,
            "likely train --help",
        )
    new_parent = not path.parent.exists()
    place = Place(path, path)
    sweep(make_folder(path.parent))

    def settled() -> Path:
        if wanted is None:
            place.path = RUNS / f"{next_number():03d}-{model}"
        elif place.path.is_dir():
            place.path.rmdir()  # empty, as checked
        return place.path

    try:
        with folder_made_whole(path, settled=settled) as place.draft:
            yield place
    finally:
        if new_parent:
            with suppress(OSError):  # it is no longer empty
                path.parent.rmdir()


def write_run(folder: Path, model: Any, facts: Mapping[str, Any]) -> None:
    """The model and its facts; a folder with a model is a whole RUN, so it comes last."""
    from hashlib import sha256

    from likely.persist import model_bytes

    content = model_bytes(model)
    known = {**facts, "model_sha256": sha256(content).hexdigest()}
    write_atomically(folder / RUN_FILE, (as_json(known) + "\n").encode())
    write_atomically(folder / MODEL_FILE, content)


def seal_facts(seal: "SealFolder") -> dict[str, Any]:
    """What a RUN keeps of the seal it was trained on, so that a cut ledger shows."""
    from likely.sealing.ledger import MANIFEST

    seal.check()
    manifest = seal.manifest
    verdict = seal.ledger.verdict(manifest.files)
    return {
        "path": str(seal.path),
        "name": seal.path.name,
        "manifest": _sha256(seal.path / MANIFEST),
        "looks": seal.looks(),
        "budget": manifest.budget,
        "judge": manifest.judge,
        "rows": manifest.n_test,
        "count": verdict.lines,
        "head": verdict.head,
    }


def seal_of(run: Run) -> "SealFolder | None":
    """The seal that a run was trained on: where it was, or by its hash, in this folder."""
    from likely.sealing.folder import SealFolder, seals_in
    from likely.sealing.ledger import MANIFEST

    told = run.facts.get("seal")
    if not told:
        return None
    places = (Path(told["path"]), run.path.parent / told["path"], run.path / told["path"])
    near = seals_in([Path(), run.path.parent, run.path.parent.parent])
    for path in (*places, *(seal.path for seal in near)):
        if (path / MANIFEST).is_file() and _sha256(path / MANIFEST) == told["manifest"]:
            return SealFolder(path)
    if any((path / MANIFEST).is_file() for path in places):
        raise Refusal(
            f"{run.path} was trained on {told['name']}, whose manifest is not the one that was "
            "written then. Put it back as it was, or seal the data again and train on that.",
            Exit.CHECK,
            f"likely ledger verify {told['name']}",
        )
    raise Refusal(
        f"{run.path} was trained on {told['name']}, which is not here. Go to the folder where it "
        "is, or put it back.",
        Exit.DATA,
        f"likely ledger verify {told['name']}",
    )


def kept_beside(seal: "SealFolder") -> dict[str, bytes]:
    """The comparisons and curves that a seal has kept, by the name of their file."""
    paths = (seal.path / name for name in (COMPARISON, CURVE))
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def is_whole(run: Run) -> bool:
    """Whether the model is the one that ``run.json`` was written with."""
    known = run.facts.get("model_sha256")
    return known is None or _sha256(run.path / MODEL_FILE) == known


def _sha256(path: Path) -> str:
    from likely.data.digest import digest_of_file

    return digest_of_file(path)


def open_run(name: str) -> Run:
    """The run called that: a folder, ``@last``, or a model file."""
    from likely.persist import load

    path = _last() if name == LAST else Path(name)
    if not path.exists() and (RUNS / name).is_dir():
        path = RUNS / name
    if path.is_file():
        return Run(path, load(path), {})
    if not (path / MODEL_FILE).is_file():
        _refuse_missing(path)
    return Run(path, load(path / MODEL_FILE), _facts(path / RUN_FILE))


def versions() -> dict[str, str]:
    """Of everything a result may depend on."""
    import platform
    from importlib.metadata import version

    import likely

    packages = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow")
    found = {package: version(package) for package in packages}
    return {"likely": likely.__version__, "python": platform.python_version(), **found}


def _facts(path: Path) -> Mapping[str, Any]:
    try:
        facts: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidFile(
            path, f"it cannot be read as JSON ({error}). Train the model again."
        ) from None
    return facts


def _numbered() -> list[tuple[int, Path]]:
    if not RUNS.is_dir():
        return []
    found = ((re.match(r"(\d{3,})-", path.name), path) for path in RUNS.iterdir())
    return sorted((int(match.group(1)), path) for match, path in found if match)


def next_number() -> int:
    return max((number for number, _ in _numbered()), default=0) + 1


def whole_runs() -> list[Path]:
    """The RUNs of this folder that have a model, the newest last."""
    return [path for _, path in _numbered() if (path / MODEL_FILE).is_file()]


def _last() -> Path:
    whole = whole_runs()
    if not whole:
        raise Refusal(
            f"There is no run in {RUNS}/ yet, so {LAST} names nothing. Train a model first, or "
            "go to the folder where you did.",
            Exit.DATA,
            "likely train iris naive-bayes",
        )
    return whole[-1]


def refuse_an_older_last(path: Path) -> None:
    """``@last`` is the newest whole run: not to be taken for a newer one that is unfinished."""
    newer = [each for _, each in _numbered() if each.name > path.name]
    if newer:
        raise Refusal(
            f"{newer[-1]} is newer than {path} and not finished, so that {LAST} may not be the run "
            "that you mean; a look is not to be spent on another. Name the run, or finish the "
            "newer one.",
            Exit.DATA,
            f"likely final {path}",
        )


def forget_empty(folder: Path) -> None:
    """Remove ``runs/`` again where nothing came of the first of its runs."""
    if folder == RUNS:
        with suppress(OSError):  # it is not empty
            folder.rmdir()


def note_search(path: Path, command: str) -> None:
    """Keep the command of a search in its RUN, which has no model until the search is over."""
    file = make_folder(path / STUDY_FOLDER) / COMMAND_FILE
    if not file.exists():
        words = shlex.split(command)
        words += [] if "-o" in words else ["-o", str(path)]
        write_atomically(file, (shlex.join(words) + "\n").encode())


def unfinished_search(path: Path) -> str | None:
    """The command that goes on with the search of a RUN that has no model yet; None without one."""
    folder = path / STUDY_FOLDER
    if not folder.is_dir() or (path / MODEL_FILE).is_file():
        return None
    try:
        return (folder / COMMAND_FILE).read_text(encoding="utf-8").strip()
    except OSError:  # of an earlier version
        return f"likely tune DATA MODEL -o {shlex.quote(str(path))}"


def _refuse_missing(path: Path) -> None:
    going_on = unfinished_search(path)
    if going_on is not None:
        raise Refusal(
            f"The search in {path} is not finished, so that it has no model yet; a RUN with "
            f"{MODEL_FILE} was expected. Go on with it: every trial so far is kept.",
            Exit.DATA,
            going_on,
        )
    known = [str(place) for _, place in _numbered()]
    close = get_close_matches(str(path), known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise Refusal(
        f"There is no run {str(path)!r}: a folder with {MODEL_FILE} was expected. Give a folder "
        f"that likely train wrote, or {LAST}.{hint}",
        Exit.DATA,
        f"likely explain {close[0] if close else LAST}",
    )
