"""How much to smooth counts: the strength that maximises the leave-one-out likelihood.

    tables of counts   LOO(α) = Σ_kv N_kv log [ (N_kv − 1 + α) / (λ_k − 1 + αV) ],  λ_k = Σ_v N_kv
    counts of words    LOO(r) = Σ_kv N_kv log [ (N_kv − 1 + r (λ_k − 1) m_kv) / ((1 + r)(λ_k − 1)) ]
                       m_v ∝ C_v + ½,  C_v the number of components with the word
    Poisson counts     log ∫ p(x | λ) Gamma(λ; αm, α) dλ, over the cells, m the feature's mean
                       = Σ log Γ(S + αm) − log Γ(αm) + αm log α − (S + αm) log(n + α) + const

LOO is the log-probability of each observation under the estimate from all others.  It
reads only sums, and it depends on a count through its value alone, so equal counts are
collapsed: a large table costs one sort and then almost nothing per α.  Fractional counts
(of soft labels) below 1 are treated as 1: N − 1 is then 0.

Words are smoothed by words of the other components: a rare one of a single component says little
about the others, a word of every component is likely in each.  The pseudo-counts are r λ_k m_v, a
share of the component's own counts, so that a small component is not smoothed more than a large
one, and a word that no component has says nothing.  m_kv leaves the token out, which is the only
one of its word in component k where N_kv = 1: C_v is then one less.

References
----------
Gelman et al., Bayesian Data Analysis, 3rd ed., §2.6 and §7.1.
MacKay & Peto, A hierarchical Dirichlet language model, Natural Language Engineering 1, 1995.
Kneser & Ney, Improved backing-off for m-gram language modeling, ICASSP 1995.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from likely._typing import Array
from likely.special import lgamma

SMALLEST, LARGEST = 1e-6, 1e3  # α is searched between these
COARSE = 25  # points of the grid, even in log α
UNSEEN = 0.5  # added to the number of components with a word
GOLDEN = (np.sqrt(5) - 1) / 2
SECTIONS = 30  # each leaves 0.618 of the bracket: log α to 1e-6


@final
@dataclass(frozen=True, eq=False)
class CountTables:
    """Many tables of counts, equal counts and equal totals collapsed."""

    count: Array  # the distinct counts, positive
    count_times: Array  # how often each occurs
    total: Array  # the distinct totals λ
    size: Array  # V, the number of cells of each
    total_times: Array

    @classmethod
    def of(cls, tables: Iterable[Array]) -> Self:
        """Each of ``tables`` is (n_tables, V): the cells of a row share a total."""
        tables = list(tables)
        counts = [table.ravel() for table in tables]
        count, count_times = np.unique(np.concatenate(counts), return_counts=True)
        totals = np.concatenate([_distinct_totals(table) for table in tables], axis=1)
        seen = count > 0
        return cls(count[seen], count_times[seen], *totals)

    def leave_one_out(self, alpha: float) -> float:
        """LOO(α), for α > 0."""
        each = self.count * np.log(np.maximum(self.count - 1, 0.0) + alpha)
        whole = self.total * np.log(np.maximum(self.total - 1, 0.0) + alpha * self.size)
        return float(np.dot(self.count_times, each) - np.dot(self.total_times, whole))


@final
@dataclass(frozen=True, eq=False)
class WordCounts:
    """Counts of words by component, cells with equal N, λ and C collapsed."""

    count: Array  # N of the distinct cells, positive
    total: Array  # their λ − 1
    spread: Array  # their m, with the token left out
    times: Array  # how often each occurs

    @classmethod
    def of(cls, counts: Array) -> Self:
        """``counts`` is (n_components, n_words)."""
        components = components_with(counts)
        parts = [_collapsed(row, components) for row in counts]
        total = counts.sum(axis=1)
        rest = np.where(total > 1, total - 1, 1.0)  # a component of one token has no others
        count, others, times = (np.concatenate(each) for each in zip(*parts, strict=True))
        single = count <= 1
        weight = components.sum() - single + UNSEEN * counts.shape[1]
        spread = (others - single + UNSEEN) / weight
        return cls(count, np.repeat(rest, [len(part[0]) for part in parts]), spread, times)

    def leave_one_out(self, share: float) -> float:
        """LOO(r), for r > 0."""
        left = np.maximum(self.count - 1, 0.0) / self.total + share * self.spread
        # summed without BLAS, whose threads would cost more than the sum
        return float(np.sum(self.times * self.count * (np.log(left) - np.log1p(share))))


def components_with(counts: Array) -> Array:
    """C_v, the number of components that have each word, (n_words,)."""
    return np.count_nonzero(counts, axis=0).astype(float)


def word_spread(counts: Array) -> Array:
    """m_v ∝ C_v + ½, (n_words,): it sums to 1."""
    raised = components_with(counts) + UNSEEN
    return raised / raised.sum()


def _collapsed(counts: Array, components: Array) -> tuple[Array, Array, Array]:
    """The distinct pairs of N and C of a component's words, and how often each occurs."""
    seen = np.flatnonzero(counts)
    pairs = counts[seen] + 1j * components[seen]  # a complex number sorts by its real part first
    distinct, times = np.unique(pairs, return_counts=True)
    return distinct.real, distinct.imag, times


