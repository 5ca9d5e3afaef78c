"""RUN folders: ``runs/NNN-model/`` with ``model.likely`` and ``run.json``.

A run is written beside its place and renamed when it is whole, so a RUN is never half there.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from likely.cli.answer import as_json
from likely.cli.exits import Exit, Refusal
from likely.errors import InvalidFile
from likely.files import draft_of, lock

if TYPE_CHECKING:
    from likely.sealing.folder import SealFolder

RUNS = Path("runs")
MODEL_FILE = "model.likely"
RUN_FILE = "run.json"
COMPARISON, CURVE = "comparison.json", "curve.json"
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
    place = Place(draft_of(path), path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        place.draft.mkdir()
    except OSError as error:
        raise Refusal(
            f"The folder {path.parent} cannot be written to ({error.strerror}); a RUN is saved "
            "there. Choose another with -o FOLDER, or change its permissions.",
            Exit.DATA,
            "likely train --help",
        ) from None
    try:
        yield place
        _settle(place, model if wanted is None else None)
    finally:
        shutil.rmtree(place.draft, ignore_errors=True)
        if new_parent and not any(path.parent.iterdir()):
            path.parent.rmdir()


def _settle(place: Place, numbered: str | None) -> None:
    """The draft under its own name; of two at once, one waits."""
    with lock(place.path.parent):
        if numbered is not None:
            place.path = RUNS / f"{next_number():03d}-{numbered}"
        if place.path.is_dir():
            place.path.rmdir()  # empty, as checked
        place.draft.rename(place.path)


def write_run(folder: Path, model: Any, facts: Mapping[str, Any]) -> None:
    """The model and its facts; a folder with a model is a whole RUN, so it comes last."""
    from likely.files import write_atomically
    from likely.persist import save

    draft = folder / f".{MODEL_FILE}.part"
    save(model, draft)
    known = {**facts, "model_sha256": _sha256(draft)}
    write_atomically(folder / RUN_FILE, (as_json(known) + "\n").encode())
    draft.rename(folder / MODEL_FILE)


def seal_facts(seal: "SealFolder") -> dict[str, Any]:
    """What a RUN keeps of the seal it was trained on, so that a cut ledger shows."""
    from likely.sealing.ledger import MANIFEST

    seal.check()
    verdict, manifest = seal.ledger.verdict(), seal.manifest
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
    raise Refusal(
        f"{run.path} was trained on {told['name']}, which is not here as it was written. Go to the "
        "folder where it is, or put it back.",
        Exit.DATA,
        f"likely ledger verify {told['name']}",
    )


def keep_beside_seal(seal: str, name: str, facts: Any) -> tuple[Path, ...]:
    """The newest comparison or curve on a seal, in its folder, for the runs that follow.

    A seal that cannot be written to can still be compared on; then nothing is kept.
    """
    from likely.errors import CannotWrite
    from likely.files import write_atomically

    path = Path(seal, name)
    try:
        write_atomically(path, (as_json(facts) + "\n").encode())
    except CannotWrite:
        return ()
    return (path,)


def kept_beside(seal: "SealFolder") -> dict[str, bytes]:
    """What ``keep_beside_seal`` wrote, by name."""
    paths = (seal.path / name for name in (COMPARISON, CURVE))
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def is_whole(run: Run) -> bool:
    """Whether the model is the one that ``run.json`` was written with."""
    known = run.facts.get("model_sha256")
    return known is None or _sha256(run.path / MODEL_FILE) == known


def _sha256(path: Path) -> str:
    from likely.sealing.manifest import sha256_of_file

    return sha256_of_file(path)


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


def _last() -> Path:
    whole = [path for _, path in _numbered() if (path / MODEL_FILE).is_file()]
    if not whole:
        raise Refusal(
            f"There is no run in {RUNS}/ yet, so {LAST} names nothing. Train a model first, or "
            "go to the folder where you did.",
            Exit.DATA,
            "likely train iris naive-bayes",
        )
    return whole[-1]


def _refuse_missing(path: Path) -> None:
    known = [str(place) for _, place in _numbered()]
    close = get_close_matches(str(path), known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise Refusal(
        f"There is no run {str(path)!r}: a folder with {MODEL_FILE} was expected. Give a folder "
        f"that likely train wrote, or {LAST}.{hint}",
        Exit.DATA,
        f"likely explain {close[0] if close else LAST}",
    )
