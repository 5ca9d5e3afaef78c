"""
One predictor, several thresholds
=================================

The progression of diabetes within a year, in four stages, against body mass. The probabilities
of being above each stage are one curve, shifted by the thresholds; their differences are the
probabilities of the stages.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import likely as lk

data = load_diabetes(scaled=False)
body_mass = data.data[:, [2]]
stages = ["slow", "moderate", "fast", "very fast"]
y = np.array(stages)[np.searchsorted([100, 170, 240], data.target)]
model = lk.OrdinalRegression(order=stages, l2=0.0).fit(body_mass, y)

grid = np.linspace(18, 42, 300)
survival, proba = model.survival(grid[:, None]), model.predict_proba(grid[:, None])
shades = plt.get_cmap("viridis")(np.linspace(0.9, 0.15, 4))

figure, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(10, 4), layout="constrained")
for j, b in enumerate(model.thresholds_):
    left.plot(grid, survival[:, j], color=shades[j + 1], label=f"above {stages[j]}")
    half = -b / model.coef_[0]  # where b + wx = 0
    if grid[0] < half < grid[-1]:
        left.plot([half, half], [0, 0.5], color=shades[j + 1], linestyle=":", linewidth=1)
left.axhline(0.5, color="grey", linewidth=0.5)
left.set(xlabel="body mass index", ylabel="probability", title="P(Y > j | x)", ylim=(0, 1))
left.legend(loc="upper left", frameon=False)

right.stackplot(grid, proba.T, colors=shades, edgecolor="white", linewidth=0.5)
edges = np.cumsum(np.insert(proba, 0, 0.0, axis=1), axis=1)
for k, stage in enumerate(stages):
    widest = np.argmax(proba[15:-15, k]) + 15  # put the label where its band is widest
    middle = edges[widest, k : k + 2].mean()
    colour = "black" if k < 2 else "white"
    place = "left" if k == 0 else "right" if k == 3 else "center"
    right.text(grid[widest], middle, stage, ha=place, va="center", color=colour)
right.set(xlabel="body mass index", title="P(Y = k | x)", xlim=(grid[0], grid[-1]))

plt.show()
