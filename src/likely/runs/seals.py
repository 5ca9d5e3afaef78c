"""The seal that a RUN was trained on: what the RUN records about it, and how it is found again."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from likely.errors import BrokenLedger, HonestyRefusal, LikelyError, UnusableRun
from likely.output.formatting import all_listed
from likely.runs.folder import RunFolder
from likely.workbench.comparison.records import Record

if TYPE_CHECKING:
    from likely.runs.catalogue import Run
    from likely.sealing.folder import SealFolder

RUNS = "runs"


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
        entries = tuple(folder.ledger.entries()) if verdict.sound else ()
    except BrokenLedger as error:
        head = folder.ledger.verdict({}).head
        return LedgerFacts(path.name, False, (str(error),), (), head, 0, "", 0)
    problems = verdict.problems or _other(path, known) or ledger_cut(known, entries, verdict.head)
    return LedgerFacts(
        path.name,
        not problems,
        problems,
        entries,
        verdict.head,
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


class _KnownRun(NamedTuple):
    """A RUN that was trained on a seal."""

    path: Path
    run: Record
    seal: Record  # as the RUN recorded it
    final: Record | None


def refuse_used_rows(seal: "SealFolder", again: str | None, *runs: Path) -> None:
    """Refuse a seal of whose rows RUNs or other seals know evaluations that it does not know."""
    refuse_earlier_copy(seal, *runs)
    refuse_evaluated_rows(seal, again, *runs)


def refuse_earlier_copy(seal: "SealFolder", *runs: Path) -> None:
    """Refuse a seal whose ledger lacks a line that a RUN has recorded.

    ``runs`` are looked at, and all others in their folders and in ``runs/`` beside the seal.
    """
    from likely.sealing.ledger import hashes_of

    entries, head = seal.ledger.entries(), seal.ledger.verdict({}).head
    hashes = hashes_of(entries, head)
    for known in _known_runs(seal, runs):
        if not is_the_one(seal.path, known.seal):
            continue
        cut = ledger_cut(known.seal, entries, head)
        after = None if known.final is None else known.final.get("head")
        if cut or (after is not None and after not in hashes):
            when = "when it was trained" if cut else "after its evaluation"
            raise BrokenLedger(
                seal.path,
                f"{known.path} records a line of its ledger ({when}) that it does not have: it is "
                "an earlier copy, or lines were removed. Put the later one back; evaluations "
                "that were used cannot be used again.",
            )


def refuse_evaluated_rows(seal: "SealFolder", again: str | None, *runs: Path) -> None:
    """Refuse rows that were evaluated under another seal, unless a reason is given.

    The ledger records the refusal, or the reason.
    """
    from likely.sealing.evaluation import check_reason
    from likely.sealing.recognition import evaluations_used, log_event

    check_reason(again)
    others = evaluated_seals(seal, *runs)
    names = [f"{other.path.name} ({evaluations_used(other)})" for other in others]
    for known in evaluated_elsewhere(seal, *runs):
        if not any(is_the_one(other.path, known.seal) for other in others):
            names.append(str(known.path))
    if not names:
        return
    entries = seal.ledger.entries()
    if again is None:
        reason = "rows evaluated under another seal"
        log_event(seal, "refused", {"command": "final", "reason": reason})
        raise HonestyRefusal(
            f"The sealed rows of {seal.path.name}, or some of them, were evaluated before, under "
            f"another seal of the same rows: {all_listed(names)}. A further evaluation "
            "makes the score more optimistic. Choose between models by cross-validation on the "
            "training part; or give the reason (again=..., --again REASON), which the ledger keeps."
        )
    if not any(entry["event"] in ("again", "commit") for entry in entries):
        log_event(seal, "again", {"evaluation": 1, "reason": again.strip()})


def evaluated_seals(seal: "SealFolder", *runs: Path) -> list["SealFolder"]:
    """Other seals of the same rows and target that were evaluated.

    Those near this one, and those that RUNs were trained on.
    """
    from likely.sealing.folder import SealFolder, seals_near
    from likely.sealing.ledger import MANIFEST

    of_runs = [place_of_seal(known.path, known.seal) for known in _known_runs(seal, runs)]
    near = (other.path for other in seals_near(seal.path))
    given = (path for path in of_runs if path is not None and (path / MANIFEST).is_file())
    others = {path.resolve(): SealFolder(path) for path in (*near, *given)}
    content, found = (seal.path / MANIFEST).read_bytes(), []
    for other in others.values():
        with suppress(LikelyError):  # what cannot be read knows nothing
            copied = (other.path / MANIFEST).read_bytes() == content
            if not copied and other.evaluations() and _have_same_rows(seal, other):
                found.append(other)
    return found


def _have_same_rows(seal: "SealFolder", other: "SealFolder") -> bool:
    """Whether two seals are of one table and target, or have sealed rows in common."""
    from likely.sealing.bands import share_sealed_rows

    ours, theirs = seal.manifest, other.manifest
    if ours.target != theirs.target and (
        ours.data_sha256 == theirs.data_sha256 or theirs.target in seal.features.column_names
    ):
        return False  # another question about the rows
    return ours.data_sha256 == theirs.data_sha256 or share_sealed_rows(seal, other)


def evaluated_elsewhere(seal: "SealFolder", *runs: Path) -> list[_KnownRun]:
    """The RUNs that were evaluated on the same rows under another seal, which may be gone."""
    from likely.sealing.folder import TRAIN

    manifest = seal.manifest
    return [
        known
        for known in _known_runs(seal, runs)
        if known.final is not None
        and not is_the_one(seal.path, known.seal)
        and (
            (known.run.get("data") or {}).get("sha256") == manifest.files[TRAIN]
            or (known.seal.get("data_sha256"), known.run.get("target"))
            == (manifest.data_sha256, manifest.target)
        )
    ]


def _known_runs(seal: "SealFolder", runs: Iterable[Path]) -> Iterator[_KnownRun]:
    """The RUNs, those beside them and those beside the seal, if they were trained on a seal."""
    folders = [*(path.parent for path in runs), Path(RUNS), seal.path.parent / RUNS]
    found = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
    for path in {each.resolve(): each for each in (*runs, *found) if each.is_dir()}.values():
        with suppress(LikelyError):  # what cannot be read knows nothing
            folder = RunFolder(path)
            run = folder.facts() or {}
            if run.get("seal"):
                yield _KnownRun(path, run, run["seal"], folder.final())
