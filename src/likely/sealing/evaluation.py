"""An evaluation: predictions are recorded first, and only then the labels are read.

    predictions computed and hashed → commit (uses one evaluation) → labels read → score

Each step is on disk before the next begins.  After a crash following the commit, the
predictions remain in the folder; the next call scores them, without another evaluation.  The same
predictions are never counted twice.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.arrow import values_of
from likely.data.copies import copies_in_table
from likely.data.near_copies import units_in_table
from likely.errors import BrokenLedger, HonestyRefusal, InvalidInput, LikelyError
from likely.names import in_words
from likely.numerics.intervals import Estimate, n_groups_of
from likely.sealing.final_score import REQUIRED, FinalScore, Predictions, Scorer, keys_missing
from likely.sealing.fingerprints import row_fingerprints
from likely.sealing.folder import SealFolder, copies_near, opened, predictions_digest
from likely.sealing.judges import JUDGES, LossEvidence, Submission
from likely.sealing.ledger import Entry, estimates_recorded
from likely.sealing.manifest import canonical
from likely.storage.files import lock
from likely.storage.json import plain

ERROR_RATE = 0.05  # of all intervals together, spread over them: 0.05/k at evaluation k
REASON_LENGTH = 3  # letters; less is not a reason
ScorerOfCommit = Callable[[Mapping[str, Any]], Scorer | None]  # None: someone's own scorer


@final
@dataclass(frozen=True, eq=False)
class _Request:
    """The submission of one call, and its predictions."""

    seal: SealFolder
    submission: Submission
    predictions: Predictions
    training: float | None  # the loss expected from the training part
    label_file: bytes  # unopened
    scorer_of_commit: ScorerOfCommit

    @property
    def scorer(self) -> Scorer:
        return self.submission.scorer


def evaluate(
    seal: SealFolder,
    submission: Submission,
    *,
    scorer_of_commit: ScorerOfCommit,
    again: str | None = None,
    escrow: str | Path | None = None,
) -> FinalScore:
    """Score a submission on the sealed rows.

    ``scorer_of_commit`` makes the scorer of an interrupted evaluation from its ``described()``.
    Raises ``HonestyRefusal`` when the model was trained on other rows, or when the budget is
    used up and no reason (``again``) was given; the ledger records both.
    """
    seal.check()
    _refuse_used_copy(seal)
    check_reason(again)
    label_file = seal.label_file(escrow)
    predictions, training = submission.predicted(seal)
    request = _Request(seal, submission, predictions, training, label_file, scorer_of_commit)
    with lock(seal.path):
        return _answered(request, again)


def check_reason(again: str | None) -> None:
    """Refuse a reason for another evaluation that is none."""
    if again is not None and len(again.strip()) < REASON_LENGTH:
        raise InvalidInput(
            f"again={again!r} is not a reason; expected a sentence that explains why another "
            "evaluation is needed. It is kept in the ledger and shown in the report."
        )


def _refuse_used_copy(seal: SealFolder) -> None:
    """Refuse a copy of a seal, where another copy of it nearby has further evaluations."""
    for other in copies_near(seal):
        with suppress(BrokenLedger):  # its own problem
            theirs = [entry for entry in other.ledger.entries() if entry["event"] == "commit"]
            mine = seal.ledger.entries()
            if any(commit not in mine for commit in theirs):
                break
    else:
        return
    raise BrokenLedger(
        seal.path,
        f"{other.path} is a copy of it, and its ledger has evaluations that this one lacks. They "
        "are one seal with one budget: use that copy.",
    )


def _answered(request: _Request, again: str | None) -> FinalScore:
    """Under the lock: finish an interrupted evaluation, then use the ledger or evaluate."""
    ledger, model = request.seal.ledger, request.submission.model
    entries = _finished(request, ledger.recovered())
    known = _recorded(entries, request)
    if known is not None:
        _record_repeat(request, entries, int(known["evaluation"]))
        # equal predictions may be those of another run, whose estimate is not this one's
        own = {**known, "cv_estimate": request.submission.cv_estimate}
        return _final_score(request.seal, own, resumed=True, model=model)
    number = sum(entry["event"] == "commit" for entry in entries) + 1
    if number > request.seal.manifest.budget:
        _allow_another(request, entries, again, number)
    request.seal.keep_predictions(request.predictions)
    commit = ledger.add("commit", _commit_facts(request, number))
    score = _score(request.seal, request.scorer, request.predictions, commit, request.label_file)
    return _final_score(request.seal, score, resumed=False, model=model)


def _record_repeat(request: _Request, entries: Sequence[Entry], evaluation: int) -> None:
    """Record another model file with predictions that were evaluated: its score is the same.

    Its cross-validation estimate is its own.
    """
    digest, estimate = request.submission.model_sha256, request.submission.cv_estimate
    if digest is not None and estimate not in estimates_recorded(entries, evaluation, digest):
        facts = {"evaluation": evaluation, "model": request.submission.name}
        facts |= {"model_sha256": digest, "cv_estimate": estimate}
        request.seal.ledger.add("repeat", facts)


def _finished(request: _Request, entries: list[Entry]) -> list[Entry]:
    """The ledger, after an evaluation that was interrupted before its score has been finished."""
    commit = _open_commit(entries)
    if commit is None:
        return entries
    scorer = _scorer_of(commit, request)
    kept = request.seal.kept_predictions()
    found = [p for p in (kept, request.predictions) if p and _is_of(p, scorer, commit)]
    if not found:
        what = f"{commit['model']}, {in_words(commit['metric'])}"
        gone = "its predictions are missing" if kept is None else "this metric cannot score it"
        raise HonestyRefusal(
            f"Evaluation {commit['evaluation']} was committed ({what}) and not scored, and {gone}. "
            "Call final with that model and metric once more: this does not use another "
            "evaluation."
        )
    _score(request.seal, scorer, found[0], commit, request.label_file)
    return request.seal.ledger.entries()


def _scorer_of(commit: Entry, request: _Request) -> Scorer:
    """The scorer that a commit describes; the one given now, if it is the same."""
    described = commit["scorer"]
    if canonical(request.scorer.described()) == canonical(described):
        return request.scorer
    return request.scorer_of_commit(described) or request.scorer


def _is_of(predictions: Predictions, scorer: Scorer, commit: Entry) -> bool:
    same = predictions_digest(predictions) == commit["predictions"]
    return same and scorer.name == commit["metric"]


def _allow_another(
    request: _Request, entries: Sequence[Entry], again: str | None, number: int
) -> None:
    """Beyond the budget: record the reason in the ledger, or the refusal if there is none."""
    ledger, budget = request.seal.ledger, request.seal.manifest.budget
    if again is not None:
        facts = {"evaluation": number, "reason": again.strip()}
        known = ({key: entry.get(key) for key in facts} for entry in entries)
        if facts not in known:  # else a call that was interrupted before its commit
            ledger.add("again", facts)
        return
    ledger.add("refused", {"command": "final", "evaluation": number, "reason": "budget"})
    scores = [entry for entry in entries if entry["event"] == "score"]
    last = (
        f" The last gave {in_words(scores[-1]['metric'])} {scores[-1]['value']:.4g}."
        if scores
        else ""
    )
    raise HonestyRefusal(
        f"{request.seal.path.name} allows {budget} evaluation{'' if budget == 1 else 's'}, and "
        f"{number - 1} {'was' if number == 2 else 'were'} used.{last} Each further evaluation "
        "makes the score more optimistic. Choose between models by cross-validation on the "
        "training part; or give the reason (again=..., --again REASON), which the ledger keeps."
    )


def _commit_facts(request: _Request, number: int) -> dict[str, Any]:
    return {
        "evaluation": number,
        "metric": request.scorer.name,
        "model": request.submission.name,
        "model_sha256": request.submission.model_sha256,
        "predictions": predictions_digest(request.predictions),
        "cv_estimate": request.submission.cv_estimate,
        "scorer": dict(request.scorer.described()),
        "training": request.training,
        **request.submission.facts(),
    }


def _score(
    seal: SealFolder, scorer: Scorer, predictions: Predictions, commit: Entry, label_file: bytes
) -> Entry:
    """Read the labels, and record what the judge reveals."""
    facts, failure = _judged(seal, scorer, predictions, commit, label_file)
    if failure is not None:  # raised here, where no frame of the traceback holds a label
        if not issubclass(failure, Exception):
            raise failure  # Ctrl-C
        raise LikelyError(
            f"Evaluation {commit['evaluation']} is committed and could not be scored: "
            f"{failure.__name__} in the scorer of {scorer.name!r}. Once that is fixed, call final "
            "again: it does not use another evaluation."
        )
    missing = keys_missing(facts)
    if missing:
        raise LikelyError(
            f"Evaluation {commit['evaluation']} is committed and could not be scored: the score of "
            f"{scorer.name!r} lacks {', '.join(missing)}; expected {', '.join(REQUIRED)} (two "
            "ends). Once that is fixed, call final again: it does not use another evaluation."
        )
    entry = seal.ledger.add("score", facts)
    seal.forget_predictions()
    return entry


def _judged(
    seal: SealFolder, scorer: Scorer, predictions: Predictions, commit: Entry, label_file: bytes
) -> tuple[dict[str, Any], type[BaseException] | None]:
    """The facts of a score, or the kind of error: labels do not leave this call."""
    try:
        y = values_of(opened(label_file, seal.path))
        return _facts_of_score(seal, scorer, predictions, commit, y, label_file), None
    except BaseException as error:
        return {}, type(error)


def _facts_of_score(
    seal: SealFolder,
    scorer: Scorer,
    predictions: Predictions,
    commit: Entry,
    y: Array,
    label_file: bytes,
) -> dict[str, Any]:
    manifest, groups = seal.manifest, _groups(seal)
    judge, level = JUDGES[manifest.judge], 1 - ERROR_RATE / int(commit["evaluation"])
    y_train = values_of(seal.train.column(manifest.target))
    known = {
        "evaluation": int(commit["evaluation"]),
        "metric": scorer.name,
        "judge": manifest.judge,
        "rows": len(y),
        "groups": None if groups is None else n_groups_of(groups),
        "level": level,
        "cv_estimate": commit["cv_estimate"],
        "note": commit.get("note", ""),
        "of_this_model": True,
    }
    if judge is None:
        exact = scorer.score(predictions, y, y_train=y_train, level=level, groups=groups)
        return known | plain(exact)
    seed = sha256(label_file + commit["predictions"].encode()).digest()
    evidence = LossEvidence(
        losses=scorer.losses(predictions, y),
        constant=scorer.constant_loss(y_train),
        training=commit["training"],
        best=_best_so_far(seal, scorer.name),
        level=level,
        rng=np.random.default_rng(np.frombuffer(seed, dtype=np.uint32)),
        groups=groups,
    )
    ruling = judge.rule(evidence)
    revealed = Estimate(ruling.value, ruling.low, ruling.high, evidence.constant)
    note = " ".join(filter(None, [ruling.note, known["note"]]))
    ruled = {"note": note, "of_this_model": ruling.of_this_model}
    return known | plain(revealed.to_json()) | ruled


def _best_so_far(seal: SealFolder, metric: str) -> float | None:
    """The smallest loss that was revealed."""
    scores = (entry for entry in seal.ledger.entries() if entry["event"] == "score")
    return min((entry["value"] for entry in scores if entry["metric"] == metric), default=None)


def _groups(seal: SealFolder) -> Codes | None:
    """The group of each sealed row, as the split saw them, and copies of a row without groups.

    None where each sealed row counts.
    """
    manifest = seal.manifest
    if manifest.group is None:
        others = {*manifest.roles.values(), *manifest.dropped, *(manifest.identifiers or ())}
        names = [name for name in seal.features.column_names if name not in others]
        units = units_in_table if manifest.by_time is None else copies_in_table
        return units(seal.features, names, texts=manifest.texts or ())
    found = row_fingerprints(seal.features, [manifest.group], "")
    return np.unique(found, return_inverse=True)[1]


def _final_score(seal: SealFolder, score: Entry, *, resumed: bool, model: Any) -> FinalScore:
    manifest = seal.manifest
    recorded = {
        "budget": manifest.budget,
        "group": manifest.group,
        "head": seal.ledger.verdict({}).head,  # the files were checked before
        "resumed": resumed,
    }
    return FinalScore.from_json({**score, **recorded}, model)


def _recorded(entries: Sequence[Entry], request: _Request) -> Entry | None:
    """The existing score of the same predictions."""
    same = {
        entry["evaluation"]
        for entry in entries
        if entry["event"] == "commit" and _is_of(request.predictions, request.scorer, entry)
    }
    scores = [
        entry for entry in entries if entry["event"] == "score" and entry["evaluation"] in same
    ]
    return scores[0] if scores else None


def _open_commit(entries: Sequence[Entry]) -> Entry | None:
    """The commit that has no score: there is at most one, because they are made under a lock."""
    scored = {entry["evaluation"] for entry in entries if entry["event"] == "score"}
    commits = (entry for entry in entries if entry["event"] == "commit")
    return next((entry for entry in commits if entry["evaluation"] not in scored), None)
