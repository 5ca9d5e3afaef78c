"""From a table with missing cells to one test score: look, seal, compare, tune, evaluate."""

from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import likely as lk

rng = np.random.default_rng(0)
n = 2000
churn = pd.DataFrame(
    {
        "months": rng.gamma(2, 12, n),
        "plan": rng.choice(["basic", "family", "business"], n, p=[0.6, 0.3, 0.1]),
        "calls": rng.poisson(1.5, n),
        "customer": np.arange(n) + 70_000,
    }
)
log_odds = 0.5 * churn["calls"] - 0.06 * churn["months"] - (churn["plan"] == "family")
churn["churned"] = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "yes", "no")
churn.loc[rng.random(n) < 0.15, "months"] = np.nan  # some cells are missing

for finding in lk.look(churn, "churned").findings:  # before anything is trained
    print(finding)

with TemporaryDirectory() as folder:
    sealed = lk.seal(churn.drop(columns="customer"), "churned", name="churn", folder=folder)
    print(f"\n{sealed}\n")

    found = lk.compare(sealed)  # cross-validation on the training rows only
    print(found, "\n")

    study = lk.tune(sealed, model=found.best.name, trials=5, nested=2)
    print(f"settings {study.best_parameters_}: log loss {study.best_score_:.3f},")
    print(f"nested cross-validation estimate {study.nested_score_:.3f}\n")

    print(sealed.final(study))
    print(f"{sealed.evaluations} of {sealed.budget} evaluations used")
    print(f"the ledger is sound: {sealed.verify().sound}")
