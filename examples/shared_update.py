"""Linear and logistic regression by one update; maximising a likelihood, minimising a loss."""

import numpy as np

from likely.likelihoods import likelihood_of
from likely.solvers import FixedStep, Negated, maximise, minimise
from likely.special import expit, identity
from likely.teaching import canonical_update, loss_objective

rng = np.random.default_rng(0)
x = rng.uniform(-3, 3, 50)
X = np.column_stack([np.ones(50), x])
targets = {
    "linear": (identity, 0.5 + 0.8 * x + rng.normal(scale=0.5, size=50), "gaussian"),
    "logistic": (expit, (rng.random(50) < expit(0.5 + 2 * x)).astype(float), "bernoulli"),
}

print("θ ← θ + t Σ (y − f) x, with f = xᵀθ or f = σ(xᵀθ)")
for name, (mean, y, response) in targets.items():
    theta = np.zeros(2)
    for n in range(101):
        if n in (0, 1, 10, 100):
            loss = likelihood_of(response).nll(y, X @ theta).sum()
            print(f"{name:>9}, {n:3d} updates: θ = {theta.round(3)}, loss {loss:.3f}")
        theta = canonical_update(theta, X, y=y, mean=mean, step=0.005)

# Ascent on the log-likelihood and descent on the cross-entropy visit the same points.
cross_entropy = loss_objective(x[:, None], targets["logistic"][1])
up, down = [], []
for search, objective, seen in [
    (maximise, Negated(cross_entropy), up),
    (minimise, cross_entropy, down),
]:
    search(FixedStep(0.005), objective, np.zeros(2), tol=0.0, max_iter=50, watch=seen.append)
same = all(np.array_equal(a.theta, b.theta) for a, b in zip(up, down, strict=True))
print(f"{len(up) - 1} steps up and {len(down) - 1} steps down, exactly the same: {same}")
