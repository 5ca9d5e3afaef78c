"""The seal that a RUN was trained on: what the RUN records about it, and how it is found again."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from likely.errors import BrokenLedger, UnusableRun
from likely.workbench.comparison.records import Record

if TYPE_CHECKING:
    from likely.runs.catalogue import Run
    from likely.sealing.folder import SealFolder


@final
@dataclass(frozen=True)
class LedgerFacts:
    """The ledger of the seal that a run came from, and whether it was changed."""

    name: str
    sound: bool
    problems: tuple[str, ...]
    entries: tuple[Record, ...]
    head: str
    budget: int
    judge: str
    n_test: int
    group: str | None = None

    @property
    def evaluations(self) -> int:
        return sum(entry["event"] == "commit" for entry in self.entries)


def seal_facts(seal: "SealFolder") -> dict[str, Any]:
    """The facts of its seal that a RUN records, so that a shortened ledger is detected."""
    from likely.data.arrow import digest_of_file
    from likely.sealing.ledger import MANIFEST

    verdict, manifest = seal.check(), seal.manifest
    return {
        "path": str(seal.path),
        "name": seal.path.name,
        "manifest": digest_of_file(seal.path / MANIFEST),
        "data_sha256": manifest.data_sha256,
        "evaluations": seal.evaluations(),
        "budget": manifest.budget,
        "judge": manifest.judge,
        "rows": manifest.n_test,
        "count": verdict.lines,
        "head": verdict.head,
    }


def seal_of(run: "Run") -> "SealFolder | None":
    """The seal that a run was trained on, which must not have changed since."""
    from likely.sealing.folder import SealFolder, is_seal

    known = run.facts.get("seal")
    if not known:
        return None
    path = place_of_seal(run.path, known)
    if path is not None and is_the_one(path, known):
        return SealFolder(path)
    if path is not None and is_seal(path):
        raise BrokenLedger(
            path,
            f"its manifest was changed after {run.path} was trained on it. "
            "Restore it, or seal the data again and train on that.",
        )
    raise UnusableRun(
        f"{run.path} was trained on {known['name']}, which was not found. Go to the folder where "
        "it is, or put it back.",
        next=f"likely ledger verify {known['name']}",
    )


def place_of_seal(run: Path, known: Record) -> Path | None:
    """Where the seal of a run is: the folder with its manifest, also if it was moved nearby.

    If there is none, the folder with its name.
    """
    from likely.sealing.folder import SUFFIX

    given, near = Path(known["path"]), (Path(), run, run.parent, run.parent.parent)
    named = [given, *(folder / name for folder in near for name in (given, given.name))]
    others = (path for folder in near for path in sorted(folder.glob(f"*{SUFFIX}")))
    found = (path for path in chain(named, others) if is_the_one(path, known))
    return next(found, None) or next((path for path in named if path.is_dir()), None)


def is_the_one(path: Path, known: Record) -> bool:
    """Whether the folder has the manifest that the run was trained with."""
    from likely.data.arrow import digest_of_file
    from likely.sealing.ledger import MANIFEST

    file = path / MANIFEST
    return file.is_file() and digest_of_file(file) == known.get("manifest")


def ledger_facts(path: Path, known: Record) -> LedgerFacts:
    """The current ledger; ``known`` is what the run recorded about the seal."""
    from likely.sealing.folder import SealFolder

    folder = SealFolder(path)
    try:
        manifest = folder.manifest
        verdict = folder.ledger.verdict(manifest.files)
        entries, head = folder.ledger.history() if verdict.sound else ([], verdict.head)
    except BrokenLedger as error:
        head = folder.ledger.verdict({}).head
        return LedgerFacts(path.name, False, (str(error),), (), head, 0, "", 0)
    problems = verdict.problems or _other(path, known) or ledger_cut(known, entries, head)
    return LedgerFacts(
        path.name,
        not problems,
        problems,
        tuple(entries),
        head,
        manifest.budget,
        manifest.judge,
        manifest.n_test,
        manifest.group,
    )


def _other(path: Path, known: Record) -> tuple[str, ...]:
    """A problem, if the folder has another manifest than the one that the run was trained with."""
    if known.get("manifest") is None or is_the_one(path, known):
        return ()
    return ("Its manifest is not the one that the run was trained with: it is another seal.",)


def ledger_cut(known: Record, entries: Sequence[Record], head: str) -> tuple[str, ...]:
    """Problems, if the ledger does not continue from the line that the run recorded."""
    count = known.get("count")
    if count is None or known.get("head") is None:
        return (
            "The run does not record the ledger as it was (count, head): its facts were changed.",
        )
    if count > len(entries):
        return (
            f"The ledger had {count} lines when the run was trained, and now has {len(entries)}.",
        )
    then = head if count == len(entries) else entries[count]["previous"]
    if then != known["head"]:
        return (f"Line {count - 1} of the ledger was changed after the run was trained.",)
    return ()
