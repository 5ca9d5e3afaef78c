"""
Standard errors for rows in groups
==================================

The rows of a group share a random effect. Left: 95% intervals by three covariances, for one data
set; x varies within groups and z only between groups, and both have the coefficient ½. Right:
the share of intervals that cover the true value, in a hundred such data sets. Because the rows
of a group are not independent, only the clustered standard errors have the nominal coverage for
z.
"""

import matplotlib.pyplot as plt
import numpy as np

import likely as lk

KINDS = ["model", "HC1", "clustered"]
TRUTH = np.array([0.5, 0.5])


def draw(rng, n_groups=80, n_each=6):
    """Counts with a random effect that the rows of a group share."""
    groups = np.repeat(np.arange(n_groups), n_each)
    X = np.column_stack(
        [rng.uniform(-1.7, 1.7, groups.size), rng.uniform(-1.7, 1.7, n_groups)[groups]]
    )
    luck = rng.normal(scale=0.5, size=n_groups)[groups]
    return X, rng.poisson(np.exp(0.5 + X @ TRUTH + luck)), groups


def intervals(X, y, groups):
    """(kind, coefficient, end)."""
    fits = [
        lk.GLM("poisson", standard_errors=kind).fit(
            X, y, groups=groups if kind == "clustered" else None
        )
        for kind in KINDS
    ]
    reach = np.array([1.96 * fit.inference_.standard_errors[:2] for fit in fits])
    return fits[0].coef_[:, None] + reach[:, :, None] * [-1, 1]


rng = np.random.default_rng(1)
found = np.array([intervals(*draw(rng)) for _ in range(100)])
holds = (found[..., 0] < TRUTH) & (found[..., 1] > TRUTH)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for k, kind in enumerate(KINDS):
    place = np.array([1.0, 0.0]) + 0.2 * (1 - k)
    low, high = found[0, k].T
    left.errorbar((low + high) / 2, place, xerr=(high - low) / 2, fmt="o", capsize=4, label=kind)
    right.barh(place, holds[:, k].mean(axis=0), height=0.17)
left.axvline(0.5, color="grey", linestyle=":")
left.set(yticks=[1, 0], yticklabels=["x", "z"], xlabel="coefficient", ylim=(-0.45, 1.6))
left.legend(ncols=3, loc="upper center", frameon=False)
right.axvline(0.95, color="grey", linestyle=":")
right.set(yticks=[1, 0], yticklabels=["x", "z"], xlabel="coverage of the intervals")
right.set(xlim=(0, 1), ylim=(-0.45, 1.6))

plt.show()
