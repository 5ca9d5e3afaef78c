"""
A network learns two moons
==========================

Two hidden layers of eight units, trained with early stopping. The network is drawn by ``draw``;
its losses are in ``history_``; and the boundary bends with the classes, where that of a network
without hidden layers, which is logistic regression, is straight.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import likely as lk

X, y = make_moons(400, noise=0.25, random_state=0)
bent = lk.NeuralNetworkClassifier(
    (8, 8),
    activation="tanh",
    learning_rate=0.01,
    early_stopping=40,
    validation=0.25,
    max_epochs=400,
    random_state=0,
).fit(X, y)
straight = lk.NeuralNetworkClassifier((), solver="lbfgs").fit(X, y)


def show_network(ax, diagram):
    """The layers of a network, as ``draw`` has arranged them."""
    drawing = diagram.drawing
    for line in drawing.lines:
        ax.plot(*line.curve.T, color="0.6", linewidth=0.5, zorder=0)
    for node in drawing.shapes:
        box = node.shape
        colour = {"dot": "0.2"}.get(node.kind, "0.85" if node.shaded else "white")
        ax.add_patch(plt.Circle(box.centre, box.width / 2, facecolor=colour, edgecolor="0.2"))
        ax.text(*node.text.centre, node.text.label, ha="center", va="center", fontsize=6)
    for box in drawing.labels:
        ax.text(*box.centre, box.label, ha="center", va="center", fontsize=5)
    ax.set(xlim=(0, drawing.width), ylim=(drawing.height, 0), aspect="equal")
    ax.axis("off")


fig, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
show_network(axes[0], bent.draw())
bent.history_.plot(axes[1])
grid = np.stack(np.meshgrid(np.linspace(-1.8, 2.8, 200), np.linspace(-1.4, 1.9, 200)), axis=-1)
p = bent.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(200, 200)
q = straight.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(200, 200)
axes[2].contourf(grid[..., 0], grid[..., 1], p, levels=11, cmap="RdBu_r", alpha=0.6)
axes[2].contour(grid[..., 0], grid[..., 1], p, levels=[0.5], colors="black")
axes[2].contour(grid[..., 0], grid[..., 1], q, levels=[0.5], colors="black", linestyles=":")
axes[2].scatter(*X.T, c=y, cmap="RdBu_r", s=8, edgecolors="white", linewidths=0.3)
axes[2].set(title="p(class 1); dotted: no hidden layers", xticks=[], yticks=[])
plt.show()
