"""
Batch, mini-batch and single-example gradients
==============================================

Logistic regression trained by hand from the objective of the model. All three runs read each
example thirty times. The batch run takes one step in each pass, the others take more and shorter
ones; they come near the optimum sooner and then move about it.
"""

import matplotlib.pyplot as plt
import numpy as np

from likely import LogisticRegression

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 2))
y = (X @ [2.0, -1.0] + rng.logistic(size=200) > 0).astype(int)
model = LogisticRegression(l2=1.0)
objective = model.objective(X, y, reduction="mean")
fit = model.fit(X, y)
optimum = objective.pack(fit.coef_, fit.intercept_)

figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
for name, size, rate in (("batch", 200, 2.0), ("mini-batch of 20", 20, 0.5), ("example", 1, 0.1)):
    theta, path = np.zeros(3), [np.zeros(3)]
    for _ in range(30):
        for rows in rng.permutation(200).reshape(-1, size):
            theta = theta - rate * objective.gradient(theta, rows=rows)
        path.append(theta)
    above = [objective.value(each) - objective.value(optimum) for each in path]
    left.semilogy(above, label=name)
    right.plot(*np.array(path)[:, :2].T, marker=".", label=name)

left.set(xlabel="passes over the data", ylabel="mean objective above its minimum, nats")
right.plot(*optimum[:2], marker="*", markersize=12, color="black", linestyle="", label="fit")
right.set(xlabel="first weight", ylabel="second weight")
right.legend()
plt.show()
