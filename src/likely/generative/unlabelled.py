"""Rows without a label: EM, the weight that they get, and whether EM followed the labels.

    maximise  Σ_labelled log p(x, y) + λ Σ_unlabelled log p(x) + log prior

EM follows whatever divides the rows best, which need not be the classes of the labels.  λ is given,
or chosen ("auto") among ``WEIGHTS`` and 0: labelled rows are held out fold by fold, EM learns from
the others and from all unlabelled rows, and the λ with the smallest log loss of the labelled rows
is taken, the smaller one of equals.  The scores of each λ are cooled as suits them best (rows with
words by their length), so that models are compared by what they know, not by how sure they are.

What a model of held-out folds needs of labelled rows are their totals, S.  Its EM reads unlabelled
rows only, and S is a part of the prior:

    maximise  log p(S | θ) + λ Σ_unlabelled log p(x) + log prior

EM moved the classes if the shares of the m unlabelled rows, q, are far from those of the n labelled
ones, p: if their total variation, ½ Σ_k |p_k − q_k|, exceeds ¼ + ½ √((K − 1)/n) + ½ √((K − 1)/m).
The last terms bound the expected total variation of n and of m random labels of K classes.

References
----------
Nigam et al., Text classification from labeled and unlabeled documents using EM, 2000, §5.3.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.calibrate.evidence import LOWEST_SCORE, N_FOLDS
from likely.calibrate.length_evidence import (
    CountedFolds,
    folds_of,
    scored_block,
    with_document_folds,
)
from likely.calibrate.length_temperature import ScoredDocuments, joined_documents, search_cooling
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.distributions.priors import Dirichlet, class_prior
from likely.errors import ShiftedClasses, warn_user
from likely.objectives.components import (
    ComponentLearner,
    Components,
    ComponentsObjective,
    ComponentTotals,
    no_smaller_than_totals,
)
from likely.solvers.em import EM
from likely.solvers.minimise import Solution, search

WEIGHTS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)  # λ that "auto" compares, small ones first
ROUGH = 1e-5  # nats per row: the tolerance of EM while λ is chosen
FAR = 0.25  # a total variation that no sampling of labels excuses


class LearnedByEM(NamedTuple):
    """What EM gave."""

    components: Components
    solution: Solution
    totals: ComponentTotals


@final
@dataclass(frozen=True, eq=False)
class UnlabelledRows:
    """Rows of which some have a label, and how a model is learned from them."""

    learn: ComponentLearner  # from labelled rows alone
    n_classes: int
    blocks: Blocks
    executor: Executor
    tol: float
    max_iter: int

    def complete(self, totals: ComponentTotals, weight: float) -> LearnedByEM:
        """EM from the model of the labelled rows, whose totals are given."""
        blocks = no_smaller_than_totals(self.blocks, self.n_classes)
        objective = self._objective(blocks, self.learn.prior_statistics(totals), 0.0, weight)
        start = _with_every_column(self.learn(totals), objective)
        solution, state = search(EM(), objective, start, tol=self.tol, max_iter=self.max_iter)
        return LearnedByEM(solution.theta, solution, state.totals)

    def refined(self, weight: float, totals: ComponentTotals, start: Components) -> Components:
        """The model of some labelled rows, by all unlabelled ones as well."""
        if weight == 0 or not totals.count.sum() > 0 or self.n_rows[1] == 0:
            return start
        blocks = Unlabelled.of(no_smaller_than_totals(self.blocks, self.n_classes))
        known = self.learn.prior_statistics(totals) + totals.statistics
        objective = self._objective(blocks, known, totals.count, weight)
        tol, start = max(ROUGH, self.tol), _with_every_column(start, objective)
        return search(EM(), objective, start, tol=tol, max_iter=self.max_iter)[0].theta

    def _objective(
        self, blocks: Blocks, prior: Any, known: Array | float, weight: float
    ) -> ComponentsObjective:
        """``prior`` and ``known`` are statistics and class counts beside those of the blocks."""
        family, given = self.learn.family, self.learn.prior
        if isinstance(given, Dirichlet):
            known = known + given.pseudo_counts(self.n_classes)
        log_prior = None  # estimated
        if not isinstance(given, str | Dirichlet) or given == "uniform":
            log_prior = class_prior(given, np.ones(self.n_classes))
        return ComponentsObjective(
            family, blocks, self.executor, prior, log_prior, known, unlabelled_weight=weight
        )

    @cached_property
    def n_rows(self) -> tuple[int, int]:
        """The numbers of labelled and of unlabelled rows; rows of weight 0 are not counted."""
        labelled = unlabelled = 0
        for block in self.blocks:
            known = block.target >= 0
            counted = np.full(block.n_rows, True) if block.weight is None else block.weight > 0
            labelled += int((known & counted).sum())
            unlabelled += int((~known & counted).sum())
        return labelled, unlabelled

    def best_weight(self) -> float:
        """The λ that predicts labelled rows best which were held out."""
        blocks = with_document_folds(self.learn.family, self.blocks)
        folds = folds_of(self.learn.family, self.n_classes, blocks, self.executor)
        losses = {weight: self._held_out_loss(folds, blocks, weight) for weight in WEIGHTS}
        return min(losses, key=losses.__getitem__)

    def _held_out_loss(self, folds: CountedFolds, blocks: Blocks, weight: float) -> float:
        """The log loss of labelled rows, by models of the other folds, cooled as suits them."""
        scored: list[ScoredDocuments] = []
        for fold in range(N_FOLDS):
            totals = folds.totals.without(fold)
            if totals.count.sum() > 0:
                model = self.refined(weight, totals, self.learn(totals))
                family, mean_length = self.learn.family, folds.mean_length
                term = partial(scored_block, family, model, fold, mean_length=mean_length)
                scored.extend(self.executor.map(term, blocks))
        rows = joined_documents(scored)
        if rows is None:
            return 0.0
        if rows.others.shape[1]:
            top = rows.others.max(axis=1, keepdims=True)
            there, nothing = np.isfinite(top), np.zeros(rows.others.shape)
            behind = np.subtract(rows.others, top, where=there, out=nothing)
            rows = rows._replace(score=np.maximum(rows.score + behind, LOWEST_SCORE))
        return search_cooling(rows).loss


@final
@dataclass(frozen=True, eq=False)
class Unlabelled(Blocks):
    """Blocks in which labelled rows have no weight."""

    blocks: Blocks
    n_features: int
    n_rows: int | None
    nbytes: int | None

    @classmethod
    def of(cls, blocks: Blocks) -> Self:
        return cls(blocks, blocks.n_features, blocks.n_rows, blocks.nbytes)

    def __iter__(self) -> Iterator[Block]:
        for block in self.blocks:
            weight = np.ones(block.n_rows) if block.weight is None else block.weight
            yield replace(block, weight=np.where(block.target >= 0, 0.0, weight))


def _with_every_column(start: Components, objective: ComponentsObjective) -> Components:
    """A step of EM first where ``start`` leaves out columns, constant in the labelled rows.

    The bounds of densities of more and of fewer columns cannot be compared.
    """
    if not start.distribution.left_out().any():
        return start
    return search(EM(), objective, start, tol=0.0, max_iter=1)[0].theta


def warn_if_moved(
    labelled: Array, completed: Array, classes: Array, weight: float, n_rows: tuple[int, int]
) -> None:
    """Warn if EM moved the class shares of unlabelled rows far from those of the labelled ones.

    ``labelled`` and ``completed`` are the weights of the rows of each class, before and after EM;
    ``n_rows`` are the numbers of labelled and of unlabelled rows.
    """
    added = np.maximum(completed - labelled, 0.0)
    if not added.sum() > 0 or len(classes) < 2:
        return
    p, q = labelled / labelled.sum(), added / added.sum()
    moved = 0.5 * float(np.abs(p - q).sum())
    by_chance = 0.5 * np.sqrt((len(classes) - 1) / np.maximum(n_rows, 1)).sum()
    if moved <= FAR + by_chance:
        return
    k = int(np.argmax(q - p))
    warn_user(
        f"EM moved the classes: {q[k]:.0%} of the unlabelled rows are given to class "
        f"{classes.tolist()[k]!r}, which has {p[k]:.0%} of the labelled rows (total variation of "
        f"the class shares {moved:.2f}). Unless the unlabelled rows are such, EM follows something "
        "else than the labels. Compare with the labelled rows alone on labels that were held out; "
        f"lower unlabelled_weight={weight:g}, or use unlabelled_weight='auto'.",
        ShiftedClasses,
    )
