"""The lasso for a sequence of penalties: choice by cross-validation, and the columns kept."""

import numpy as np
from sklearn.datasets import load_diabetes

import likely as lk

data, y = load_diabetes(return_X_y=True, as_frame=True)
rng = np.random.default_rng(0)
noise = {f"noise {j}": rng.normal(scale=0.05, size=len(data)) for j in range(20)}
X = data.assign(**noise)  # ten measurements, and twenty uninformative columns

path = lk.PenaltyPath(lk.LinearRegression(), n_penalties=60).fit(X, y)
print("     l1   columns   held-out squared error")
for j in range(0, len(path.penalties_), 6):
    error, spread = path.mean_deviance_[j], path.standard_error_[j]
    print(f"{path.penalties_[j]:7.1f} {path.n_nonzero_[j]:9d} {error:11.0f} ± {spread:.0f}")

names = np.array(X.columns)
for rule, j in (("least error", path.best_index_), ("one standard error", path.index_)):
    kept = names[path.coefs_[j] != 0]
    print(f"{rule}: l1 = {path.penalties_[j]:.1f} keeps {len(kept)}:", ", ".join(kept))
