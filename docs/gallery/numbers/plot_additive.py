"""
Terms of an additive model
==========================

Rents of 3,000 flats, drawn from a curve in the age of the house, a line in the floor, a category
and a pair: balconies are worth more in the centre. Curves are estimated with their smoothness;
shaded bands are at 95 %, dotted lines the truth.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import likely as lk

rng = np.random.default_rng(0)
n = 3000
flats = pd.DataFrame(
    {
        "built": rng.uniform(1880, 2020, n).round(),
        "floor": rng.integers(0, 9, n),
        "heating": rng.choice(["gas", "oil", "heat pump"], n, p=[0.6, 0.25, 0.15]),
        "balcony": rng.integers(0, 2, n),
        "distance": rng.gamma(2, 2, n),
    }
)


def age_effect(built):
    return 0.35 * np.cos((built - 1900) / 22) * (built < 1985) + 0.25 * (built >= 1985)


log_rent = (
    6.4
    + age_effect(flats["built"])
    + 0.02 * flats["floor"]
    - 0.1 * (flats["heating"] == "oil")
    - 0.04 * flats["distance"]
    + 0.25 * flats["balcony"] * np.exp(-flats["distance"] / 2)
)
rent = rng.gamma(40, np.exp(log_rent) / 40)
model = lk.AdditiveModel("gamma", interactions=3).fit(flats, rent)
print(model.summary())

figure = model.plot()
built = np.linspace(1880, 2020, 300)
shown = age_effect(built) - age_effect(flats["built"]).mean()
figure.axes[0].plot(built, shown, color="black", linestyle=":")
plt.show()
