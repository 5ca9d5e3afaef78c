"""
A regression line, its intervals, and the effect of a penalty
=============================================================

The progression of diabetes within a year. Left: against body mass alone. The mean is estimated
precisely where there are many patients, while a single patient may lie anywhere in the wide
band. Right: all ten measurements (s1 and s5 are blood values). A strong ridge penalty shrinks
every coefficient towards 0; a strong lasso penalty sets most of them to exactly 0.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import likely as lk

data = load_diabetes(scaled=False)
body_mass, y = data.data[:, [2]], data.target
model = lk.LinearRegression().fit(body_mass, y)
grid = np.linspace(17, 43, 200)[:, None]

figure, (left, ridge, lasso) = plt.subplots(
    1, 3, figsize=(12, 4), layout="constrained", width_ratios=[1.3, 1, 1]
)
left.plot(body_mass, y, ".", color="grey", markersize=4, alpha=0.6)
left.fill_between(
    grid[:, 0], *model.predict_interval(grid, of="y").T, color="C0", alpha=0.12, label="95% of y"
)
left.fill_between(
    grid[:, 0],
    *model.predict_interval(grid, of="mean").T,
    color="C0",
    alpha=0.45,
    label="95% of the mean",
)
left.plot(grid, model.predict(grid), color="C0")
left.set(xlabel="body mass index", ylabel="progression", xlim=(17, 43))
left.legend(loc="upper left", frameon=False)

X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
top = np.abs(X.T @ (y - y.mean())).max()  # from here on all coefficients of the lasso are 0
names = np.array(data.feature_names)
for axis, penalty, strengths in (
    (ridge, "l2", np.logspace(4, -1, 40)),
    (lasso, "l1", top * np.logspace(0.05, -3, 40)),
):
    coef = np.array([lk.LinearRegression(**{penalty: s}).fit(X, y).coef_ for s in strengths])
    for j, name in enumerate(names):
        named = name in ("bmi", "s5", "bp", "sex", "s1")
        axis.plot(strengths, coef[:, j], color=f"C{j}" if named else "lightgrey", linewidth=1.2)
        if named:
            axis.annotate(
                name,
                (strengths[-1], coef[-1, j]),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                color=f"C{j}",
            )
    axis.axhline(0, color="black", linewidth=0.5)
    axis.set(xscale="log", xlabel=penalty, title="ridge" if penalty == "l2" else "lasso")
    axis.set_xlim(strengths[0], strengths[-1] / 4)  # strong to weak, and room for the names
ridge.set_ylabel("coefficient of a standardised column")

plt.show()
