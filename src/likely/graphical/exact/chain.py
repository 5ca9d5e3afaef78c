"""Chains of hidden states: forward–backward and Viterbi, for many sequences at once.

    p(x, z) = π(z_1) p(x_1 | z_1) Π_t A(z_{t−1}, z_t) p(x_t | z_t)        for each sequence

    predicted   p_t(l) = p(z_t = l | x_1 … x_{t−1}) = Σ_k α_{t−1}(k) A_kl
    filtered    α_t(k) = p(z_t = k | x_1 … x_t) = p_t(k) p(x_t | k) / c_t
    smoothed    γ_t(k) = p(z_t = k | x) = Σ_l ξ_t(k, l)
    pairs       ξ_t(k, l) = p(z_t = k, z_{t+1} = l | x) = [α_t(k) A_kl / p_{t+1}(l)] γ_{t+1}(l)
    evidence    log p(x) = Σ_t log c_t

Sequences are consecutive rows, with their lengths: (3, 2) are rows 0 to 2 and 3 to 4.  The readable
version computes in logs.  The compiled one is linear with one scale per step, and goes over to logs
for a sequence where that would lose something (``fast/chain``).

References
----------
Rabiner, A tutorial on hidden Markov models, 1989, §III.
Bishop, Pattern Recognition and Machine Learning, §13.2.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.distributions.responsibility import for_loop
from likely.errors import InvalidInput
from likely.graphical.exact.enumeration import TIE
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.variable import Variable
from likely.storage.declarations import SameCount, SumTo1
from likely.storage.values import same_count

FAST_ROWS = 300  # of all sequences: below, the readable version is quicker than loading Numba


class ChainBeliefs(NamedTuple):
    """What is known about the states of all sequences, given all rows."""

    state: Array  # γ, (n, n_states); nan in an impossible sequence
    pairs: Array  # expected transitions Σ w ξ over the possible sequences, (n_states, n_states)
    log_likelihoods: Array  # log p(x_t | x_1 … x_{t−1}), (n,); −inf from where it is impossible
    log_likelihood: Array  # their sum over each sequence, (n_sequences,): 0 if it is empty


class ChainPaths(NamedTuple):
    """The most probable states of each sequence."""

    state: Codes  # (n,); −1 in an impossible sequence
    log_score: Array  # log p(x, z) there, (n_sequences,)
    unique: Array  # whether no other path has the same score, (n_sequences,)


@final
@dataclass(frozen=True, eq=False)
class Chain:
    """The law of the hidden states: where a sequence starts, and how it goes on."""

    saved_rules = (
        SameCount(1, "log_start.shape"),
        SameCount(2, "log_transition.shape"),
        SameCount("log_start", "log_transition.shape.0", "log_transition.shape.1"),
        SumTo1("log_start"),
        SumTo1("log_transition"),
    )

    log_start: Array  # log π, (n_states,)
    log_transition: Array  # log A, from row to column, (n_states, n_states)

    @property
    def n_states(self) -> int:
        return len(self.log_start)

    @property
    def n_parameters(self) -> int:
        """π and each row of A sum to 1."""
        return (self.n_states - 1) * (self.n_states + 1)

    @cached_property
    def is_linear(self) -> bool:
        """Whether no probability is so small that only its log can be computed with."""
        from likely.fast.chain import LEAST_LOG

        logs = np.append(self.log_start, self.log_transition)
        return bool((logs[logs > -np.inf] >= LEAST_LOG).all())

    def beliefs(
        self, log_emission: Array, lengths: Codes, weight: Array | None = None
    ) -> ChainBeliefs:
        """Posterior states and transitions by forward–backward.

        ``log_emission`` (n, n_states) has log p(x_t | k), −inf allowed; ``weight`` (n_sequences,)
        counts the transitions of each sequence.
        """
        given = np.ones(len(lengths)) if weight is None else weight
        self._check(log_emission, lengths)
        if len(log_emission) >= FAST_ROWS:
            return _fast_beliefs(self, log_emission, lengths, given)
        state, pairs = np.empty(log_emission.shape), np.zeros(self.log_transition.shape)
        each = np.empty(len(log_emission))
        for s, rows in enumerate(_sequences(lengths)):
            state[rows], own, each[rows] = readable_beliefs(self, log_emission[rows])
            pairs += given[s] * own
        return ChainBeliefs(state, pairs, each, sequence_sums(each, lengths))

    def most_probable(self, log_emission: Array, lengths: Codes) -> ChainPaths:
        """The most probable states of each sequence, all together, by Viterbi's algorithm."""
        self._check(log_emission, lengths)
        if len(log_emission) >= FAST_ROWS:
            path, unique = _fast_paths(self, log_emission, lengths)
        else:
            path = np.full(len(log_emission), -1)
            unique = np.ones(len(lengths), dtype=bool)
            for s, rows in enumerate(_sequences(lengths)):
                path[rows], unique[s] = readable_path(self, log_emission[rows])
        return ChainPaths(path, self.log_score(log_emission, lengths, path), unique)

    def _check(self, log_emission: Array, lengths: Codes) -> None:
        """Refuse what the compiled loops would read past its end."""
        n_states, n_rows = self.n_states, int(np.sum(lengths))
        found = (log_emission.shape, np.shape(self.log_transition))
        if found != ((n_rows, n_states), (n_states, n_states)):
            raise InvalidInput(
                f"{found[0]} log probabilities of rows and {found[1]} of transitions were given "
                f"for {n_rows} rows and {n_states} states; there must be one for each row and "
                "state, and for each pair of states. Save the model again, if it is from a file."
            )

    def log_score(self, log_emission: Array, lengths: Codes, path: Codes) -> Array:
        """log p(x, z) of each sequence at the states ``path``; −inf where they are −1."""
        first = _starts(lengths)[:-1][lengths > 0]
        terms = log_emission[np.arange(len(path)), path] + np.append(
            0.0, self.log_transition[path[:-1], path[1:]]
        )
        terms[first] = log_emission[first, path[first]] + self.log_start[path[first]]
        return sequence_sums(np.where(path < 0, -np.inf, terms), lengths)

    def sample(self, lengths: Codes, rng: np.random.Generator) -> Codes:
        """States of sequences of these lengths, drawn from the chain."""
        start = np.cumsum(np.exp(self.log_start)).tolist()
        transition = np.cumsum(np.exp(self.log_transition), axis=1).tolist()
        uniform, out = rng.random(int(lengths.sum())).tolist(), []
        for rows in _sequences(lengths):
            upper = start
            for u in uniform[rows]:
                out.append(bisect_right(upper, u * upper[-1], hi=self.n_states - 1))
                upper = transition[out[-1]]
        return np.array(out, dtype=np.int64)

    def occupancy(self) -> Array:
        """The share of time in each state in the long run, (n_states,)."""
        share = np.exp(self.log_start)
        lazy = (np.eye(self.n_states) + np.exp(self.log_transition)) / 2  # it has no period
        for _ in range(64):  # 2⁶⁴ steps
            lazy = np.dot(lazy, lazy)
            lazy /= lazy.sum(axis=1, keepdims=True)
        share = np.dot(share, lazy)
        return np.asarray(share / share.sum())

    def variables(self, lengths: Codes) -> list[Variable]:
        """A variable for each row: z0, z1, …; of several sequences z0.0, z0.1, …, z1.0, …."""
        names = (
            [f"z{t}" for t in range(int(lengths.sum()))]
            if len(lengths) == 1
            else [f"z{s}.{t}" for s, length in enumerate(lengths.tolist()) for t in range(length)]
        )
        return [Variable(name, self.n_states) for name in names]

    def factor_graph(self, log_emission: Array, lengths: Codes) -> FactorGraph:
        """The unrolled chains, with the likelihood of each row as a factor of its state."""
        z = self.variables(lengths)
        factors = [
            Factor([variable], values, scale="log", name=f"p(x|{variable.name})")
            for variable, values in zip(z, log_emission, strict=True)
        ]
        for rows in _sequences(lengths):
            for t in range(rows.start, rows.stop):
                if t == rows.start:
                    here, table, name = [z[t]], self.log_start, f"p({z[t].name})"
                else:
                    here, table = [z[t - 1], z[t]], self.log_transition
                    name = f"p({z[t].name}|{z[t - 1].name})"
                factors.append(Factor(here, table, scale="log", name=name))
        return FactorGraph(factors, z)

    def check_saved(self) -> None:
        """Refuse numbers of another type, which compiled loops would misread."""
        types = (self.log_start.dtype.name, self.log_transition.dtype.name)
        same_count("The types of a chain's numbers", types, ("float64", "float64"))


