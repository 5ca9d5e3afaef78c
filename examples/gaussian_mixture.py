"""A Gaussian mixture: the number of components, and the probability of each assignment."""

import numpy as np

import likely as lk

rng = np.random.default_rng(0)
X = np.concatenate(
    [
        rng.multivariate_normal([0, 0], [[1.0, 0.8], [0.8, 1.0]], 300),
        rng.multivariate_normal([4, 0], [[0.5, 0.0], [0.0, 2.0]], 200),
        rng.multivariate_normal([2, 6], [[1.0, -0.5], [-0.5, 0.5]], 100),
    ]
)

model = lk.GaussianMixture(n_components="auto", max_components=6, random_state=0).fit(X)
for k, (weight, mean) in enumerate(zip(model.weights_, model.means_, strict=True)):
    print(f"component {k}: weight {weight:.2f}, mean {mean.round(2)}")

between = np.array([[2.0, 0.5]])
print("a point between two groups:", model.predict_proba(between).round(2))
print("log density there:", model.score_samples(between).round(2))
