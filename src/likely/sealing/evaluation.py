"""An evaluation: predictions are fixed, it is written down, and only then labels are opened.

    predictions computed and hashed → commit (one more is used) → labels opened → score

Each step is on disk before the next begins.  A process that dies after the commit leaves the
predictions beside it; the next call scores those, and uses no other evaluation.  The same
predictions are never charged twice.  The ledger calls an evaluation a look.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.arrow import values_of
from likely.data.frames import frame_of
from likely.errors import HonestyRefusal, InvalidInput, LikelyError
from likely.files import lock
from likely.intervals import Ends, n_groups_of
from likely.sealing.final_score import FinalScore
from likely.sealing.fingerprints import row_fingerprints
from likely.sealing.folder import TRAIN, SealFolder, opened, predictions_digest
from likely.sealing.judges import JUDGES, Evidence, Ruling
from likely.sealing.ledger import Entry
from likely.sealing.manifest import Manifest, canonical
from likely.sealing.scorer import Predictions, Scorer

if TYPE_CHECKING:
    import pyarrow as pa

ERROR_RATE = 0.05  # of all intervals together, spread over them: 0.05/k at evaluation k
REASON_LENGTH = 3  # letters; less is no reason
ScorerOfCommit = Callable[[Mapping[str, Any]], Scorer | None]  # None: someone's own scorer


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Submission:
    """A fitted model that is handed in to be scored, and how it is scored."""

    model: Any  # only the scorer looks at it
    name: str  # of the model, in one line, for the ledger
    columns: Sequence[str]  # that the model reads
    trained_on: str  # SHA-256 of the file of its training rows
    scorer: Scorer
    cv_estimate: float | None = None  # the loss that cross-validation led to expect


@final
@dataclass(frozen=True, eq=False)
class _Request:
    """The submission of one call, and its predictions."""

    seal: SealFolder
    submission: Submission
    predictions: Predictions
    training: float | None  # the score that the training part leads to expect
    label_file: bytes  # unopened
    scorer_of_commit: ScorerOfCommit

    @property
    def scorer(self) -> Scorer:
        return self.submission.scorer


def final_look(
    seal: SealFolder,
    submission: Submission,
    *,
    scorer_of_commit: ScorerOfCommit,
    again: str | None = None,
    escrow: str | Path | None = None,
) -> FinalScore:
    """Score a fitted model on the sealed rows.

    ``scorer_of_commit`` makes the scorer of an interrupted evaluation from its ``described()``.
    Raises ``HonestyRefusal`` when the model was trained on other rows, or when the budget is
    used up and there is no reason (``again``) to go on; the ledger remembers both.
    """
    seal.check()
    if again is not None and len(again.strip()) < REASON_LENGTH:
        raise InvalidInput(
            f"again={again!r} is not a reason; expected a sentence that explains why another "
            "evaluation is needed. It is kept in the ledger and shown in the report."
        )
    label_file = seal.label_file(escrow)
    _refuse_other_rows(seal, submission.trained_on)
    predictions, training = _predicted(seal, submission)
    request = _Request(seal, submission, predictions, training, label_file, scorer_of_commit)
    with lock(seal.path):
        return _answered(request, again)


def _predicted(seal: SealFolder, submission: Submission) -> tuple[Predictions, float | None]:
    """Predictions, before any label is opened, and the loss that the training part suggests."""
    manifest, training = seal.manifest, submission.cv_estimate
    predictions = _predictions(submission, seal.features(), manifest)
    if not JUDGES[manifest.judge].exact and training is None:
        train = seal.train()
        on_train = _predictions(submission, train, manifest)
        y = values_of(train.column(manifest.target))
        training = float(submission.scorer.losses(on_train, y).mean())
    return predictions, training


def _predictions(submission: Submission, rows: "pa.Table", manifest: Manifest) -> Predictions:
    X = frame_of(rows.select(list(submission.columns)), manifest.library)
    predictions = submission.scorer.predictions(submission.model, X)
    for name, array in predictions.items():
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise InvalidInput(
                f"{submission.name} predicts NaN ({name}); expected numbers. No evaluation was "
                "used. Check the model on a part of the training rows first."
            )
    return predictions


def _answered(request: _Request, again: str | None) -> FinalScore:
    """Under the lock: finish what was interrupted, then answer from the ledger or evaluate."""
    ledger, model = request.seal.ledger, request.submission.model
    entries = _finished(request, ledger.recovered())
    known = _recorded(entries, request)
    if known is not None:
        return _final_score(request.seal, known, resumed=True, model=model)
    look = sum(entry["event"] == "commit" for entry in entries) + 1
    if look > request.seal.manifest.budget:
        _allow_another(request, entries, again, look)
    request.seal.keep_predictions(request.predictions)
    commit = ledger.add("commit", _commit_facts(request, look))
    score = _score(request.seal, request.scorer, request.predictions, commit, request.label_file)
    return _final_score(request.seal, score, resumed=False, model=model)


def _finished(request: _Request, entries: list[Entry]) -> list[Entry]:
    """The ledger, after an evaluation that was interrupted before its score is finished."""
    commit = _open_commit(entries)
    if commit is None:
        return entries
    scorer = _scorer_of(commit, request)
    kept = request.seal.kept_predictions()
    found = [p for p in (kept, request.predictions) if p and _is_of(p, scorer, commit)]
    if not found:
        gone = "its predictions are gone" if kept is None else "this metric cannot score it"
        raise HonestyRefusal(
            f"Evaluation {commit['look']} was committed ({commit['model']}, {commit['metric']}) "
            f"and not scored, and {gone}. Call final with that model and metric once more: it "
            "costs no other evaluation."
        )
    _score(request.seal, scorer, found[0], commit, request.label_file)
    return request.seal.ledger.entries()


def _scorer_of(commit: Entry, request: _Request) -> Scorer:
    """The scorer that a commit describes; the one that was given now, where it is the same."""
    described = commit.get("scorer", {"name": commit["metric"]})
    if canonical(request.scorer.described()) == canonical(described):
        return request.scorer
    return request.scorer_of_commit(described) or request.scorer


def _is_of(predictions: Predictions, scorer: Scorer, commit: Entry) -> bool:
    same = predictions_digest(predictions) == commit["predictions"]
    return same and scorer.name == commit["metric"]


def _allow_another(
    request: _Request, entries: Sequence[Entry], again: str | None, look: int
) -> None:
    """Beyond the budget: a reason goes into the ledger, and so does its absence."""
    ledger, budget = request.seal.ledger, request.seal.manifest.budget
    if again is not None:
        ledger.add("again", {"look": look, "reason": again.strip()})
        return
    ledger.add("refused", {"doing": "final", "look": look, "why": "budget"})
    scores = [entry for entry in entries if entry["event"] == "score"]
    last = f" The last gave {scores[-1]['metric']} {scores[-1]['value']:.4g}." if scores else ""
    raise HonestyRefusal(
        f"{request.seal.path.name} allows {budget} evaluation{'' if budget == 1 else 's'}, and "
        f"{look - 1} {'was' if look == 2 else 'were'} used.{last} Each further evaluation makes "
        "the score more optimistic. Choose between models by cross-validation on the training "
        "part; or give the reason (again=..., --again REASON), which the ledger keeps."
    )


def _refuse_other_rows(seal: SealFolder, trained_on: str) -> None:
    if trained_on == seal.manifest.files[TRAIN]:
        return
    with lock(seal.path):
        seal.ledger.add("refused", {"doing": "final", "why": "other training rows"})
    raise HonestyRefusal(
        f"The model was not trained on the training part of {seal.path.name}: its data have "
        f"SHA-256 {trained_on[:12]}…, expected {seal.manifest.files[TRAIN][:12]}…. It may have "
        f"seen sealed rows. Train it on {seal.path.name}, and call final again."
    )


def _commit_facts(request: _Request, look: int) -> dict[str, Any]:
    return {
        "look": look,
        "metric": request.scorer.name,
        "model": request.submission.name,
        "predictions": predictions_digest(request.predictions),
        "promised": request.submission.cv_estimate,
        "scorer": dict(request.scorer.described()),
        "training": request.training,
    }


def _score(
    seal: SealFolder, scorer: Scorer, predictions: Predictions, commit: Entry, label_file: bytes
) -> Entry:
    """Open the labels, and write down what the judge reveals."""
    facts, failure = _judged(seal, scorer, predictions, commit, label_file)
    if failure is not None:  # raised here, where no frame of the traceback holds a label
        if not issubclass(failure, Exception):
            raise failure  # Ctrl-C
        raise LikelyError(
            f"Evaluation {commit['look']} is committed and could not be scored: "
            f"{failure.__name__} in the scorer of {scorer.name!r}. Once that is fixed, call final "
            "again: it does not use another evaluation."
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
    manifest, judge = seal.manifest, JUDGES[seal.manifest.judge]
    y_train = values_of(seal.train().column(manifest.target))
    on_train = float(scorer.constant_losses(y_train, y_train).mean())
    losses, groups = scorer.losses(predictions, y), _groups(seal)
    seed = sha256(label_file + commit["predictions"].encode()).digest()
    evidence = Evidence(
        losses=losses,
        constant=on_train,
        training=commit["training"] if commit["training"] is not None else on_train,
        best=min(
            (
                entry["value"]
                for entry in seal.ledger.entries()
                if entry["event"] == "score" and entry["metric"] == scorer.name
            ),
            default=None,
        ),
        level=1 - ERROR_RATE / int(commit["look"]),
        rng=np.random.default_rng(np.frombuffer(seed, dtype=np.uint32)),
        interval=scorer.interval if groups is None else partial(scorer.interval, groups=groups),
        groups=groups,
    )
    facts: dict[str, Any] = {"constant": on_train, "extras": {}}
    if judge.exact:
        level = evidence.level
        extras = scorer.extras(predictions, y, level, y_train=y_train, groups=groups)
        constant = scorer.constant_losses(y_train, y)
        facts = {"extras": dict(extras), **_beside_constant(scorer, constant, evidence)}
    return facts | _facts_of_ruling(judge.rule(evidence), evidence, scorer.name, commit, manifest)


def _facts_of_ruling(
    ruling: Ruling, evidence: Evidence, metric: str, commit: Entry, manifest: Manifest
) -> dict[str, Any]:
    """The facts that every judge reveals."""
    groups = evidence.groups
    return {
        "look": int(commit["look"]),
        "metric": metric,
        "judge": manifest.judge,
        "rows": int(evidence.losses.size),
        **_as_json(ruling.value, (ruling.low, ruling.high)),
        "own": ruling.own,
        "level": evidence.level,
        "note": ruling.note,
        "promised": commit["promised"],
        **({} if groups is None else {"groups": n_groups_of(groups)}),
    }


def _beside_constant(scorer: Scorer, constant: Array, evidence: Evidence) -> dict[str, Any]:
    """The constant's score, and what the model gains over it row by row."""
    losses = evidence.losses
    ends = scorer.gain_interval(losses, constant, evidence.level, evidence.groups)
    gain = float((constant - losses).mean())
    return {"constant": float(constant.mean()), "gain": _as_json(gain, ends)}


