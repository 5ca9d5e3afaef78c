"""XOR: a proof that no line separates the classes, and two feature maps that help."""

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import likely as lk

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = np.array([0, 1, 1, 0])

certificate = lk.separability(X, y)
print(certificate)
print("verified:", certificate.verify(X, y))

# The best linear model predicts ½ everywhere, with a loss of ln 2 nats per example.
model = lk.LogisticRegression(l2=0.0).fit(X, y)
nats = -np.log(model.predict_proba(X)[range(4), y]).mean()
print(f"logistic regression: weights {model.coef_[0].round(6)}, {nats:.6f} nats per example")

distances = lk.BasisFunctions("distance", centres=[[0, 0], [1, 1]])
maps = {
    "distances to (0, 0) and (1, 1)": distances,
    "their squares": make_pipeline(distances, FunctionTransformer(np.square)),
    "x₁, x₂ and the product x₁x₂": lk.PolynomialFeatures(monomials=[["x0"], ["x1"], ["x0", "x1"]]),
}
for name, features in maps.items():
    print(f"\n{name}:")
    print(lk.separability(features.fit_transform(X), y))
    model = make_pipeline(features, lk.LogisticRegression(l2=0.01)).fit(X, y)
    print("logistic regression predicts", model.predict_proba(X)[:, 1].round(3).tolist())
