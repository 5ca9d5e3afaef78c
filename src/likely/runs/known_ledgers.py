"""What the RUNs know about the ledger of a seal: whether the seal is an earlier copy of itself.

Every RUN records the ledger at its training (``run.json``: count and head) and after its
evaluation (``final.json``: head).  The ledger only grows, so it must have each of these lines.  A
seal that was restored from a backup does not, and would give its budget a second time.

A seal that was made again from the same rows has another ledger.  Then the ledgers of the other
seals nearby, and the RUNs, know that the rows were evaluated: two seals are of the same rows if
their tables have the same hash, or if a tenth or more of the sealed rows of either are among those
of the other (``sealing.recognition``).  Another target is another question.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from likely.errors import BrokenLedger, HonestyRefusal, LikelyError
from likely.output.formatting import all_listed
from likely.runs.folder import RunFolder
from likely.runs.seals import is_the_one, ledger_cut, place_of_seal
from likely.workbench.comparison.records import Record

if TYPE_CHECKING:
    from likely.sealing.folder import SealFolder

RUNS = "runs"


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

    recorded = list(_known_runs(seal, runs))  # before the ledger, which others may add lines to
    entries, head = seal.ledger.history()
    hashes = hashes_of(entries, head)
    for known in recorded:
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
