"""Compiled forward–backward and Viterbi passes over sequences of hidden states.

    predicted  p_t(j) = Σ_k α_{t−1}(k) A_kj         filtered  α_t(k) = p_t(k) b_t(k) / c_t
    smoothed   γ_t(k) = α_t(k) Σ_j A_kj r_{t+1}(j)  where     r_t(j) = γ_t(j) / p_t(j)
    pairs      Σ_t ξ_t(k, j) = A_kj Σ_t α_t(k) r_{t+1}(j)        (by the caller)

Linear arithmetic, with one scale c_t per step.  A state that can occur never becomes 0: it is held
at ``FLOOR``, which adds to it.  What was added can matter only where a state at the floor has a
posterior, so that the sum of these posteriors bounds the relative error.  A sequence with more
``doubt`` than that, or with a step whose scale is too small, is computed in logs instead.

All arrays are float64 (``first`` and ``path`` int64), C-contiguous and writable.  Sequence s has
the rows first[s] to first[s + 1]; ``before`` is the transition matrix, transposed.  Nothing is
checked here.
"""

import numpy as np
from numba import njit

FLOOR = 1e-150  # of a filtered probability: times the smallest transition, it is still a number
LEAST_LOG = -345.0  # of start and transitions, about log FLOOR; below, only logs will do
SMALLEST_SCALE = 1e-140  # of a step: e^LOWEST over it is still below the floor
LOWEST = -690.0  # log-likelihood within a row, above log of the smallest number
DOUBT = 1e-15  # posterior of states at the floor, summed over a sequence


@njit(cache=True, nogil=True)
def shift_rows(log_emission, shifted, top):
    """Each row less its maximum, at least LOWEST where it is finite; −inf stays, and a row of it.

    Overwrites ``shifted`` (n, K) and ``top`` (n,), the maxima.
    """
    n, n_states = log_emission.shape
    for t in range(n):
        highest = log_emission[t, 0]
        for k in range(1, n_states):
            highest = max(highest, log_emission[t, k])
        top[t] = highest
        if highest == -np.inf:
            highest = 0.0
        for k in range(n_states):
            value = log_emission[t, k]
            shifted[t, k] = value if value == -np.inf else max(value - highest, LOWEST)


@njit(cache=True, nogil=True)
def scaled_beliefs(work, first, start, transition, before, weight, state, scale, ratio, exact):
    """Smoothed states of each sequence, where linear arithmetic holds.

    ``work`` (n, K) has the likelihoods, as ``shift_rows`` leaves them, after exp; it is overwritten
    by filtered probabilities.  Writes ``state`` (n, K), ``scale`` (n,), ``exact`` (S,) and
    ``ratio`` (n, K): r, times ``weight`` (S,), and 0 in the first row of a sequence and where it is
    not exact.
    """
    n_states = start.size
    predicted = np.empty(n_states)
    for s in range(first.size - 1):
        a, b = first[s], first[s + 1]
        exact[s] = True
        if a == b:
            continue
        exact[s] = _filter(work, start, transition, state, scale, predicted, a, b)
        if exact[s]:
            exact[s] = _smooth(work, before, state, ratio, predicted, weight[s], a, b) <= DOUBT
        if not exact[s]:
            ratio[a:b] = 0.0
        ratio[a] = 0.0


@njit(cache=True, nogil=True)
def _filter(work, start, transition, state, scale, predicted, a, b):
    """Overwrite ``work`` by α and ``state`` by p; whether every scale is large enough."""
    n_states = start.size
    predicted[:] = start
    for t in range(a, b):
        if t > a:
            predicted[:] = 0.0
            for k in range(n_states):
                share = work[t - 1, k]
                if share > 0.0:
                    for j in range(n_states):
                        predicted[j] += share * transition[k, j]
        total = 0.0
        for k in range(n_states):
            total += predicted[k] * work[t, k]
        if not total >= SMALLEST_SCALE:
            return False
        scale[t] = total
        inverse = 1.0 / total
        for k in range(n_states):
            p, likelihood = predicted[k], work[t, k]
            value = p * likelihood * inverse
            if value < FLOOR and p > 0.0 and likelihood > 0.0:
                value = FLOOR
            state[t, k] = p
            work[t, k] = value
    return True


