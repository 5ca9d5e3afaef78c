"""What is revealed of a score: all, or only what adaptive evaluations cannot use to overfit.

    plain         the score, with its interval
    ladder        the score in steps of η, and only when it is better than the best so far by η
    thresholdout  the training score while the sealed one agrees with it to about T;
                  else the sealed one with noise of scale σ

All scales are in units of c, the mean loss of the best constant on the training part, which
reveals nothing about the sealed rows: η = c / √n, T = 4c / √n, σ = c / 4√n.  Ladder and
thresholdout are proved for bounded losses, so under them a row counts for at most ``LARGEST`` c; an
interval then rests on the variance bound s² ≤ m (b − m) of losses in [0, b] with mean m, not on the
sealed rows.  Their exact score is never returned.

For a seal by group, n is n²/Σ n_g² throughout: the rows of a group may all be equal, and
measuring how similar they are would reveal information about the sealed labels.

References
----------
Blum & Hardt, The Ladder: a reliable leaderboard for machine learning competitions, ICML 2015.
Dwork, Feldman, Hardt, Pitassi, Reingold & Roth, The reusable holdout: preserving validity in
adaptive data analysis, Science 349 (2015), and its supplement, Thresholdout.
Bhatia & Davis, A better bound on the variance, Amer. Math. Monthly 107 (2000).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.arrow import values_of
from likely.data.frames import frame_of
from likely.errors import HonestyRefusal, InvalidInput
from likely.numerics.intervals import Ends, n_groups_of, rows_at_worst, wilson
from likely.output.formatting import short_number
from likely.sealing.final_score import Predictions, Scorer
from likely.sealing.folder import TRAIN, SealFolder
from likely.sealing.manifest import Manifest
from likely.storage.files import lock

if TYPE_CHECKING:
    import pyarrow as pa

LARGEST = 8.0  # b in units of c: a few rows of a usual test set are above
STEP = 1.0  # η in units of c/√n: about one standard error
THRESHOLD = 4.0  # T: by chance alone, two halves of the rows seldom differ as much
NOISE = 0.25  # σ; the three noises below have scales 2σ, 4σ and σ, as in the paper


@final
@dataclass(frozen=True, eq=False)
class LossEvidence:
    """The losses of the sealed rows and what a judge compares them with."""

    losses: Array  # of the sealed rows
    constant: float  # c, from the training part
    training: float  # the score expected from the training part
    best: float | None  # the best revealed so far
    level: float  # of the interval
    rng: np.random.Generator  # the same at each attempt, so that a repetition reveals nothing
    groups: Codes | None = None  # of the sealed rows

    @property
    def n(self) -> float:
        """The number of independent rows; for groups, the smallest effective number."""
        return self.losses.size if self.groups is None else rows_at_worst(self.groups)

    @property
    def unit(self) -> float:
        """c / √n."""
        return (self.constant or 1.0) / sqrt(self.n)

    @property
    def largest(self) -> float:
        """b, for one row and for a mean."""
        return LARGEST * (self.constant or 1.0)

    def bounded_mean(self) -> float:
        return float(np.minimum(self.losses, self.largest).mean())

    def chance(self, mean: float, level: float) -> Ends:
        """All means m with |mean − m| ≤ z √(m (b − m) / n): Wilson's interval on the scale of b."""
        share = min(max(mean / self.largest, 0.0), 1.0)
        alone = self.groups is not None and n_groups_of(self.groups) < 2
        low, high = wilson(share, 0.0 if alone else self.n, level)
        return self.largest * low, self.largest * high


@final
@dataclass(frozen=True)
class Ruling:
    """The revealed score with its interval, and a note if needed."""

    value: float
    low: float
    high: float
    note: str = ""
    of_this_model: bool = True  # else of the best so far


class Judge(ABC):
    """The contract: evidence in, a ruling out."""

    @abstractmethod
    def rule(self, evidence: LossEvidence) -> Ruling: ...


@final
@dataclass(frozen=True)
class Ladder(Judge):
    """The best score so far, in steps: evaluations without progress reveal almost nothing."""

    def rule(self, evidence: LossEvidence) -> Ruling:
        step, mean = STEP * evidence.unit, evidence.bounded_mean()
        if evidence.best is not None and mean >= evidence.best - step:
            note = (
                f"This model does not improve the best score by at least {short_number(step, 3)}."
            )
            ends = _around(evidence.best, step, evidence, evidence.level)
            return Ruling(evidence.best, *ends, note, of_this_model=False)
        value = step * round(mean / step)
        ends = _around(value, step, evidence, evidence.level)
        return Ruling(value, *ends, f"The score is rounded to steps of {short_number(step, 3)}.")


