"""A mixed table to prepare, and a model that is fitted to it."""

import numpy as np
import pandas as pd

from likely import LogisticRegression
from likely.workbench.preparation.prepared import Prepared


def mixed(n=300, seed=0):
    """A frame with gaps of every kind of column, and two classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 10, n)),
            "income": 1000 * rng.normal(size=n),
            "rooms": rng.integers(1, 9, n),
            "town": rng.choice(np.array(["a", "b", "c", None], dtype=object), n),
            "owner": rng.random(n) < 0.4,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "planet": "Earth",
            "empty": np.nan,
            "id": [f"row {i}" for i in range(n)],
        }
    )
    score = frame["income"] / 1000 + (frame["town"] == "b") + rng.logistic(size=n)
    return frame, np.where(score > 0, "yes", "no")


def fitted(model=None, *, n=300, seed=0, **choices):
    frame, y = mixed(n, seed)
    return Prepared(LogisticRegression() if model is None else model, **choices).fit(frame, y)
