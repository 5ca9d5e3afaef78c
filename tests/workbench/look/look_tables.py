"""A table with nothing to find in it, and ways to spoil it."""

import numpy as np
import pandas as pd

N = 400


def sound(n=N, seed=0):
    """A table with nothing to find in it."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(50 + 10 * ill, 8)),
            "visits": rng.poisson(3, n),
            "city": rng.choice(["Bonn", "Ulm", "Kiel"], n),
            "smoker": rng.random(n) < 0.3 + 0.2 * ill,
            "ill": np.where(ill, "yes", "no"),
        }
    )


def with_column(values, name="it"):
    return sound().assign(**{name: values})


def with_target(values):
    return sound().assign(ill=values)


ILL = (sound()["ill"] == "yes").to_numpy()
DATES = pd.date_range("2020-01-01", periods=N)
