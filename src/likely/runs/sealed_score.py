"""The score of a RUN on sealed rows, as the ledger of its seal records it.

``final.json`` is a copy for programs, and anyone can edit it.  What is shown is the line of the
ledger that scores the run's model, found by the SHA-256 of the model file.  The copy must agree
with it, and name a state of the ledger (``head``) that it has; otherwise that is a problem.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from likely.json_files import as_json
from likely.runs.seals import LedgerFacts
from likely.sealing.final_score import FinalScore
from likely.sealing.ledger import hashes_of, models_evaluated
from likely.workbench.comparison.records import Record

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
        return scores[own[-1]]
    number = None if copy is None else copy.get("evaluation")
    if copy is None or number not in scores or models.get(number, set()) is not None:
        return None
    same = not _changed_keys(copy, _record(scores[number], ledger))
    return scores[number] if same else None


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
