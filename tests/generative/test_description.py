"""How a model has read its columns, and which of them deserve a look."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from likely import DiscriminantAnalysis, NaiveBayes
from likely.description import ColumnsRead


def test_events_are_counted():
    frame = pd.DataFrame({"a": [0.1, 0.7, 0.3, 0.9], "b": list("uvuv"), "c": [True, False] * 2})
    found = NaiveBayes().fit(frame, [0, 0, 1, 1]).columns_read(4)
    assert found.kinds == {"gaussian": 1, "categorical": 1, "bernoulli": 1}
    assert str(found) == "1 bernoulli, 1 categorical, 1 gaussian"
    assert found.remarks == ()


def test_a_column_of_many_words_is_named():
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(300)], "x": np.arange(300.0)})
    found = NaiveBayes().fit(frame, np.arange(300) % 2).columns_read(300)
    assert len(found.remarks) == 1
    assert "'id' (300 values)" in found.remarks[0]


def test_columns_that_hardly_vary_in_a_class_are_named():
    X, y = load_digits(return_X_y=True)
    (finding,) = NaiveBayes().fit(X, y).columns_read(len(X)).remarks
    assert "more" in finding
    assert "discretize=quantile" in finding


def test_other_models_have_no_events():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    assert DiscriminantAnalysis().fit(X, y).columns_read(20) == ColumnsRead()
