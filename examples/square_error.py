"""Cross-entropy and square error on one logistic model: both gradients, and training with each."""

import numpy as np

from likely.likelihoods import likelihood_of
from likely.solvers import LBFGS, FixedStep, minimise
from likely.teaching import MARGIN_LOSSES, SquareErrorLogistic, loss_objective

cross, square = likelihood_of("bernoulli"), SquareErrorLogistic()
a = np.array([-20.0, -10.0, -2.0, 0.0, 2.0, 10.0])
slopes = [loss.derivatives(np.ones(a.size), a)[1] for loss in (cross, square)]
print("target 1: logit a, derivative of the cross-entropy, derivative of the square error")
for row in zip(a, *slopes, strict=True):
    print("{:6g} {:12.3e} {:12.3e}".format(*row))

# One example of class 1, predicted as class 0 with certainty; a hundred steps of equal size.
start = np.array([0.0, -10.0])
for name in ("cross-entropy", "square-error"):
    states = []  # every state of the search: value, parameters, gradient
    objective = loss_objective([[0.0]], [1], loss=name)
    minimise(FixedStep(0.5), objective, start, tol=0.0, max_iter=100, watch=states.append)
    nll = loss_objective([[0.0]], [1]).value(states[-1].theta)
    norms = [float(np.linalg.norm(state.gradient)) for state in states]
    print(f"{name}: nll 10.00 → {nll:.2f}, gradient {norms[0]:.1e} → {norms[-1]:.1e}")

# A linear classifier fitted with each surrogate of the zero-one loss.
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 2))
y = (X @ [1.5, -1.0] + rng.logistic(scale=0.5, size=300) > 0.3).astype(int)
for name, loss in MARGIN_LOSSES.items():
    if name != "zero-one":  # its derivative is 0 almost everywhere
        theta = minimise(LBFGS(), loss_objective(X, y, loss=name, l2=0.1), np.zeros(3)).theta
        errors = loss_objective(X, y, loss="zero-one").value(theta) / 300
        bound = loss_objective(X, y, loss=name).value(theta) / 300 / loss.scale
        print(f"{name:>15}: error rate {errors:.3f}, bounded by {bound:.3f}")
