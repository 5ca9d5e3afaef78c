"""
Counts with exposure, and the link between mean and predictor
=============================================================

Left: claims of policies that were observed for one month to two years. The rate decreases with
the age of the driver. A Poisson model with ``exposure`` estimates the rate and its interval from
policies observed for different times. Dots are claims per year in bands of age. Right: the links
for probabilities, which map the linear predictor to the unit interval.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import likely as lk
from likely.links import LINKS

rng = np.random.default_rng(0)
n = 4000
age = rng.uniform(18, 80, n)
years = rng.uniform(1 / 12, 2, n)


def rate(age):
    return 0.08 + 0.5 * np.exp(-(age - 18) / 12)


claims = rng.poisson(rate(age) * years)
log_age = np.log(age)[:, None]
model = lk.GLM("poisson").fit(log_age, claims, exposure=years)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
grid = np.linspace(18, 80, 200)
rows = np.log(grid)[:, None]
left.fill_between(
    grid, *model.predict_interval(rows, of="mean").T, color="C0", alpha=0.3, label="95%"
)
left.plot(grid, model.predict(rows), color="C0", label="Poisson, log link")
left.plot(grid, rate(grid), color="black", linestyle=":", label="truth")
bands = np.arange(18, 81, 4)
for low, high in pairwise(bands):
    inside = (age >= low) & (age < high)
    left.plot((low + high) / 2, claims[inside].sum() / years[inside].sum(), "o", color="grey")
left.set(xlabel="age", ylabel="claims per year", ylim=(0, None))
left.legend(frameon=False)

eta = np.linspace(-4, 4, 400)
for name in ("logit", "probit", "cloglog", "loglog", "cauchit"):
    right.plot(eta, LINKS[name].inverse(eta), label=name)
right.axhline(0.5, color="grey", linewidth=0.5)
right.set(xlabel="η = b + xᵀβ", ylabel="μ", title="mean of a binary response")
right.legend(frameon=False)

plt.show()