@final
@dataclass(frozen=True, eq=False)
class EventCounts:
    """Events S in n examples of each cell, and the mean m of its feature, equal ones collapsed."""

    events: Array  # S of the distinct pairs (S, m)
    typical: Array  # their m
    times: Array  # how often each occurs
    examples: Array  # the distinct n
    examples_events: Array  # Σ S over the cells with that n
    examples_typical: Array  # Σ m over them

    @classmethod
    def of(cls, events: Array, examples: Array, typical: Array) -> Self:
        m = np.broadcast_to(typical, events.shape).ravel()
        pairs = events.ravel() + 1j * m  # a complex number sorts by its real part first
        distinct, times = np.unique(pairs, return_counts=True)
        n, which = np.unique(np.broadcast_to(examples, events.shape), return_inverse=True)
        sums = [np.bincount(which.ravel(), of.ravel(), len(n)) for of in (events, m)]
        return cls(distinct.real, distinct.imag, times, n, *sums)

    def log_marginal(self, alpha: float) -> float:
        """The Gamma–Poisson marginal likelihood with shape αm and rate α, for α > 0."""
        shape = alpha * self.typical
        rising = lgamma(self.events + shape) - lgamma(shape) + shape * np.log(alpha)
        shrinking = self.examples_events + alpha * self.examples_typical
        logs = np.log(self.examples + alpha)
        return float(np.dot(self.times, rising) - np.dot(shrinking, logs))


def best_smoothing(leave_one_out: Callable[[float], float]) -> float:
    """The α in [1e-6, 1e3] that maximises ``leave_one_out``: a grid, then golden sections."""
    grid = np.linspace(np.log(SMALLEST), np.log(LARGEST), COARSE)
    best = int(np.argmax([leave_one_out(float(np.exp(a))) for a in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, COARSE - 1)]
    return float(np.exp(_golden_section(lambda a: leave_one_out(float(np.exp(a))), low, high)))


def _golden_section(f: Callable[[float], float], low: float, high: float) -> float:
    """The maximum of a function with one peak in [low, high]."""
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    f_a, f_b = f(a), f(b)
    for _ in range(SECTIONS):
        if f_a >= f_b:
            high, b, f_b = b, a, f_a
            a = high - GOLDEN * (high - low)
            f_a = f(a)
        else:
            low, a, f_a = a, b, f_b
            b = low + GOLDEN * (high - low)
            f_b = f(b)
    return (low + high) / 2


def _distinct_totals(table: Array) -> Array:
    """The distinct totals of the rows, their number of cells, and how often each occurs."""
    total, times = np.unique(table.sum(axis=1), return_counts=True)
    return np.stack([total, np.full(len(total), table.shape[1]), times])
