"""The seal that a RUN was trained on: what the RUN keeps of it, and how it is found again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from likely.errors import BrokenLedger, UnusableRun
from likely.runs.records import Record

if TYPE_CHECKING:
    from likely.runs.catalogue import Run
    from likely.sealing.folder import SealFolder


@final
@dataclass(frozen=True)
class LedgerFacts:
    """The ledger of the seal that a run came from, and whether it is as it was written."""

    name: str
    sound: bool
    problems: tuple[str, ...]
    entries: tuple[Record, ...]
    head: str
    budget: int
    judge: str
    n_test: int

    @property
    def evaluations(self) -> int:
        return sum(entry["event"] == "commit" for entry in self.entries)


def seal_facts(seal: "SealFolder") -> dict[str, Any]:
    """The facts of its seal that a RUN keeps, so that a shortened ledger is noticed."""
    from likely.data.arrow import digest_of_file
    from likely.sealing.ledger import MANIFEST

    seal.check()
    manifest = seal.manifest
    verdict = seal.ledger.verdict(manifest.files)
    return {
        "path": str(seal.path),
        "name": seal.path.name,
        "manifest": digest_of_file(seal.path / MANIFEST),
        "evaluations": seal.evaluations(),
        "budget": manifest.budget,
        "judge": manifest.judge,
        "rows": manifest.n_test,
        "count": verdict.lines,
        "head": verdict.head,
    }


def seal_of(run: "Run") -> "SealFolder | None":
    """The seal that a run was trained on: where it was, or by its hash, in this folder."""
    from likely.data.arrow import digest_of_file
    from likely.sealing.folder import SealFolder, seals_in
    from likely.sealing.ledger import MANIFEST

    known = run.facts.get("seal")
    if not known:
        return None
    places = (Path(known["path"]), run.path.parent / known["path"], run.path / known["path"])
    near = seals_in([Path(), run.path.parent, run.path.parent.parent])
    for path in (*places, *(seal.path for seal in near)):
        if (path / MANIFEST).is_file() and digest_of_file(path / MANIFEST) == known["manifest"]:
            return SealFolder(path)
    for path in places:
        if (path / MANIFEST).is_file():
            raise BrokenLedger(
                path,
                f"its manifest is not the one that was there when {run.path} was trained on it. "
                "Put it back as it was, or seal the data again and train on that.",
            )
    raise UnusableRun(
        f"{run.path} was trained on {known['name']}, which is not here. Go to the folder where it "
        "is, or put it back.",
        next=f"likely ledger verify {known['name']}",
    )


def folder_of_seal(place: Path, run: Record) -> Path | None:
    """The sealed folder that the facts of a run name, where it still is, whatever it holds now."""
    known = run.get("seal")
    if not known or not known.get("path"):
        return None
    given = Path(known["path"])
    near = (place, place.parent, place.parent.parent)
    places = (given, *(folder / given.name for folder in near))
    return next((path for path in places if path.is_dir()), None)


def ledger_facts(path: Path, known: Record) -> LedgerFacts:
    """The ledger as it is now; ``known`` is what the run has kept of the seal."""
    from likely.sealing.folder import SealFolder

    folder = SealFolder(path)
    verdict = folder.ledger.verdict()
    try:
        manifest = folder.manifest
        entries = tuple(folder.ledger.entries()) if verdict.sound else ()
    except BrokenLedger as error:
        return LedgerFacts(path.name, False, (str(error),), (), verdict.head, 0, "", 0)
    problems = verdict.problems or _cut(known, entries, verdict.head)
    return LedgerFacts(
        path.name,
        not problems,
        problems,
        entries,
        verdict.head,
        manifest.budget,
        manifest.judge,
        manifest.n_test,
    )


def _cut(known: Record, entries: Sequence[Record], head: str) -> tuple[str, ...]:
    """Whether the ledger still goes on from the line that the run has written down."""
    count = known.get("count")
    if count is None or known.get("head") is None:
        return ()
    if count > len(entries):
        return (f"The run has seen {count} lines, and the ledger has {len(entries)}.",)
    then = head if count == len(entries) else entries[count]["previous"]
    if then != known["head"]:
        return (f"Line {count - 1} of the ledger is not the one that the run has seen.",)
    return ()
