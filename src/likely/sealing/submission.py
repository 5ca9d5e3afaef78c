"""What is handed in to be scored on sealed rows: a fitted model, or predictions made elsewhere.

A model shows which rows it was trained on, and is refused if they are others than those of the
seal.  Predictions of another tool show nothing of the kind, and the ledger says so.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely.data.arrow import values_of
from likely.data.frames import frame_of
from likely.errors import HonestyRefusal, InvalidInput
from likely.files import lock
from likely.sealing.folder import TRAIN, SealFolder
from likely.sealing.judges import JUDGES
from likely.sealing.manifest import Manifest
from likely.sealing.scorer import Predictions, Scorer

if TYPE_CHECKING:
    import pyarrow as pa

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
