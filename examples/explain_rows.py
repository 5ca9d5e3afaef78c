"""Why a row is predicted as it is: contributions, importance and effects, and a report.

A logistic regression of ours and a forest of scikit-learn answer the same questions.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import likely as lk

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :8]  # the means of the first eight measurements
train, test = X.index % 3 != 0, X.index % 3 == 0

logistic = lk.Prepared(lk.LogisticRegression(l2=1.0)).fit(X[train], y[train])
print(logistic.explain(X[test].iloc[:1]))

forest = RandomForestClassifier(30, random_state=0).fit(X[train], y[train])
print(lk.explain(forest, X[test].iloc[:1], background=X[train]))

found = lk.permutation_importance(logistic, X[test], y[test])
print(found)
print(lk.partial_effects(logistic, X[test], "mean texture"))

with TemporaryDirectory() as folder:
    print(lk.report(logistic, X[test], y[test], path=Path(folder) / "cells.html").sections)