def readable_beliefs(chain: Chain, log_emission: Array) -> tuple[Array, Array, Array]:
    """γ, Σ_t ξ_t and log c_t of one sequence, in logs: the definition of the compiled loop."""
    n, log_transition = len(log_emission), chain.log_transition
    predicted, filtered = np.empty(log_emission.shape), np.empty(log_emission.shape)
    pairs, log_scale = np.zeros(log_transition.shape), np.full(n, -np.inf)
    for t in range(n):
        predicted[t] = (
            np.logaddexp.reduce(filtered[t - 1][:, None] + log_transition) if t else chain.log_start
        )
        joint = predicted[t] + log_emission[t]
        log_scale[t] = np.logaddexp.reduce(joint)
        if log_scale[t] == -np.inf:
            return np.full(log_emission.shape, np.nan), pairs, log_scale
        filtered[t] = joint - log_scale[t]
    state = np.exp(filtered)
    predicted[np.isneginf(predicted)] = 0.0  # nothing leads there: exp(−inf − 0) is 0
    for t in range(n - 2, -1, -1):
        origin = np.exp(filtered[t][:, None] + log_transition - predicted[t + 1])
        pair = origin * state[t + 1]
        state[t] = pair.sum(axis=1)
        pairs += pair
    return state, pairs, log_scale


