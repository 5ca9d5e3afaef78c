"""Log-linear classifiers at a row: the factors give their probabilities, and x has none."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from likely import LogisticRegression, MaxEntropy, SoftmaxRegression
from likely.errors import InvalidInput
from likely.graphical.conditional_graph import ConditionalGraph
from tests.fits import FITS

EXACT = 1e-12


def posterior(graph, target="class"):
    return list(graph.query(target)[target].values())


def row_of(X, i):
    return X.iloc[i : i + 1] if isinstance(X, pd.DataFrame) else X[i : i + 1]


@pytest.mark.parametrize(
    "name",
    [
        *("log-logit", "log-plain", "log-sparse", "log-mixed", "max-indicators"),
        *("soft-ridge", "soft-two", "soft-mixed", "soft-sparse"),
    ],
)
def test_sum_product_gives_the_probabilities_of_a_row(name):
    X, y = FITS[name].data()
    model = clone(FITS[name].estimator).fit(X, y)
    for i in range(5):
        graph = model.factor_graph(row_of(X, i))
        assert isinstance(graph, ConditionalGraph)
        assert_allclose(posterior(graph), model.predict_proba(row_of(X, i))[0], rtol=0, atol=EXACT)
    assert set(graph.given) == set(model.terms_)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_number_of_factors_is_that_of_the_weights(intercept):
    X, y = FITS["log-logit"].data()
    graph = LogisticRegression(fit_intercept=intercept).fit(X, y).factor_graph(X[:1])
    names = [factor.name for factor in graph.factors]
    assert names == (["intercept"] if intercept else []) + ["x0", "x1", "x2"]
    assert all(factor.scope == ("class",) for factor in graph.factors)
    assert graph.given == dict(zip(["x0", "x1", "x2"], X[0].tolist(), strict=True))


def test_no_distribution_over_x_is_available():
    X, y = FITS["log-logit"].data()
    graph = LogisticRegression().fit(X, y).factor_graph(X[:1])
    for asked in ("x1", [("class", "x1")]):
        with pytest.raises(InvalidInput, match="'x1' is given and not modelled"):
            graph.query(asked)
    with pytest.raises(InvalidInput, match="no distribution over it"):
        graph.variable("x0")
    assert graph.sample(3, random_state=0).column_names == ["class"]


def test_an_offset_is_a_factor():
    X, y = FITS["log-logit"].data()
    model = LogisticRegression().fit(X, y, offset=np.full(len(y), 0.5))
    graph = model.factor_graph(X[:1], offset=[0.7])
    assert_allclose(
        posterior(graph), model.predict_proba(X[:1], offset=[0.7])[0], rtol=0, atol=EXACT
    )


def test_feature_functions_are_factors():
    def weight_of(X, label):
        return X[:, 0] * (label == "b")

    def squared(X, label):
        return X[:, 1] ** 2 * (label == "a")

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, "b", "a")
    model = MaxEntropy(features=[weight_of, squared]).fit(X, y)
    graph = model.factor_graph(X[:1], target="side")
    assert len(graph.factors) == 2
    assert graph.by_name["side"].states == ("a", "b")
    assert_allclose(posterior(graph, "side"), model.predict_proba(X[:1])[0], rtol=0, atol=EXACT)
    with pytest.raises(InvalidInput, match="X has 3 rows"):
        model.factor_graph(X[:3])


def test_what_has_no_such_graph_is_refused():
    X, y = FITS["log-logit"].data()
    with pytest.raises(InvalidInput, match=r"The link is 'probit'.*Use link='logit'"):
        LogisticRegression("probit").fit(X, y).factor_graph(X[:1])
    with pytest.raises(
        InvalidInput, match="X has 4 rows; a conditional factor graph is that of one"
    ):
        SoftmaxRegression().fit(X, y).factor_graph(X[:4])
    with pytest.raises(InvalidInput, match="NaN"):
        SoftmaxRegression().fit(X, y).factor_graph([[np.nan, 0.0, 0.0]])
    named = pd.DataFrame(X, columns=["class", "b", "c"])
    with pytest.raises(InvalidInput, match="'class' is both a variable of the factors and given"):
        LogisticRegression().fit(named, y).factor_graph(named[:1])