@njit(cache=True, nogil=True)
def _smooth(work, before, state, ratio, smoothed, weight, a, b):
    """Overwrite ``state``, which holds p, by γ, and ``ratio`` by r, times the weight; the doubt."""
    n_states = smoothed.size
    smoothed[:] = work[b - 1]
    doubt = 0.0
    for t in range(b - 1, a - 1, -1):
        total = 0.0
        for k in range(n_states):
            total += smoothed[k]
        inverse = 1.0 / total
        for k in range(n_states):
            share = smoothed[k] * inverse
            smoothed[k] = 0.0
            if work[t, k] <= FLOOR:
                doubt += share
            ratio[t, k] = share / state[t, k] if share > 0.0 else 0.0
            state[t, k] = share
        if t == a:
            break
        for j in range(n_states):
            factor = ratio[t, j]
            if factor > 0.0:
                for k in range(n_states):
                    smoothed[k] += before[j, k] * factor
                ratio[t, j] = factor * weight
        for k in range(n_states):
            smoothed[k] *= work[t - 1, k]
    return doubt


@njit(cache=True, nogil=True)
def log_beliefs(log_emission, log_start, log_transition, before, weight, state, evidence, pairs):
    """The same in logs, for one sequence; whether it is possible.

    Writes ``evidence`` (n,), log p(x_t | x_1 … x_{t−1}), up to the first that is −inf.  If there is
    none, writes ``state`` (n, K) and adds to ``pairs`` (K, K), times ``weight``.
    """
    n, n_states = log_emission.shape
    filtered, predicted = np.empty((n, n_states)), np.empty((n, n_states))
    predicted[0] = log_start
    for t in range(n):
        if t > 0:
            for j in range(n_states):
                predicted[t, j] = _log_sum(filtered[t - 1], before[j])
        total = _log_sum(predicted[t], log_emission[t])
        evidence[t] = total
        if total == -np.inf:
            return False
        for k in range(n_states):
            filtered[t, k] = predicted[t, k] + log_emission[t, k] - total
    for k in range(n_states):
        state[n - 1, k] = np.exp(filtered[n - 1, k])
    for t in range(n - 2, -1, -1):
        for k in range(n_states):
            state[t, k] = 0.0
            if filtered[t, k] == -np.inf:
                continue
            for j in range(n_states):
                if state[t + 1, j] > 0.0 and log_transition[k, j] > -np.inf:
                    origin = np.exp(filtered[t, k] + log_transition[k, j] - predicted[t + 1, j])
                    pair = origin * state[t + 1, j]
                    state[t, k] += pair
                    pairs[k, j] += weight * pair
    return True


@njit(cache=True, nogil=True)
def _log_sum(one, other):
    """log Σ_k exp(one_k + other_k)."""
    highest = -np.inf
    for k in range(one.size):
        highest = max(highest, one[k] + other[k])
    if highest == -np.inf:
        return highest
    total = 0.0
    for k in range(one.size):
        total += np.exp(one[k] + other[k] - highest)
    return highest + np.log(total)


@njit(cache=True, nogil=True)
def best_paths(log_emission, first, log_start, log_transition, tie, score, path, unique):
    """The most probable states of each sequence by Viterbi's recursion, in logs.

    Overwrites ``score`` (n, K), a workspace, ``unique`` (S,), and ``path`` (n,) of possible ones.
    A state is not unique if another reaches its successor within ``tie``, relatively.
    """
    best = np.empty(log_start.size)
    for s in range(first.size - 1):
        a, b = first[s], first[s + 1]
        unique[s] = True
        if a < b and _best_scores(log_emission, log_start, log_transition, score, best, a, b):
            unique[s] = _backtrack(score, log_transition, tie, path, a, b)


@njit(cache=True, nogil=True)
def _best_scores(log_emission, log_start, log_transition, score, best, a, b):
    """Write the highest score of a path to each state, less that of the step; if there is one."""
    n_states = log_start.size
    best[:] = log_start
    for t in range(a, b):
        if t > a:
            best[:] = -np.inf
            for k in range(n_states):
                reached = score[t - 1, k]
                if reached > -np.inf:
                    for j in range(n_states):
                        value = reached + log_transition[k, j]
                        best[j] = value if value > best[j] else best[j]  # max is slower
        highest = -np.inf
        for k in range(n_states):
            value = best[k] + log_emission[t, k]
            best[k] = value
            highest = value if value > highest else highest
        if highest == -np.inf:
            return False
        for k in range(n_states):
            score[t, k] = best[k] - highest
    return True


@njit(cache=True, nogil=True)
def _backtrack(score, log_transition, tie, path, a, b):
    """Write the path from its end; whether no other had the same score."""
    n_states = score.shape[1]
    unique = True
    for t in range(b - 1, a - 1, -1):
        highest, second, at = -np.inf, -np.inf, 0
        for k in range(n_states):
            value = score[t, k]
            if t < b - 1:
                value += log_transition[k, path[t + 1]]
            if value > highest:
                highest, second, at = value, highest, k
            else:
                second = max(second, value)
        path[t] = at
        if second >= highest - tie * max(1.0, abs(highest)):
            unique = False
    return unique
