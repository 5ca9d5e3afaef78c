"""Compiled coordinate descent over columns, and over a Gram matrix of the active ones.

    _soft(u, λ) = sign(u) max(|u| − λ, 0)

All arrays are float64; positions int32 or int64.  The callers check; nothing is checked here.
"""

import numpy as np
from numba import njit

FLAT = 1e-13  # a curvature below this part of its terms is rounding


@njit(cache=True, nogil=True)
def _soft(u, l1):
    if u > l1:
        return u - l1
    if u < -l1:
        return u + l1
    return 0.0


@njit(cache=True, nogil=True)
def _moved(beta, gradient, h, l1, curvature):
    """The move of β_j; the coefficient of a constant column is set to 0."""
    if h <= FLAT * curvature or h == 0.0:
        return -beta if l1 > 0.0 else 0.0
    return _soft(h * beta - gradient, l1) / h - beta


@njit(cache=True, nogil=True)
def descend_gram(G, q, c, beta, l1, l2, y2, tol, max_sweeps):
    """Minimise ½βᵀGβ − qᵀβ + Σ l1|β| + ½Σ l2 β²; overwrite beta and c = q − Gβ.

    Ends when the duality gap on these columns, y2 being Σ w y², is at most ``tol``; returns the
    sweeps used, max_sweeps + 1 if too few.  G may be larger than beta.
    """
    m = beta.size
    for sweep in range(max_sweeps):
        for j in range(m):
            h = G[j, j] + l2[j]
            if h <= 0.0:
                continue
            old = beta[j]
            new = _soft(c[j] + G[j, j] * old, l1[j]) / h
            if new != old:
                beta[j] = new
                move = new - old
                row = G[j]
                for k in range(m):
                    c[k] -= move * row[k]
        fit, rest, size, ridge, scale = 0.0, 0.0, 0.0, 0.0, 1.0
        for j in range(m):
            fit += beta[j] * q[j]
            rest += beta[j] * c[j]
            size += l1[j] * abs(beta[j])
            ridge += l2[j] * beta[j] * beta[j]
            pull = abs(c[j] - l2[j] * beta[j])
            if pull * scale > l1[j]:
                scale = l1[j] / pull
        squares = y2 - fit - rest
        primal = 0.5 * squares + size + 0.5 * ridge
        dual = scale * (y2 - fit) - 0.5 * scale * scale * (squares + ridge)
        if primal - dual <= tol:
            return sweep + 1
    return max_sweeps + 1


@njit(cache=True, nogil=True)
def descend_csc(starts, rows, values, columns, d, q, beta, l1, l2, centred, share, max_sweeps):
    """Minimise Σ_i [q_i u_i + ½ d_i u_i²] + Σ_j [l1|β_j| + ½ l2 β_j²], u = X(β − β₀) + t.

    ``columns`` are those of a CSC matrix that move; beta, l1, l2 are on them.  beta is overwritten,
    and q with q + d·X(β − β₀).  t, 0 unless ``centred``, is optimal after every move.  A
    column that stays at 0 is not visited again.  Ends when a sweep moved ``share`` as much as
    the first; returns t.
    """
    m = columns.size
    total = d.sum()
    curvature, cross, order = np.zeros(m), np.zeros(m), np.arange(m)
    for k in range(m):
        for e in range(starts[columns[k]], starts[columns[k] + 1]):
            dx = d[rows[e]] * values[e]
            cross[k] += dx
            curvature[k] += dx * values[e]
    if not centred or total <= 0.0:
        cross[:] = 0.0
        total = 1.0
    t = -q.sum() / total if centred else 0.0
    first = 0.0
    for _ in range(max_sweeps):
        fall, left = 0.0, 0
        for position in range(m):
            k = order[position]
            start, stop = starts[columns[k]], starts[columns[k] + 1]
            g0, g1 = cross[k] * t + l2[k] * beta[k], 0.0
            whole = stop - (stop - start) % 2
            for e in range(start, whole, 2):  # two sums: one would wait for each addition
                g0 += values[e] * q[rows[e]]
                g1 += values[e + 1] * q[rows[e + 1]]
            if whole < stop:
                g0 += values[whole] * q[rows[whole]]
            h = curvature[k] - cross[k] * cross[k] / total + l2[k]
            move = _moved(beta[k], g0 + g1, h, l1[k], curvature[k])
            if move == 0.0 and beta[k] == 0.0:
                continue
            order[left] = k
            left += 1
            beta[k] += move
            fall += h * move * move
            if move != 0.0:
                t -= cross[k] / total * move
                for e in range(start, stop):
                    q[rows[e]] += d[rows[e]] * values[e] * move
        m, first = left, max(first, fall)
        if fall <= share * first:
            break
    return t


@njit(cache=True, nogil=True)
def descend_dense(X, columns, d, q, beta, l1, l2, centred, share, max_sweeps):
    """Coordinate descent on columns that are the rows of a C-contiguous X (p, n)."""
    m = columns.size
    total = d.sum()
    curvature, cross, order = np.zeros(m), np.zeros(m), np.arange(m)
    for k in range(m):
        dx = d * X[columns[k]]
        cross[k] = dx.sum()
        curvature[k] = np.dot(dx, X[columns[k]])
    if not centred or total <= 0.0:
        cross[:] = 0.0
        total = 1.0
    t = -q.sum() / total if centred else 0.0
    first = 0.0
    for _ in range(max_sweeps):
        fall, left = 0.0, 0
        for position in range(m):
            k = order[position]
            x = X[columns[k]]
            gradient = np.dot(x, q) + cross[k] * t + l2[k] * beta[k]
            h = curvature[k] - cross[k] * cross[k] / total + l2[k]
            move = _moved(beta[k], gradient, h, l1[k], curvature[k])
            if move == 0.0 and beta[k] == 0.0:
                continue
            order[left] = k
            left += 1
            beta[k] += move
            fall += h * move * move
            if move != 0.0:
                t -= cross[k] / total * move
                for i in range(x.size):
                    q[i] += d[i] * x[i] * move
        m, first = left, max(first, fall)
        if fall <= share * first:
            break
    return t


@njit(cache=True, nogil=True)
def add_csc_columns(starts, rows, values, columns, moves, out):
    """out += Σ_k moves_k x_{columns_k}."""
    for k in range(columns.size):
        if moves[k] != 0.0:
            for e in range(starts[columns[k]], starts[columns[k] + 1]):
                out[rows[e]] += moves[k] * values[e]