@final
@dataclass(frozen=True)
class Thresholdout(Judge):
    """The training score while it agrees with the sealed one, else the sealed one with noise."""

    def rule(self, evidence: LossEvidence) -> Ruling:
        noise = NOISE * evidence.unit
        threshold = THRESHOLD * evidence.unit
        mean, rng = evidence.bounded_mean(), evidence.rng
        limit = threshold + rng.laplace(0.0, 2 * noise) + rng.laplace(0.0, 4 * noise)
        training = min(evidence.training, evidence.largest)  # bounded as the sealed mean is
        # half of α for the noise and half for chance: together the interval misses with α
        alpha = (1 - evidence.level) / 2
        if abs(training - mean) <= limit:
            # P(Laplace(2σ) + Laplace(4σ) > x) < ⅔ exp(−x/4σ)
            slack = threshold + 4 * noise * max(log(2 / (3 * alpha)), 0.0)
            note = "The test score agrees with the training score; the training score is shown."
            return Ruling(training, *_around(training, slack, evidence, 1 - alpha), note)
        value = mean + rng.laplace(0.0, noise)
        scale = short_number(noise, 3)
        note = f"The test score, with noise of scale {scale}; it differs from the training score."
        slack = noise * log(1 / alpha)
        return Ruling(value, *_around(value, slack, evidence, 1 - alpha), note)


JUDGES: Mapping[str, Judge | None] = {  # None reveals the score as it is
    "plain": None,
    "ladder": Ladder(),
    "thresholdout": Thresholdout(),
}


def _around(value: float, slack: float, evidence: LossEvidence, level: float) -> Ends:
    """The interval of a value, widened for what was not revealed, and for chance."""
    low, high = evidence.chance(value, level)
    return max(min(low, value) - slack, 0.0), max(high, value) + slack


# ── What is handed in to be scored on sealed rows: a fitted model, or predictions made elsewhere ──
# A model shows which rows it was trained on, and is refused if they are others than those of the
# seal.  Predictions of another tool show nothing of the kind, and the ledger says so.

MADE_OUTSIDE = (
    "These predictions were made outside likely; whether their model has seen sealed rows cannot "
    "be checked."
)


class Submission(ABC):
    """The contract: predictions before any label is opened, and how they are scored."""

    name: str  # of the model or of the predictions, in one line, for the ledger
    scorer: Scorer
    cv_estimate: float | None  # the loss that cross-validation led to expect
    model: Any  # only the scorer knows what it is; None where there is none
    model_sha256: str | None  # of its file; None where there is none

    @abstractmethod
    def predicted(self, seal: SealFolder) -> tuple[Predictions, float | None]:
        """Predictions for the sealed rows, and the loss that the training part suggests.

        What would not be an honest score is refused.
        """

    def facts(self) -> Mapping[str, Any]:
        """What a commit records besides the predictions, as JSON."""
        return {}


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ModelSubmission(Submission):
    """A fitted model, and how it is scored."""

    model: Any
    name: str
    columns: Sequence[str]  # that the model reads
    trained_on: str  # SHA-256 of the file of its training rows
    scorer: Scorer
    cv_estimate: float | None = None
    model_sha256: str | None = None

    def predicted(self, seal: SealFolder) -> tuple[Predictions, float | None]:
        self._refuse_other_rows(seal)
        manifest, training = seal.manifest, self.cv_estimate
        predictions = self._predictions(seal.features, manifest)
        if JUDGES[manifest.judge] is not None and training is None:
            on_train = self._predictions(seal.train, manifest)
            y = values_of(seal.train.column(manifest.target))
            training = float(self.scorer.losses(on_train, y).mean())
        return predictions, training

    def _predictions(self, rows: "pa.Table", manifest: Manifest) -> Predictions:
        X = frame_of(rows.select(list(self.columns)), manifest.library)
        roles = {role: rows.column(name) for role, name in manifest.roles.items()}
        given = {role: column for role, column in roles.items() if role != "weight"}
        predictions = self.scorer.predictions(self.model, X, **given)
        for name, array in predictions.items():
            if array.dtype.kind == "f" and np.isnan(array).any():
                raise InvalidInput(
                    f"{self.name} predicts NaN ({name}); expected numbers. No evaluation was "
                    "used. Check the model on a part of the training rows first."
                )
        return predictions

    def _refuse_other_rows(self, seal: SealFolder) -> None:
        expected = seal.manifest.files[TRAIN]
        if self.trained_on == expected:
            return
        with lock(seal.path):
            seal.ledger.add("refused", {"command": "final", "reason": "other training rows"})
        raise HonestyRefusal(
            f"The model was not trained on the training part of {seal.path.name}: its data have "
            f"SHA-256 {self.trained_on[:12]}…, expected {expected[:12]}…. It may have seen sealed "
            f"rows. Train it on {seal.path.name}, and call final again."
        )


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class PredictionSubmission(Submission):
    """Predictions for the sealed rows, in the order of the seal."""

    predictions: Predictions
    name: str
    scorer: Scorer
    cv_estimate: float | None = None
    model: None = None
    model_sha256: None = None

    def predicted(self, seal: SealFolder) -> tuple[Predictions, float | None]:
        if seal.manifest.judge == "thresholdout" and self.cv_estimate is None:
            raise InvalidInput(
                "Predictions were given without a cross-validation estimate; the judge "
                "'thresholdout' compares the sealed rows with it. Give the mean loss on held-out "
                "training rows (cv_estimate=..., --cv-estimate NUMBER)."
            )
        return self.predictions, self.cv_estimate

    def facts(self) -> Mapping[str, Any]:
        return {"note": MADE_OUTSIDE}