def readable_path(chain: Chain, log_emission: Array) -> tuple[Codes, bool]:
    """The most probable states of one sequence, and whether no others are as probable."""
    score, path, unique = np.empty(log_emission.shape), np.full(len(log_emission), -1), True
    for t in range(len(score)):
        reached = (
            (score[t - 1][:, None] + chain.log_transition).max(axis=0) if t else chain.log_start
        )
        joint = reached + log_emission[t]
        if joint.max() == -np.inf:
            return path, True
        score[t] = joint - joint.max()
    for t in range(len(score) - 1, -1, -1):
        value = score[t] + chain.log_transition[:, path[t + 1]] if t + 1 < len(score) else score[t]
        path[t], best = int(value.argmax()), float(value.max())
        unique &= int((value >= best - TIE * max(1.0, abs(best))).sum()) == 1
    return path, unique


def sequence_sums(values: Array, lengths: Codes) -> Array:
    """The sum of the values of each sequence; 0 for an empty one."""
    out, there = np.zeros(len(lengths)), lengths > 0
    if there.any():
        out[there] = np.add.reduceat(values, _starts(lengths)[:-1][there])
    return out


def _starts(lengths: Codes) -> Codes:
    """The first row of each sequence, and the number of rows."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _sequences(lengths: Codes) -> Iterator[slice]:
    """The rows of each sequence."""
    edges = _starts(lengths).tolist()
    return (slice(a, b) for a, b in pairwise(edges))


def _fast_beliefs(chain: Chain, log_emission: Array, lengths: Codes, weight: Array) -> ChainBeliefs:
    """Linear arithmetic with scales; logs for the sequences where it does not hold."""
    from likely.fast.chain import log_beliefs

    log_emission = for_loop(log_emission)
    state, pairs = np.empty(log_emission.shape), np.zeros(chain.log_transition.shape)
    each, exact = np.full(len(state), -np.inf), np.zeros(len(lengths), dtype=bool)
    if chain.is_linear:
        each, exact = _scaled(chain, log_emission, lengths, weight, state, pairs)
    start, transition = for_loop(chain.log_start), for_loop(chain.log_transition)
    before, edges = transition.T.copy(), _starts(lengths)
    for s in np.flatnonzero(~exact & (lengths > 0)).tolist():
        rows = slice(edges[s], edges[s + 1])
        each[rows], own, counts = -np.inf, state[rows], float(weight[s])
        if not log_beliefs(
            log_emission[rows], start, transition, before, counts, own, each[rows], pairs
        ):
            own[:] = np.nan
    return ChainBeliefs(state, pairs, each, sequence_sums(each, lengths))


def _scaled(
    chain: Chain,
    log_emission: Array,
    lengths: Codes,
    weight: Array,
    state: Array,
    pairs: Array,
) -> tuple[Array, Array]:
    """Write ``state`` and ``pairs``; log c_t of each row, and whether each sequence is exact."""
    from likely.fast.chain import scaled_beliefs, shift_rows

    n, n_states = log_emission.shape
    work, ratio = np.empty((n, n_states)), np.empty((n, n_states))
    top, scale = np.empty(n), np.ones(n)
    exact = np.zeros(len(lengths), dtype=bool)
    shift_rows(log_emission, work, top)
    np.exp(work, out=work)
    start, transition = np.exp(chain.log_start), np.exp(chain.log_transition)
    before, first = transition.T.copy(), _starts(lengths)
    scaled_beliefs(
        work, first, start, transition, before, for_loop(weight), state, scale, ratio, exact
    )
    pairs += transition * np.dot(work[:-1].T, ratio[1:])
    return np.log(scale) + top, exact


def _fast_paths(chain: Chain, log_emission: Array, lengths: Codes) -> tuple[Codes, Array]:
    from likely.fast.chain import best_paths

    score, path = np.empty(log_emission.shape), np.full(len(log_emission), -1)
    unique = np.empty(len(lengths), dtype=bool)
    best_paths(
        for_loop(log_emission),
        _starts(lengths),
        for_loop(chain.log_start),
        for_loop(chain.log_transition),
        TIE,
        score,
        path,
        unique,
    )
    return path, unique
