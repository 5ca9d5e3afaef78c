"""Two-way tables of a binary response whose maximum-likelihood estimates are known exactly.

The rows with linear predictor η_i have n_i·P(η_i) successes and n_i·(1 − P(η_i)) failures, so that
every term of the score is 0 at the coefficients from which the table was made, whatever the link:

    Σ_i n_i (P(η_i) − P(η_i)) · (slope of row i) = 0

P and 1 − P are written out here for each link, from the side that does not cancel.
"""

from dataclasses import dataclass
from math import atan, erfc, exp, expm1, log, log1p, pi, sqrt, tan
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

BASES = (0.5, 0.1, 1e-2, 1e-4, 1e-6)
RATIOS = (1.0, 3.0, 1e3, 1e6)


class BinaryLink(NamedTuple):
    """η of (p, 1 − p), (p, 1 − p) of η, and dp/dη."""

    eta: object
    sides: object
    slope: object


def _cauchit_sides(eta):
    if abs(eta) < 1:
        return 0.5 + atan(eta) / pi, 0.5 - atan(eta) / pi
    tail = atan(1 / abs(eta)) / pi
    return (tail, 1 - tail) if eta < 0 else (1 - tail, tail)


LINKS = {
    "logit": BinaryLink(
        lambda p, q: log(p / q),
        lambda e: (1 / (1 + exp(-e)), 1 / (1 + exp(e))),
        lambda e: 1 / (1 + exp(-e)) / (1 + exp(e)),
    ),
    "probit": BinaryLink(
        lambda p, q: float(ndtri(p)) if p < q else -float(ndtri(q)),
        lambda e: (erfc(-e / sqrt(2)) / 2, erfc(e / sqrt(2)) / 2),
        lambda e: exp(-e * e / 2) / sqrt(2 * pi),
    ),
    "cloglog": BinaryLink(
        lambda p, q: log(-log1p(-p) if p < q else -log(q)),
        lambda e: (-expm1(-exp(e)), exp(-exp(e))),
        lambda e: exp(e - exp(e)),
    ),
    "loglog": BinaryLink(
        lambda p, q: -log(-log(p) if p < q else -log1p(-q)),
        lambda e: (exp(-exp(-e)), -expm1(-exp(-e))),
        lambda e: exp(-e - exp(-e)),
    ),
    "cauchit": BinaryLink(
        lambda p, q: -1 / tan(pi * p) if p < q else 1 / tan(pi * q),
        _cauchit_sides,
        lambda e: 1 / (pi * (1 + e * e)),
    ),
    "log": BinaryLink(lambda p, q: log(p), lambda e: (exp(e), -expm1(e)), exp),
    "identity": BinaryLink(lambda p, q: p, lambda e: (e, 1 - e), lambda e: 1.0),
}


@dataclass(frozen=True)
class Table:
    """Rows with counts of successes and failures, and the estimates they have."""

    X: np.ndarray  # (n_rows, n_columns), a row for each distinct predictor
    successes: np.ndarray
    failures: np.ndarray
    theta: np.ndarray  # coefficients, then the intercept
    errors: np.ndarray  # their standard errors, from the expected information

    def weighted(self):
        """X, y and the weights: two rows for each row of the table."""
        y = np.repeat([1, 0], len(self.X))
        return np.tile(self.X, (2, 1)), y, np.append(self.successes, self.failures)

    def expanded(self):
        """X and y with a row for each count, in an order that is not that of the table."""
        X, y, weight = self.weighted()
        rows = np.repeat(np.arange(len(y)), weight.astype(int))
        rows = np.random.default_rng(0).permutation(rows)
        return X[rows], y[rows]


def table_of(link, X, theta, sizes):
    """The table that θ explains perfectly, with ``sizes`` rows for each predictor."""
    design = np.column_stack([X, np.ones(len(X))])
    eta = (design @ theta).tolist()
    sides = np.array([LINKS[link].sides(e) for e in eta])
    slope = np.array([LINKS[link].slope(e) for e in eta])
    # by QR of its root, since the information of groups may differ by 1e24
    root = design * (np.sqrt(sizes / sides.prod(axis=1)) * slope)[:, None]
    R = np.linalg.qr(root / np.linalg.norm(root, axis=0), mode="r")
    errors = np.linalg.norm(np.linalg.inv(R), axis=1) / np.linalg.norm(root, axis=0)
    return Table(X, sizes * sides[:, 0], sizes * sides[:, 1], np.asarray(theta, float), errors)


def etas(link, base, ratios):
    """The predictors of groups whose odds are ``ratios`` times those of the base rate."""
    odds = [base / (1 - base) * ratio for ratio in ratios]
    return np.array([LINKS[link].eta(o / (1 + o), 1 / (1 + o)) for o in odds])


def sizes_of(base, ratios, many):
    """Rows of each group: its smaller cell has 3, times ``many`` of the group."""
    odds = base / (1 - base) * np.asarray(ratios)
    return 3 * np.asarray(many) * (1 + odds) / np.minimum(odds, 1.0)


def grouped(link, base, ratios, many):
    """A table of one row per group; the first group is the reference."""
    ratios = (1.0, *ratios)
    eta = etas(link, base, ratios)
    X = np.eye(len(eta))[:, 1:]
    theta = np.append(eta[1:] - eta[0], eta[0])
    return table_of(link, X, theta, sizes_of(base, ratios, many))


def with_second_column(link, base, ratio, many):
    """A table of two groups and a number z from -2 to 0 that lowers the predictor of both."""
    low, high, below = etas(link, base, (1.0, ratio, 0.9))
    X = np.column_stack([np.repeat([0.0, 1.0], 3), np.tile([-2.0, -0.75, 0.0], 2)])
    theta = np.array([high - low, (low - below) / 2, low])
    return table_of(link, X, theta, np.repeat(sizes_of(base, (1.0, ratio), many), 3))


def counts(link, cells):
    """A saturated table of whole counts: (successes, failures) of each group."""
    cells = np.asarray(cells, float)
    n = cells.sum(axis=1)
    eta = np.array([LINKS[link].eta(s / (s + f), f / (s + f)) for s, f in cells.tolist()])
    slope = np.array([LINKS[link].slope(e) for e in eta.tolist()])
    variance = cells.prod(axis=1) / n**3 / slope**2  # of η̂ in each group
    theta = np.append(eta[1:] - eta[0], eta[0])
    errors = np.sqrt(np.append(variance[1:] + variance[0], variance[0]))
    return Table(np.eye(len(n))[:, 1:], cells[:, 0], cells[:, 1], theta, errors)
