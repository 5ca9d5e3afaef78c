"""Classes and clusters: the statistics of components, summed over blocks.

    S_k = Σ_i r_ik T(x_i),   N_k = Σ_i r_ik        r_ik = w_i [y_i = k]          (label known)
                                                   r_ik = λ w_i p(k | x_i, θ)    (unknown)

Naive Bayes, discriminants and mixtures differ only in which labels are known: a block's
``y`` holds class codes, −1 where the label is not known, or soft labels.  λ, usually 1, is the
weight of the rows whose labels are not known, in the likelihood as in the statistics.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block, Blocks, block_rows
from likely.distributions.base import Distribution, Family
from likely.distributions.multinomial import LumpedColumns
from likely.distributions.priors import class_prior, log_shares
from likely.distributions.product import ProductFamily
from likely.distributions.responsibility import (
    Labels,
    Responsibility,
    refuse_infinity,
    totals,
)
from likely.errors import BadCell, InvalidInput
from likely.numerics.additive import Additive
from likely.objectives.cooled_evidence import CooledEvidence
from likely.output.progress import report
from likely.solvers.em import Expectation, ExpectationObjective
from likely.storage.declarations import SameCount, SumTo1


@final
@dataclass(frozen=True, eq=False)
class Components:
    """log p(x, k) = log π_k + log p(x | k): the fitted components."""

    saved_rules = (
        SameCount(1, "log_mixing.shape"),
        SameCount("distribution.n_components", "log_mixing"),
        SumTo1("log_mixing"),
    )

    log_mixing: Array  # log π, (n_components,)
    distribution: Distribution

    def log_joint(self, X: Any) -> Array:
        """log p(x_i, k), (n, n_components)."""
        return self.log_mixing + self.distribution.log_density(X)


@final
@dataclass(frozen=True, eq=False)
class ComponentTotals(Additive):
    """The totals of one pass over the data."""

    count: Array  # N_k, (n_components,)
    statistics: Any
    log_likelihood: float = 0.0  # of what was observed, at the θ of the E step

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.count + other.count,
            self.statistics + other.statistics,
            self.log_likelihood + other.log_likelihood,
        )

    def scaled(self, factor: float) -> Self:
        return type(self)(
            factor * self.count, self.statistics.scaled(factor), factor * self.log_likelihood
        )


@final
@dataclass(frozen=True, eq=False)
class ComponentLearner:
    """How classes are learned from totals, such as those of the rows of other folds."""

    family: ProductFamily
    smoothing: Array  # of each column
    is_chosen: bool  # by the leave-one-out likelihood, and so a share of a class's counts
    prior: Any  # of the classes
    refined: Callable[[ComponentTotals, Components], Components] | None = None  # by other rows

    def __call__(self, totals: ComponentTotals) -> Components:
        """Parameters from totals: the prior is one more block."""
        smoothed = totals.statistics.add_into(self.prior_statistics(totals))
        member = self.family.from_own_statistics(smoothed)  # in place: words are many
        found = Components(class_prior(self.prior, totals.count), member)
        return found if self.refined is None else self.refined(totals, found)

    def prior_statistics(self, totals: ComponentTotals) -> Any:
        """The pseudo-statistics of the smoothing."""
        own = totals.statistics
        make = own.prior_statistics_as_chosen if self.is_chosen else own.prior_statistics
        return make(self.family, self.smoothing, (len(totals.count), len(self.smoothing)))

    def smoothed(self, factor: float) -> Self:
        """With the strength of smoothing times ``factor``."""
        if factor == 1.0:  # words are many
            return self
        return replace(self, smoothing=factor * self.smoothing)

    def of_columns(self, columns: LumpedColumns) -> Self:
        """From totals of these columns, with all others as one."""
        own = columns.family(self.family), columns.sums(self.smoothing)
        return replace(self, family=own[0], smoothing=own[1])


def block_totals(family: Family, n_components: int, block: Block) -> ComponentTotals:
    """The statistics of the rows whose labels are known; values are checked in the same pass."""
    responsibility = known_responsibility(block, n_components)
    with placing(block):
        X = block.X.stored()
        family.check(X)
        return ComponentTotals(totals(responsibility), family.statistics(X, responsibility))


@contextmanager
def placing(block: Block) -> Iterator[None]:
    """Give the position of a bad cell in the data, not in the block."""
    try:
        yield
    except BadCell as error:
        raise error.moved(row=block.start + error.row) from None


def block_expectations(
    family: Family, model: Components, block: Block, unlabelled_weight: float = 1.0
) -> ComponentTotals:
    """The statistics of all rows: with known labels, else with expected ones at θ."""
    X = block.X.stored()
    if block.y is None:
        fused = model.distribution.fused_expectation(family, X, model.log_mixing, block.weight)
        if fused is not None:
            return ComponentTotals(*fused)
    log_joint = model.log_joint(X)
    top = log_joint.max(axis=1)
    with np.errstate(invalid="ignore"):  # −inf − (−inf): a row no component can explain
        r = np.exp(log_joint - top[:, None])
    share = r.sum(axis=1)
    evidence = top + np.log(share)
    r /= share[:, None]  # and not exp(… − evidence): far away, log 2 would be lost in it
    if block.y is not None:
        known = block.y >= 0
        r[known] = 0.0
        r[known, block.y[known]] = 1.0
        evidence = np.where(known, log_joint[np.arange(len(r)), block.y], evidence)
    weight = block.weight
    if unlabelled_weight != 1.0 and block.y is not None:
        weight = np.where(known, 1.0, unlabelled_weight) * (1.0 if weight is None else weight)
    if weight is not None:
        r *= weight[:, None]
        evidence = np.multiply(evidence, weight, where=weight > 0, out=np.zeros(len(r)))
    _refuse_impossible(evidence, block)
    statistics = model.distribution.expected_statistics(family, X, r)
    return ComponentTotals(r.sum(axis=0), statistics, float(evidence.sum()))


def block_log_joint(family: Family, model: Components, block: Block) -> Array:
    return model.log_joint(checked_rows(family, block))


def block_log_posterior(
    family: Family, model: Components, evidence: CooledEvidence, block: Block
) -> Array:
    rows = evidence.scores(family, model.distribution, checked_rows(family, block))
    return evidence.log_posterior_or_prior(model.log_mixing, *rows)


def checked_rows(family: Family, block: Block) -> Any:
    """Check new rows: values that the family cannot have, and infinities, are refused."""
    X = block.X.stored()
    with placing(block):
        _refuse_infinity(family, X)
        family.check(X)
    return X


def _refuse_infinity(family: Family, X: Any) -> None:
    if isinstance(family, ProductFamily):
        for part in family.parts:
            with part.selection.placing():
                _refuse_infinity(part.family, part.selection.of(X))
        return
    values = X if isinstance(X, np.ndarray) else X.data
    with np.errstate(invalid="ignore", over="ignore"):
        if values.dtype.kind == "f" and not np.isfinite(values.sum()):  # a finite sum proves it
            refuse_infinity(X)


def known_responsibility(block: Block, n_components: int) -> Responsibility:
    """Labels as codes, or soft labels times the weights."""
    assert block.y is not None  # the caller labels every block
    if block.y.ndim == 1:
        return Labels(block.y, n_components, block.weight)
    return block.y if block.weight is None else block.y * block.weight[:, None]


def total(family: Family, n_components: int, blocks: Blocks, executor: Executor) -> ComponentTotals:
    """One pass over labelled data."""
    term = partial(block_totals, family, n_components)
    blocks = no_smaller_than_totals(blocks, n_components)
    return refuse_no_weight(executor.sum(term, counted(blocks)))


def no_smaller_than_totals(blocks: Blocks, n_components: int) -> Blocks:
    """Blocks in memory, each with at least as many bytes as a table of its totals.

    Of documents with many words, small blocks would cost more to add up than to count.
    """
    if not isinstance(blocks, ArrayBlocks) or blocks.rows_per_block is not None:
        return blocks
    n_rows, table = blocks.n_rows, 8 * n_components * blocks.n_features
    rows = block_rows(n_rows, blocks.n_features, blocks.nbytes)
    wider = min(-(-n_rows * table // max(1, blocks.nbytes)), n_rows)
    return blocks if wider <= rows else replace(blocks, rows_per_block=wider)


def refuse_no_weight(totals: ComponentTotals) -> ComponentTotals:
    """Refuse totals without weight; the weights in a file are not known before."""
    if not totals.count.sum() > 0:
        raise InvalidInput(
            "Sample weights must contain at least one non-zero number; all are 0. "
            "Give a row a positive weight, or leave sample_weight out."
        )
    return totals


def counted(blocks: Blocks) -> Any:
    """The blocks, with each block reported as progress."""
    for block in blocks:
        yield block
        report("rows", block.n_rows)


@final
@dataclass(frozen=True, eq=False)
class ComponentsObjective(ExpectationObjective):
    """Components with unknown labels or missing cells, and a conjugate prior."""

    family: Family
    blocks: Blocks
    executor: Executor
    prior: Any  # pseudo-statistics: one more block, added once
    log_mixing: Array | None = None  # given class priors; None estimates them
    imagined: Array | float = 0.0  # examples of each class, the prior of their shares
    unlabelled_weight: float = 1.0  # λ, of rows whose label is not known

    def expect(self, theta: Components) -> Expectation:
        term = partial(
            block_expectations, self.family, theta, unlabelled_weight=self.unlabelled_weight
        )
        here = self.executor.sum(term, self.blocks)
        log_prior = theta.distribution.log_likelihood_of(self.prior)
        pseudo = np.broadcast_to(self.imagined, theta.log_mixing.shape)
        held = pseudo > 0  # 0 · −∞ is nan
        log_prior += float(np.dot(pseudo[held], theta.log_mixing[held]))
        return Expectation(here, here.log_likelihood + log_prior, float(here.count.sum()))

    def maximise(self, totals: ComponentTotals) -> Components:
        log_mixing = self.log_mixing
        if log_mixing is None:
            log_mixing = log_shares(totals.count + self.imagined)
        return Components(log_mixing, self.family.from_statistics(totals.statistics + self.prior))


def _refuse_impossible(evidence: Array, block: Block) -> None:
    if not np.isfinite(evidence).all():
        row = block.start + int(np.argmin(np.isfinite(evidence)))
        raise InvalidInput(
            f"Row {row} has probability 0 under every component (or is not finite). "
            "Add smoothing, or remove the row."
        )
