"""
Linear and logistic regression, side by side
============================================

The same update, θ ← θ + t Σ (y − f) x, trains both models. They differ in the mean function that
maps xᵀθ to f, and therefore in the loss that decreases. Above: the fits after some updates.
Below: the losses.
"""

import matplotlib.pyplot as plt
import numpy as np

from likely.likelihoods import likelihood_of
from likely.special import expit, identity
from likely.teaching import canonical_update

rng = np.random.default_rng(2)
x = np.sort(rng.uniform(-3, 3, 40))
X = np.column_stack([np.ones(40), x])
sides = {
    "linear": (identity, 0.5 + 0.8 * x + rng.normal(scale=0.6, size=40), "gaussian", 0.004),
    "logistic": (expit, (rng.random(40) < expit(0.5 + 2 * x)).astype(float), "bernoulli", 0.02),
}
shown = [0, 1, 3, 10, 100]
grid = np.linspace(-3.2, 3.2, 200)
columns = np.column_stack([np.ones(200), grid])

figure, axes = plt.subplots(
    2, 2, figsize=(9, 6), height_ratios=[2, 1], sharex="row", layout="constrained"
)
for (name, (mean, y, response, step)), (top, bottom) in zip(sides.items(), axes.T, strict=True):
    theta, trace = np.zeros(2), []
    for n in range(101):
        trace.append(likelihood_of(response).nll(y, X @ theta).sum())
        if n in shown:
            color = plt.cm.viridis_r(0.15 + 0.8 * shown.index(n) / len(shown))
            top.plot(grid, mean(columns @ theta), color=color, label=f"{n}")
            bottom.plot(n, trace[-1], "o", color=color, markersize=5, zorder=3)
        theta = canonical_update(theta, X, y=y, mean=mean, step=step)
    top.plot(x, y, ".", color="0.5", zorder=0)
    top.set(title=f"{name} regression, t = {step}", xlabel="x", ylabel="f(x)")
    bottom.plot(trace, color="0.5", zorder=2)
    bottom.set(xlabel="updates", xscale="symlog")
axes[0, 0].legend(title="updates")
axes[1, 0].set_ylabel("½ Σ (f − y)²")
axes[1, 1].set_ylabel("cross-entropy")

plt.show()
