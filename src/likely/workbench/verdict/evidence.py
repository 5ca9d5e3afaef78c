"""What is known about a model when it is judged: scores, held-out rows, findings, effects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

from likely.intervals import Estimate
from likely.metrics import Score
from likely.metrics.score import CONSTANT
from likely.sealing.final_score import FinalScore

if TYPE_CHECKING:
    from likely.workbench.scoring.column_effects import ColumnEffects
    from likely.workbench.scoring.validation import Validation

MOST_IMPORTANT = 3  # columns that a sentence names
IMPORTANT = 0.1  # of the largest effect: a smaller one is not named


@final
@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about a model: of sealed rows if they were evaluated, else of held-out rows.

    ``findings`` are those of ``look``, with ``code`` and ``columns``.
    """

    score: Score | None = None  # of held-out rows
    final: FinalScore | None = None
    held: "Validation | None" = None  # the predictions of held-out rows
    findings: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    features: frozenset[str] | None = None  # the columns that the model uses; None: all
    important: tuple[str, ...] = ()  # columns with the largest effects, where they are known

    @property
    def where(self) -> str:
        return "the held-out rows" if self.final is None else "the sealed rows"

    @property
    def gain(self) -> Estimate | None:
        """The gain over the baseline; None without a score of this model."""
        if self.final is None:
            return None if self.score is None else self.score.gain
        return self.final.gain_over_baseline if self.final.of_this_model else None

    @property
    def n_rows(self) -> int:
        """The rows of the score."""
        if self.final is not None:
            return self.final.n_rows
        return 0 if self.score is None else self.score.n_rows

    @property
    def baseline(self) -> str:
        """``the baseline``, with its model if that is not the constant."""
        model = CONSTANT if self.score is None else self.score.baseline
        return "the baseline" if model == CONSTANT else f"the baseline ({model})"

    @property
    def measures(self) -> Mapping[str, Estimate]:
        """An estimate of each metric, by name."""
        if self.final is not None:
            return self.final.measures
        return {} if self.score is None else self.score.estimates


def evidence_in_run(
    run: Mapping[str, Any],
    *,
    look: Mapping[str, Any] | None = None,
    held: "Validation | None" = None,
    final: FinalScore | None = None,
    effects: "ColumnEffects | None" = None,
) -> Evidence:
    """The evidence in the files of a RUN: facts, findings, held-out rows and effects."""
    score = None if held is None else held.score
    if run.get("scores"):
        score = Score.from_json(run["scores"])
    return Evidence(
        score,
        final,
        held,
        findings=tuple(run.get("findings") or (look or {}).get("findings") or ()),
        features=frozenset(run.get("columns") or ()) or None,
        important=() if effects is None else important_columns(effects),
    )


def important_columns(effects: "ColumnEffects") -> tuple[str, ...]:
    """The columns with the largest effects; those nearly as large are named with them.

    Columns that were shuffled together are not named as one.
    """
    found = effects.importance
    joined = {" + ".join(names) for names in found.together}
    largest = float(found.increase.max(initial=0.0))
    return tuple(
        name
        for name, increase in zip(found.names, found.increase.tolist(), strict=True)
        if increase > IMPORTANT * largest and name not in joined
    )[:MOST_IMPORTANT]
