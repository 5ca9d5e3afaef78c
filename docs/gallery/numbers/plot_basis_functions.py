"""
Basis functions, and linear regression on them
==============================================

Above: four kinds of functions of one column, each scaled to a maximum of 1; centres and knots
are quantiles. Below: the least-squares fit, which is linear in the functions and a curve in x.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import likely as lk

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 120))[:, None]
y = np.sin(x[:, 0]) + 0.3 * x[:, 0] + rng.normal(0, 0.3, 120)
line = np.linspace(0, 10, 400)[:, None]

maps = {
    "polynomial, degree 5": lk.PolynomialFeatures(5),
    "radial": lk.BasisFunctions("radial"),
    "sigmoid": lk.BasisFunctions("sigmoid"),
    "spline": lk.BasisFunctions("spline", centres=8),
}
figure, axes = plt.subplots(
    2, len(maps), figsize=(12, 5), sharex=True, sharey="row", layout="constrained"
)
for (name, features), (above, below) in zip(maps.items(), axes.T, strict=True):
    functions = features.fit(x).transform(line)
    above.plot(line, functions / np.abs(functions).max(axis=0), linewidth=1)
    above.set_title(name, loc="left")
    model = make_pipeline(features, Ridge(1e-6)).fit(x, y)
    below.plot(x, y, ".", color="0.6", markersize=4)
    below.plot(line, model.predict(line), color="black")
    below.set_xlabel("x")
axes[0, 0].set_ylabel("functions")
axes[1, 0].set_ylabel("y, and the fit")

plt.show()