def _groups(seal: SealFolder) -> Codes | None:
    """The group of each sealed row, as the split saw them; None where the seal has none."""
    group = seal.manifest.group
    if group is None:
        return None
    found = row_fingerprints(seal.features(), [group], "")
    return np.unique(found, return_inverse=True)[1]


def _as_json(value: float, ends: Ends) -> dict[str, float | None]:
    """A value and its interval as JSON, which has no infinity: an open end is null."""
    numbers = zip(("value", "low", "high"), (value, *ends), strict=True)
    return {name: number if isfinite(number) else None for name, number in numbers}


def _final_score(seal: SealFolder, score: Entry, *, resumed: bool, model: Any) -> FinalScore:
    fields = ("metric", "value", "level", "look", "judge", "constant")
    gain = score.get("gain") or {}  # ledgers of earlier versions have none
    return FinalScore(
        **{name: score[name] for name in fields},
        low=_end(score["low"], -inf),
        high=_end(score["high"], inf),
        gain=gain.get("value"),
        gain_low=_end(gain["low"], -inf) if gain else None,
        gain_high=_end(gain["high"], inf) if gain else None,
        group=seal.manifest.group if "groups" in score else None,
        n_groups=score.get("groups"),
        n_rows=score["rows"],
        budget=seal.manifest.budget,
        cv_estimate=score["promised"],
        note=score["note"],
        of_this_model=score.get("own", True),
        extras=score["extras"],
        resumed=resumed,
        head=seal.ledger.verdict().head,
        model=model,
    )


def _end(known: float | None, if_open: float) -> float:
    return if_open if known is None else known


def _recorded(entries: Sequence[Entry], request: _Request) -> Entry | None:
    """The score that the same predictions already have."""
    looks = {
        entry["look"]
        for entry in entries
        if entry["event"] == "commit" and _is_of(request.predictions, request.scorer, entry)
    }
    scores = [entry for entry in entries if entry["event"] == "score" and entry["look"] in looks]
    return scores[0] if scores else None


def _open_commit(entries: Sequence[Entry]) -> Entry | None:
    """The commit that has no score: there is at most one, because they are made under a lock."""
    scored = {entry["look"] for entry in entries if entry["event"] == "score"}
    commits = (entry for entry in entries if entry["event"] == "commit")
    return next((entry for entry in commits if entry["look"] not in scored), None)
