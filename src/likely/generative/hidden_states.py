"""Hidden states in sequences: the E and M steps of a hidden Markov model, and its starts.

    E   γ_t(k), ξ_t(k, l)  by forward–backward in each sequence
    M   π_k ∝ Σ_s γ_s1(k) + α,   A_kl ∝ Σ_t ξ_t(k, l) + α',   p(x | k) from Σ_t γ_t(k) T(x_t)

A known state is evidence like any other: the other states have likelihood 0 in its row.  With all
states known the first M step is the supervised estimate, and the last.

EM starts from the parameters of a mixture, with independent rows: A_kl = π_l.

References
----------
Baum, Petrie, Soules & Weiss, A maximization technique …, 1970.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.distributions.base import Family
from likely.distributions.priors import log_shares
from likely.distributions.responsibility import Labels, Responsibility
from likely.errors import ImpossibleSequence
from likely.generative.clusters import HiddenLaw, MixtureProblem, components_from
from likely.generative.starts import Subset, draw_labels
from likely.graphical.exact.chain import Chain, ChainBeliefs, ChainPaths
from likely.numerics.additive import Additive
from likely.objectives.components import Components, checked_rows
from likely.solvers.em import Expectation, ExpectationObjective


@final
@dataclass(frozen=True, eq=False)
class HiddenStates:
    """The law of the states, and what each of them emits."""

    chain: Chain
    components: Components  # the share of each state among the rows, and p(x | k)

    def log_emission(self, X: Any, known: Codes | None = None) -> Array:
        """log p(x_i | k), (n, n_states); −inf for other states where the state is known."""
        out = self.components.distribution.log_density(X)
        if known is None:
            return out
        elsewhere = (known >= 0)[:, None] & (known[:, None] != np.arange(out.shape[1]))
        return np.where(elsewhere, -np.inf, out)


@final
@dataclass(frozen=True, eq=False)
class StateTotals(Additive):
    """The totals of one E step."""

    start: Array  # Σ_s γ_s1, (n_states,)
    pairs: Array  # Σ_t ξ_t, (n_states, n_states)
    count: Array  # Σ_t γ_t, (n_states,)
    statistics: Any
    log_likelihood: float

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.start + other.start,
            self.pairs + other.pairs,
            self.count + other.count,
            self.statistics + other.statistics,
            self.log_likelihood + other.log_likelihood,
        )


def block_state_expectations(family: Family, model: HiddenStates, block: Block) -> StateTotals:
    """The expected statistics of whole sequences at θ."""
    X, (first, lengths) = block.X.stored(), _sequences(block)
    weight = np.ones(len(first)) if block.weight is None else block.weight[first]
    beliefs = model.chain.beliefs(model.log_emission(X, block.y), lengths, weight)
    _refuse_impossible(beliefs.log_likelihood, block, first)
    r = beliefs.state if block.weight is None else beliefs.state * block.weight[:, None]
    return StateTotals(
        r[first].sum(axis=0),
        beliefs.pairs,
        r.sum(axis=0),
        model.components.distribution.expected_statistics(family, X, r),
        float(np.dot(weight, beliefs.log_likelihood)),
    )


def block_beliefs(family: Family, model: HiddenStates, block: Block) -> ChainBeliefs:
    """Posterior states of new sequences."""
    log_emission = model.log_emission(checked_rows(family, block))
    return model.chain.beliefs(log_emission, _sequences(block)[1])


def block_paths(family: Family, model: HiddenStates, block: Block) -> ChainPaths:
    """The most probable states of new sequences."""
    first, lengths = _sequences(block)
    paths = model.chain.most_probable(model.log_emission(checked_rows(family, block)), lengths)
    _refuse_impossible(paths.log_score, block, first)
    return paths


def block_posterior(family: Family, model: HiddenStates, block: Block) -> Array:
    """p(z_t = k | x) of new sequences, none of which may be impossible."""
    beliefs = block_beliefs(family, model, block)
    _refuse_impossible(beliefs.log_likelihood, block, _sequences(block)[0])
    return beliefs.state


def block_log_emission(family: Family, model: HiddenStates, block: Block) -> Array:
    return model.log_emission(checked_rows(family, block))


def _sequences(block: Block) -> tuple[Codes, Codes]:
    """The first row and the length of each sequence of a block."""
    assert block.group is not None  # the number of the sequence of each row
    first = np.flatnonzero(np.diff(block.group, prepend=-1))
    return first, np.diff(np.append(first, block.n_rows))


def _refuse_impossible(log_likelihood: Array, block: Block, first: Codes) -> None:
    bad = np.isneginf(log_likelihood)
    if bad.any():
        assert block.group is not None
        raise ImpossibleSequence(int(block.group[first[int(bad.argmax())]]))


@final
@dataclass(frozen=True, eq=False)
class HiddenStatesObjective(ExpectationObjective):
    """Sequences of hidden states, with pseudo-counts as priors."""

    family: Family
    blocks: Blocks
    executor: Executor
    prior: Any  # pseudo-statistics of the emissions: one more block, added once
    start_smoothing: float
    transition_smoothing: float

    def expect(self, theta: HiddenStates) -> Expectation:
        term = partial(block_state_expectations, self.family, theta)
        here = self.executor.sum(term, self.blocks)
        log_prior = theta.components.distribution.log_likelihood_of(self.prior)
        if self.start_smoothing:
            log_prior += self.start_smoothing * float(theta.chain.log_start.sum())
        if self.transition_smoothing:
            log_prior += self.transition_smoothing * float(theta.chain.log_transition.sum())
        return Expectation(here, here.log_likelihood + log_prior, float(here.count.sum()))

    def maximise(self, totals: StateTotals) -> HiddenStates:
        member = self.family.from_statistics(totals.statistics + self.prior)
        pairs = totals.pairs + self.transition_smoothing
        left = pairs.sum(axis=1, keepdims=True) > 0  # a state only at the ends goes anywhere
        transition = np.stack([log_shares(row) for row in np.where(left, pairs, 1.0)])
        start = log_shares(totals.start + self.start_smoothing)
        return HiddenStates(Chain(start, transition), Components(log_shares(totals.count), member))


@final
@dataclass(frozen=True)
class MarkovStates(HiddenLaw):
    """The state of a row depends on that of the row before it."""

    start_smoothing: float
    transition_smoothing: float

    def objective(self, problem: MixtureProblem, prior: Any, start: Any) -> HiddenStatesObjective:
        return HiddenStatesObjective(
            problem.family,
            problem.blocks,
            problem.executor,
            prior,
            self.start_smoothing,
            self.transition_smoothing,
        )

    def random_start(
        self,
        problem: MixtureProblem,
        subset: Subset,
        n_components: int,
        rng: np.random.Generator,
        prior: Any,
    ) -> HiddenStates:
        """Clusters of rows; of few distinct rows, each has random shares of all states."""
        r: Responsibility
        if len(subset.points) > n_components:
            r = Labels(draw_labels(subset, n_components, rng), n_components, subset.weight)
        else:
            share = rng.dirichlet(np.ones(n_components), len(subset.points))
            r = share[subset.place] * subset.weight[:, None]
        return states_from(problem, subset.stored, r, prior)


def states_from(
    problem: MixtureProblem, stored: Any, responsibility: Responsibility, prior: Any
) -> HiddenStates:
    """A start from labels or soft labels of rows, as if rows were independent."""
    components = components_from(problem, stored, responsibility, prior)
    share = components.log_mixing
    return HiddenStates(Chain(share, np.tile(share, (len(share), 1))), components)
