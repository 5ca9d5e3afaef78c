"""Explanations: contributions that add up to the log-odds, and how they are shown."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from likely import NaiveBayes
from likely.errors import InvalidInput
from likely.generative.explanation import MOST_FEATURES, explanation
from tests.fits import CLASSIFIERS, FITS

SPLIT = [
    name
    for name in CLASSIFIERS
    if hasattr(FITS[name].estimator, "explain")
    and name not in ("da-full", "da-auto", "da-full-gaps")
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
    assert_allclose(said.prior + said.contributions.sum(axis=1), said.log_odds)
    assert_allclose(said.log_odds, log_proba - log_proba[:, [reference]], rtol=1e-7, atol=1e-7)
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
    said = explanation(contributions, np.log([0.5, 0.5]), np.array(["ham", "spam"]), None, names)
    text = str(said)
    lines = text.splitlines()
    assert lines[0] == "example 0: log-odds against 'ham'"
    assert lines[1].split() == ["spam"]
    assert lines[2].split() == ["prior", "+0.000"]
    assert {lines[3].split()[1], lines[4].split()[1]} == {"0", "13"}
    assert f"{14 - MOST_FEATURES} other features" in text
    assert lines[3 + MOST_FEATURES + 1].split() == ["total", "+0.000"]
    assert text.endswith("(+2 more examples)")
    assert repr(said) == text


def test_html_escapes_names():
    said = explanation(np.zeros((1, 1, 2)), np.zeros(2), np.array(["<a>", "b"]), "b", ("<x>",))
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
