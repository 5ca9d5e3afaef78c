"""Discriminant analysis: the log loss of four kinds of covariance, and the linear weights."""

from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score

import likely as lk

X, y = load_iris(return_X_y=True, as_frame=True)
for covariance in ("tied", "full", "diagonal", "spherical"):
    model = lk.DiscriminantAnalysis(covariance=covariance)
    scores = cross_val_score(model, X, y, cv=5, scoring="neg_log_loss")
    print(f"{covariance:>9}: log loss {-scores.mean():.3f}")

tied = lk.DiscriminantAnalysis().fit(X, y)
print("weights of the tied model, one row per class:")
print(tied.coef_.round(1))
