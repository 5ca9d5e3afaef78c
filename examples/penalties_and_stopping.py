"""Penalties as objects, groups of columns, and a search that stops on held-out rows."""

import numpy as np
import pandas as pd

import likely as lk
from likely.penalties import L1, L2, Group
from likely.solvers import HeldOutPatience

rng = np.random.default_rng(0)
n = 400
table = pd.DataFrame(
    {
        "length": rng.normal(size=n),
        "width": rng.normal(size=n),
        "town": rng.choice(["Alba", "Bree", "Cork", "Dale"], n),
        "paint": rng.choice(["red", "white", "green"], n),
        "noise": rng.normal(size=n),
    }
)
score = table["length"] - 0.5 * table["width"] + (table["town"] == "Cork")
sold = np.where(score + rng.logistic(size=n) > 0.3, "sold", "not sold")

# every column is a group: a text column keeps all of its categories, or none
for strength in (2.0, 10.0, 25.0):
    model = lk.LogisticRegression(penalty=Group(strength=strength)).fit(table, sold)
    kept = [term for term, coef in zip(model.terms_, model.coef_[0], strict=True) if coef != 0]
    print(f"strength {strength:4g} keeps {', '.join(kept)}")

# columns by name, and penalties that add
groups = Group([["length", "width"], ["town"], ["paint"]], 4.0)
model = lk.LogisticRegression(penalty=groups + L1(0.5) + L2.of_prior(4.0)).fit(table, sold)
print(model.summary())

# stop when rows that are held out say so; the best step is kept, and nothing is called converged
stop = HeldOutPatience(3, share=0.25)
model = lk.LogisticRegression(l2=0.0, solver="gradient-descent", stop=stop).fit(table, sold)
print(model.solution_)
