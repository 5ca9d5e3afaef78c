"""Rows and predictions for the tests of metrics: one example per kind of task."""

import numpy as np
from scipy.special import log_softmax

from likely.kinds import CLASS_KINDS
from likely.metrics import METRICS, Prediction, Truth

N_CLASSES = {"binary": 2, "classes": 4, "ordinal": 3}


def some_rows(kind, seed=0, n=60, *, weighted=False):
    """A truth and a prediction that knows something of it."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    if kind in CLASS_KINDS:
        k = N_CLASSES[kind]
        score = rng.normal(size=(n, k))
        y = (score + rng.gumbel(size=(n, k))).argmax(axis=1)
        log_proba = log_softmax(score + 0.3 * rng.normal(size=(n, k)), axis=1)
        truth = Truth(y, weight, tuple("abcd"[:k]), kind)
        return truth, Prediction.of_classes(log_proba)
    mean = np.exp(rng.normal(1, 0.6, n))
    y = {
        "count": rng.poisson(mean).astype(float),
        "positive": mean * rng.gamma(3, 1 / 3, n),
        "real": mean + rng.normal(size=n),
    }[kind]
    return Truth(y, weight, (), kind), Prediction.of_numbers(mean, -np.square(y - mean) / 2)


def every_metric():
    """(name, kind) for each metric and each kind of task that it suits."""
    return [(name, kind) for name, metric in METRICS.items() for kind in sorted(metric.tasks)]
