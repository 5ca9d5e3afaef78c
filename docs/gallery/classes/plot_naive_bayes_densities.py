"""
Class densities of naive Bayes
==============================

The joint density π_k p(x | k) of each iris species over petal length.  The posterior probability
of a species is the share of its curve in the sum of the three.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import likely as lk

iris = load_iris()
length = iris.data[:, [2]]
species = iris.target_names[iris.target]
model = lk.NaiveBayes(event="gaussian").fit(length, species)

grid = np.linspace(0, 8, 400)[:, None]
joint = np.exp(model.predict_joint_log_proba(grid))
posterior = model.predict_proba(grid)

figure, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
for k, name in enumerate(model.classes_):
    (line,) = top.plot(grid, joint[:, k], label=name)
    top.plot(
        length[species == name],
        np.full((species == name).sum(), -0.02 * (k + 1)),
        "|",
        color=line.get_color(),
    )
    bottom.plot(grid, posterior[:, k], color=line.get_color())
top.set_ylabel("π p(x | class)")
top.legend()
bottom.set_ylabel("p(class | x)")
bottom.set_xlabel("petal length, cm")

plt.show()
