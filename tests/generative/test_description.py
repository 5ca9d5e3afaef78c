"""How a model has read its columns, and explanations that add up to the log-odds."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from likely import DiscriminantAnalysis, NaiveBayes
from likely.errors import InvalidInput
from likely.explanations.explanation import MOST_COLUMNS, log_odds_explanation
from likely.output.description import ColumnsRead
from tests.fits import CLASSIFIERS, FITS


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
    X = np.random.default_rng(0).normal(size=(400, 8))
    y = np.arange(400) % 2
    X[y == 0, 1:] = 0.0
    (finding,) = NaiveBayes().fit(X, y).columns_read(len(X)).remarks
    assert "more" in finding
    assert "discretize=quantile" in finding


def test_other_models_have_no_events():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    assert DiscriminantAnalysis().fit(X, y).columns_read(20) == ColumnsRead(numbers=("x0", "x1"))


SPLIT = [  # every other estimator: tests/laws/test_explanations.py
    name
    for name in CLASSIFIERS
    if isinstance(FITS[name].estimator, NaiveBayes | DiscriminantAnalysis)
]


@pytest.mark.parametrize("name", SPLIT)
@pytest.mark.parametrize("against", [None, 0, 2])
def test_contributions_add_up_to_the_log_odds(name, against):
    X, y = FITS[name].data()
    model = FITS[name].estimator.fit(X, y)
    X = X if name != "da-tied-gaps" else np.nan_to_num(X, nan=1.0)
    said = model.explain(X, against)
    reference = 0 if against is None else against
    log_proba = model.predict_log_proba(X)
    assert said.contributions.shape == (90, X.shape[1], 3)
    assert_allclose(said.base + said.contributions.sum(axis=1), said.total, rtol=1e-10)
    assert_allclose(said.total, log_proba - log_proba[:, [reference]], rtol=1e-10, atol=1e-10)
    assert_allclose(said.contributions[:, :, reference], 0.0)


def test_a_missing_cell_contributes_nothing():
    X, y = FITS["nb-gaps"].data()
    model = NaiveBayes().fit(X, y)
    said = model.explain(X)
    assert_allclose(said.contributions[np.isnan(X)], 0.0)
    assert np.abs(said.contributions[~np.isnan(X)]).max() > 0


def test_it_prints_the_strongest_features_first_and_the_total():
    names = tuple(f"word {j}" for j in range(14))
    contributions = np.zeros((5, 14, 2))
    contributions[0, :, 1] = np.arange(14) - 6.5
    said = log_odds_explanation(
        contributions, np.log([0.5, 0.5]), np.array(["ham", "spam"]), None, names
    )
    text = str(said)
    lines = text.splitlines()
    assert lines[0] == "row 0: log-odds against 'ham'"
    assert lines[1].split() == ["spam"]
    assert lines[2].split() == ["prior", "+0.000"]
    assert {lines[3].split()[1], lines[4].split()[1]} == {"0", "13"}
    assert f"{14 - MOST_COLUMNS} other columns" in text
    assert lines[3 + MOST_COLUMNS + 1].split() == ["total", "+0.000"]
    assert text.endswith("(+2 more rows)")
    assert repr(said) == text


def test_html_escapes_names():
    said = log_odds_explanation(
        np.zeros((1, 1, 2)), np.zeros(2), np.array(["<a>", "b"]), "b", ("<x>",)
    )
    html = said._repr_html_()
    assert "&lt;x&gt;" in html
    assert "<x>" not in html
    assert "<table" in html


def test_names_come_from_the_frame():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "age": [1.0, 3.0, 2.0, 5.0]})
    model = NaiveBayes().fit(frame, ["a", "a", "b", "b"])
    assert model.explain(frame).names == ("size", "age")
    assert NaiveBayes().fit(frame.to_numpy(), [0, 0, 1, 1]).explain(frame.to_numpy()).names == (
        "x0",
        "x1",
    )


def test_an_unknown_reference_class_is_refused():
    model = NaiveBayes().fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
    with pytest.raises(InvalidInput, match="There is no class 'c'; choose one of a, b"):
        model.explain([[1.0]], against="c")
