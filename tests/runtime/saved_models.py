"""Models of every kind that the runtime has, fitted to small tables with gaps, and rows to predict.

Each entry gives a fitted model, rows as plain Python values, and the arguments of predictions.
"""

import warnings
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import likely as lk

RNG = np.random.default_rng(0)
N = 60
TOWNS = ["Ulm", "Bonn", "Köln"]


class Case(NamedTuple):
    model: Any
    rows: Any  # as the runtime takes them
    beside: Any = MappingProxyType({})  # arguments of predictions


def columns(n=N, *, gaps=True, unseen=False, seed=0):
    """Numbers, whole numbers, Booleans and text, with cells that are missing."""
    rng = np.random.default_rng(seed)
    towns = [*TOWNS, "Paris"] if unseen else TOWNS
    table = {
        "size": rng.normal(3, 2, n).tolist(),
        "rooms": rng.integers(1, 6, n).tolist(),
        "garden": (rng.random(n) < 0.4).tolist(),
        "town": [towns[i] for i in rng.integers(0, len(towns), n)],
        "grade": [str(i) for i in rng.integers(1, 4, n)],
    }
    if gaps:
        for name in table:
            for i in rng.choice(n, n // 8, replace=False):
                table[name][i] = None
    return table


def frame(table):
    """The columns as a data frame of pandas, with the types that pandas has for gaps."""
    out = pd.DataFrame(table)
    for name, values in table.items():
        known = [value for value in values if value is not None]
        if all(type(value) is bool for value in known):
            out[name] = pd.array(values, dtype="boolean")
    return out


def dates(n=N, seed=0):
    rng = np.random.default_rng(seed)
    start = date(2024, 1, 1)
    days = [start + timedelta(days=int(i)) for i in rng.integers(0, 500, n)]
    days[3] = None
    return days


def _classes(table, n_classes):
    size = np.nan_to_num(np.array([x or 0.0 for x in table["size"]]))
    town = np.array([TOWNS.index(t) if t in TOWNS else 0 for t in table["town"]])
    noise = np.random.default_rng(5).normal(0, 1, len(size))
    score = size / 2 + town + noise
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return np.array(["low", "middle", "high"])[np.searchsorted(cuts, score)]


def _counts(seed=0):
    return np.random.default_rng(seed).poisson(2.0, (N, 4))


def _naive_bayes():
    table, new = columns(), columns(seed=1, unseen=True)
    y = _classes(table, 3)
    X = frame(table)
    yield "mixed", Case(lk.NaiveBayes().fit(X, y), new)
    yield "calibrated", Case(lk.NaiveBayes(calibrate="temperature").fit(X, y), new)
    events = {"size": "laplace", "rooms": "poisson", "garden": "bernoulli", "grade": "categorical"}
    yield "events", Case(lk.NaiveBayes(events).fit(X, y), new)
    yield "bins", Case(lk.NaiveBayes(discretize="quantile").fit(X, y), new)
    whole = {"rooms": "categorical"}
    yield "whole numbers", Case(lk.NaiveBayes(whole, smoothing=0.0).fit(X, y), new)
    counts, labels = _counts(), np.arange(N) % 3
    for event in ("multinomial", "complement", "poisson", "exponential", "gaussian", "laplace"):
        model = lk.NaiveBayes(event).fit(counts, labels)
        yield event, Case(model, _counts(1).astype(float))
    words = np.random.default_rng(8).poisson(0.5 + np.eye(3).repeat(4, axis=1)[np.arange(N) % 3])
    model = lk.NaiveBayes("multinomial", smoothing="auto", calibrate="length").fit(words, labels)
    yield "length", Case(model, words[::-1].astype(float))
    gappy = _counts(2).astype(float)
    gappy[::7, 1] = np.nan
    for event in ("poisson", "exponential", "gaussian", "laplace"):
        yield f"{event} with gaps", Case(lk.NaiveBayes(event).fit(counts, labels), gappy)
    ones = (counts > 2).astype(float)
    yield "bernoulli", Case(lk.NaiveBayes("bernoulli").fit(ones, labels), ones[::-1].copy())
    yield "codes", Case(lk.NaiveBayes("categorical").fit(counts, labels > 0), _counts(3))
    flags = np.array([[True, False], [False, True], [True, True]] * 4)
    yield "flags", Case(lk.NaiveBayes().fit(flags, [1, 2, 3] * 4), flags)


def _linear():
    table, new = columns(gaps=False), columns(gaps=False, seed=1, unseen=True)
    X, y = frame(table), _classes(table, 3)
    number = np.random.default_rng(3).gamma(2.0, 1.0, N)
    two = np.where(y == "low", "no", "yes")
    yield "linear", Case(lk.LinearRegression(l2=0.1).fit(X, number), new)
    both = np.column_stack([number, number**2])
    yield "two targets", Case(lk.LinearRegression(l2=0.1).fit(X, both), new)
    yield "logistic", Case(lk.LogisticRegression().fit(X, two), new)
    yield "probit", Case(lk.LogisticRegression(link="probit").fit(X, two), new)
    yield "cloglog", Case(lk.LogisticRegression(link="cloglog").fit(X, two), new)
    yield (
        "reference",
        Case(lk.LogisticRegression(l2=0.0, reference={"town": "Köln"}).fit(X, two), new),
    )
    yield "softmax", Case(lk.SoftmaxRegression().fit(X, y), new)
    yield "softmax of two", Case(lk.SoftmaxRegression().fit(X, two), new)
    for link in ("logit", "probit", "cauchit"):
        model = lk.OrdinalRegression(link, order=["low", "middle", "high"]).fit(X, y)
        yield f"ordinal {link}", Case(model, new)
    counts = np.random.default_rng(4).poisson(3.0, N)
    exposed = np.random.default_rng(5).uniform(1, 4, N)
    model = lk.GLM("poisson", l2=0.1).fit(X, counts, exposure=exposed)
    yield "poisson with exposure", Case(model, new, {"exposure": exposed[::-1].copy()})
    yield "poisson with offset", Case(model, new, {"offset": np.log(exposed)})
    yield "gamma", Case(lk.GLM("gamma", link="log", l2=0.1).fit(X, number), new)
    numeric = np.random.default_rng(6).normal(0, 1, (N, 2))
    amount = np.exp(numeric[:, 0] / 4) + 0.5
    yield "inverse", Case(lk.GLM("gamma", link="inverse", l2=0.1).fit(numeric, amount), numeric)


def _prepared():
    table, new = columns(), columns(seed=1, unseen=True)
    y = _classes(table, 3)
    two = np.where(y == "low", 0, 1)
    number = np.random.default_rng(3).gamma(2.0, 1.0, N)
    for named in (table, new):
        named["day"] = dates(seed=len(named["town"]) + named["rooms"].count(None))
        named["planet"] = ["Earth"] * N
    X = frame(table)
    for name, model, target in (
        ("naive Bayes", lk.NaiveBayes(), y),
        ("logistic", lk.LogisticRegression(l2=1.0), two),
        ("softmax", lk.SoftmaxRegression(l1=0.1), y),
        ("linear", lk.LinearRegression(l2=0.3), number),
        ("poisson", lk.GLM("poisson", l2=0.3), np.round(number)),
        ("ordinal", lk.OrdinalRegression(order=["low", "middle", "high"]), y),
    ):
        yield f"prepared {name}", Case(lk.Prepared(model).fit(X, target), new)


WORDS = ["cheap", "pills", "lunch", "noon", "straße", "free", "meeting", "agenda", "buy", "now"]


def texts(n=N, seed=0):
    rng = np.random.default_rng(seed)
    found = [" ".join(rng.choice(WORDS, rng.integers(4, 12))) + f" {i}." for i in range(n)]
    found[5] = None
    return found


def _prepared_texts():
    table, new = columns(), columns(seed=1)
    for each in (table, new):  # of Booleans beside words none may be missing
        each["garden"] = [bool(value) for value in each["garden"]]
    for seed, named in enumerate((table, new)):
        named["subject"], named["body"] = texts(seed=seed), texts(seed=seed + 2)
    y = _classes(table, 3)
    X = frame(table)
    alone, alone_new = ({"body": each["body"]} for each in (table, new))
    for name, model, target in (
        ("naive Bayes", lk.NaiveBayes(), y),
        ("calibrated naive Bayes", lk.NaiveBayes(calibrate="temperature"), y),
        ("softmax", lk.SoftmaxRegression(), y),
        ("linear", lk.LinearRegression(l2=0.3), np.arange(N) / 10),
    ):
        yield f"texts {name}", Case(lk.Prepared(model).fit(X, target), new)
        fitted = lk.Prepared(model).fit(frame(alone), target)
        yield f"texts alone {name}", Case(fitted, alone_new)


def saved_models():
    """All cases by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict([*_naive_bayes(), *_linear(), *_prepared(), *_prepared_texts()])


def library_rows(rows):
    """The rows as the library takes them."""
    return frame(rows) if isinstance(rows, dict) else rows


def answers(model, rows, beside):
    """The probabilities of a classifier, and its labels; or its means."""
    if getattr(model, "classes_", getattr(model, "classes", None)) is None:
        return [np.asarray(model.predict(rows, **beside))]
    return [model.predict_proba(rows), np.asarray(model.predict(rows))]
