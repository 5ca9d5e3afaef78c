"""RUN folders: ``runs/NNN-model/`` with ``model.likely`` and ``run.json``.

A run is written beside its place and renamed when it is whole, so a RUN is never half there.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from likely.cli.answer import as_json
from likely.cli.exits import Exit, Refusal
from likely.errors import InvalidFile

RUNS = Path("runs")
MODEL_FILE = "model.likely"
RUN_FILE = "run.json"
LAST = "@last"


class Run(NamedTuple):
    """A trained model and how it came about."""

    path: Path
    model: Any
    facts: Mapping[str, Any]  # what run.json says; empty for a bare model file


@contextmanager
def place_for_run(model: str, wanted: str | None) -> Iterator[tuple[Path, Path]]:
    """A folder to write to and the RUN it becomes; removed again if the work fails."""
    place = RUNS / f"{_next_number():03d}-{model}" if wanted is None else Path(wanted)
    if place.exists() and not (place.is_dir() and not any(place.iterdir())):
        raise Refusal(
            f"{place} exists and is not an empty folder; a RUN is written to a new one. "
            "Name another folder, or remove it.",
            Exit.DATA,
            "likely train --help",
        )
    draft = place.with_name(f".{place.name}.{os.getpid()}.part")
    new_parent = not place.parent.exists()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft.mkdir()
    except OSError as error:
        raise Refusal(
            f"The folder {place.parent} cannot be written to ({error.strerror}); a RUN is saved "
            "there. Choose another with -o FOLDER, or change its permissions.",
            Exit.DATA,
            "likely train --help",
        ) from None
    try:
        yield draft, place
        if place.is_dir():
            place.rmdir()  # empty, as checked
        draft.rename(place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if new_parent and not any(place.parent.iterdir()):
            place.parent.rmdir()


def write_run(folder: Path, model: Any, facts: Mapping[str, Any]) -> None:
    from likely.persist import save

    save(model, folder / MODEL_FILE)
    (folder / RUN_FILE).write_text(as_json(facts) + "\n", encoding="utf-8")


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


def _next_number() -> int:
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
