"""Records that grow: a list in a JSON file of a SEAL or a RUN, to which each command adds its own.

A folder that cannot be written to keeps nothing; the command still says what it found.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from likely.cli.answer import as_json
from likely.cli.runs import RUN_FILE, whole_runs


def keep_joined(folder: Path, file: str, joined: Callable[[], Sequence[Any]]) -> tuple[Path, ...]:
    """Write what ``joined`` makes of what is there; of two commands at once, one waits."""
    from likely.errors import CannotWrite
    from likely.files import lock, write_atomically

    path = folder / file
    try:
        with lock(folder):
            write_atomically(path, (as_json(list(joined())) + "\n").encode())
    except CannotWrite:
        return ()
    return (path,)


def run_of(digest: str, target: str, model: str | None = None) -> Path | None:
    """The newest RUN on these data, by their hash; of one model, or of any."""
    from likely.report.run_files import read_json

    for path in reversed(whole_runs()):
        facts = read_json(path / RUN_FILE) or {}
        asked = (facts.get("target"), (facts.get("data") or {}).get("sha256"))
        if asked == (target, digest) and model in (None, facts.get("model")):
            return path
    return None
