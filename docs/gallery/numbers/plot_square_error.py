"""
Square error does not correct confident mistakes
================================================

Two losses for the same logistic model. Left: their derivatives for one example of class 1. Where
the model is certain of the wrong class, the derivative of the square error is close to 0. Middle
and right: the two losses as surfaces over weight and bias, for forty examples, with the path of
two hundred gradient steps of equal size from the same start. The cross-entropy is convex, and
the path leads to its minimum; the square error has a plateau at the start, and two hundred steps
do not leave it.
"""

import matplotlib.pyplot as plt
import numpy as np

from likely.likelihoods import likelihood_of
from likely.solvers import FixedStep, minimise
from likely.teaching import SquareErrorLogistic, loss_objective

losses = {"cross-entropy": likelihood_of("bernoulli"), "square-error": SquareErrorLogistic()}
names = {"cross-entropy": "cross-entropy", "square-error": "square error"}

rng = np.random.default_rng(0)
x = rng.normal(size=(40, 1))
y = (1.5 * x[:, 0] + rng.logistic(scale=0.5, size=40) > 0).astype(float)
start = np.array([-9.0, -3.0])
weights, biases = np.meshgrid(np.linspace(-12, 8, 81), np.linspace(-8, 8, 65))
every = np.column_stack([weights.ravel(), biases.ravel()])

figure, (left, *surfaces) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
a = np.linspace(-10, 10, 401)
for k, (name, loss) in enumerate(losses.items()):
    left.plot(a, loss.derivatives(np.ones(a.size), a)[1], color=f"C{k}", label=names[name])
left.axhline(0, color="0.7", linewidth=0.8, zorder=0)
left.annotate(
    "certain\nand wrong:\nno slope", (-8, -0.005), (-9.5, -0.42), arrowprops={"arrowstyle": "->"}
)
left.set(xlabel="logit a, target 1", ylabel="slope of the loss in a", title="slopes")
left.legend(loc="lower right")

for k, (axis, name) in enumerate(zip(surfaces, losses, strict=True)):
    objective, path = loss_objective(x, y, loss=name), []
    value = np.array([objective.value(theta) for theta in every]).reshape(weights.shape) / 40
    shade = axis.contourf(weights, biases, value, levels=20, cmap="Greys_r")
    minimise(
        FixedStep(0.05),
        objective,
        start,
        tol=0.0,
        max_iter=200,
        watch=lambda state, path=path: path.append(state.theta),
    )
    axis.plot(*np.array(path).T, ".-", color=f"C{k}", markersize=4, linewidth=1)
    axis.plot(*start, "o", color=f"C{k}", markeredgecolor="white", markersize=8)
    axis.set(xlabel="weight", ylabel="bias", title=f"{names[name]} per example")
    figure.colorbar(shade, ax=axis)

plt.show()
