"""What ``train`` says about the columns: how they were read, and which deserve a look."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from likely import DiscriminantAnalysis, NaiveBayes
from likely.cli.reading import in_words, reading


def test_events_are_counted():
    frame = pd.DataFrame({"a": [0.1, 0.7, 0.3, 0.9], "b": list("uvuv"), "c": [True, False] * 2})
    found = reading(NaiveBayes().fit(frame, [0, 0, 1, 1]), 4)
    assert found.events == {"gaussian": 1, "categorical": 1, "bernoulli": 1}
    assert in_words(found.events).endswith("1 bernoulli, 1 categorical, 1 gaussian.")
    assert found.findings == ()


def test_a_column_of_many_words_is_named():
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(300)], "x": np.arange(300.0)})
    found = reading(NaiveBayes().fit(frame, np.arange(300) % 2), 300)
    assert len(found.findings) == 1
    assert "'id' (300 values)" in found.findings[0]


def test_columns_that_hardly_vary_in_a_class_are_named():
    X, y = load_digits(return_X_y=True)
    (finding,) = reading(NaiveBayes().fit(X, y), len(X)).findings
    assert "more" in finding
    assert "discretize=quantile" in finding


def test_other_models_have_no_events():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    assert reading(DiscriminantAnalysis().fit(X, y), 20) == ({}, ())
