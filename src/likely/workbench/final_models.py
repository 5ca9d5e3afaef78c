"""What is fitted when a seal is opened from Python.

a name          the model of that name, with its preparation, as ``compare`` has it
a study         its best settings, and what it promised
an estimator    itself, as it is
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from likely.errors import InvalidInput
from likely.kinds import TargetKind
from likely.sealing.manifest import Manifest
from likely.sealing.scoring import Scorer
from likely.workbench.final_scorers import promised_by
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.search.question import model_and_name
from likely.workbench.search.study import Study
from likely.workbench.task_for_models import suits_of, task_for_models

if TYPE_CHECKING:
    import pyarrow as pa


class AtSeal(NamedTuple):
    """A model that is not yet fitted, and what a search promised for it, by the metric."""

    model: Any
    promises: Mapping[str, float] = {}

    def promised(self, scorer: Scorer) -> float | None:
        """As a loss of the scorer, where it is of that metric."""
        return promised_by(scorer, self.promises)


def model_at_seal(given: Any, train: "pa.Table", manifest: Manifest) -> AtSeal:
    """The model to be fitted to the training rows of a seal."""
    if isinstance(given, Study):
        return _of_study(given, manifest)
    kind = cast("TargetKind | None", manifest.kind)
    suits = suits_of(given) if isinstance(given, str) else []
    task = task_for_models(train, manifest.target, suits, kind=kind, order=manifest.order)
    _, model = model_and_name(given, task, seed=0)
    return AtSeal(Prepared(model) if isinstance(given, str) else model)


def _of_study(study: Study, manifest: Manifest) -> AtSeal:
    target = study.question.objective.rows.task.target
    if target != manifest.target:
        raise InvalidInput(
            f"The study is about {target!r}, and {manifest.target!r} is sealed; one of the same "
            "target was expected. Tune a model on the seal."
        )
    score = study.nested_score_ if study.outer else study.best_score_
    return AtSeal(study.best_model(), {study.metric.name: score})
