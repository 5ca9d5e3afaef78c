"""Claim frequencies: Poisson counts with exposure and categories, clustered errors."""

import numpy as np
import pandas as pd

import likely as lk

rng = np.random.default_rng(0)
n, n_fleets = 20_000, 300
fleets = pd.DataFrame(  # policies of one fleet share its region, its power and a random effect
    {
        "region": rng.choice(["city", "coast", "country"], n_fleets, p=[0.5, 0.2, 0.3]),
        "power": rng.choice(["low", "high"], n_fleets),
        "luck": rng.gamma(4, 1 / 4, n_fleets),
    }
)
fleet = rng.integers(n_fleets, size=n)
table = fleets.iloc[fleet].reset_index(drop=True).assign(fleet=fleet)
table["age"] = rng.uniform(18, 80, n).round()
table["years"] = rng.uniform(1 / 12, 1, n).round(3)
effect = {"city": 0.4, "coast": 0.0, "country": -0.3}
log_rate = -1.2 - 0.02 * (table["age"] - 40) + table["region"].map(effect)
table["claims"] = rng.poisson(table["years"] * np.exp(log_rate) * table["luck"])

columns = ["age", "region", "power"]
X, y, years = table[columns], table["claims"], table["years"]
model = lk.GLM("poisson", standard_errors="clustered")
model.fit(X, y, exposure=years, groups=table["fleet"])
print(model.summary())

plain = lk.GLM("poisson").fit(X, y, exposure=years)
wider = model.inference_.standard_errors / plain.inference_.standard_errors
print("ratio of clustered to ordinary standard errors:")
print(dict(zip(model.terms_, wider.round(1).tolist(), strict=False)))

without = lk.GLM("poisson").fit(table[["age", "region"]], y, exposure=years)
test = lk.likelihood_ratio_test(without, plain)
print("test of power, if rows are treated as independent:", test)
print("test of power, with clustered standard errors:", model.wald_test("power[low]"))

new = pd.DataFrame({"age": [20.0, 60.0], "region": ["city", "country"], "power": ["low", "low"]})
print("claims per year, with the interval for the mean:")
print(np.column_stack([model.predict(new), model.predict_interval(new, of="mean")]).round(3))
