"""Classifiers as factor graphs: sum-product gives their own probabilities, with or without gaps."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from likely import Discretizer, DiscriminantAnalysis, NaiveBayes
from likely.errors import InvalidInput
from likely.graphical.model.bayesian_network import BayesianNetwork
from tests.fits import FITS

EXACT = 1e-12


def bits(n=60, p=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return (rng.random((n, p)) < 0.2 + 0.25 * y[:, None]).astype(int), y


def posterior(graph, given=None):
    return list(graph.query("class", given)["class"].values())


def test_sum_product_gives_the_posterior_of_bernoulli_naive_bayes():
    X, y = bits()
    model = NaiveBayes("bernoulli").fit(X, y)
    graph = model.factor_graph()
    assert isinstance(graph, BayesianNetwork)
    assert graph.names == ("class", "x0", "x1", "x2", "x3")
    assert graph.by_name["class"].states == ("0", "1", "2")
    for row, proba in zip(X[:8], model.predict_proba(X[:8]), strict=True):
        given = {f"x{j}": value for j, value in enumerate(row)}
        assert_allclose(posterior(graph, given), proba, rtol=0, atol=EXACT)
    joint = [graph.log_partition({"class": k, "x0": 1, "x2": 0}) for k in range(3)]
    gaps = np.array([[1, np.nan, 0, np.nan]])
    assert_allclose(joint, model.predict_joint_log_proba(gaps)[0], rtol=0, atol=EXACT)


def test_a_missing_feature_equals_leaving_it_out():
    X, y = bits()
    graph = NaiveBayes("bernoulli").fit(X, y).factor_graph()
    without = NaiveBayes("bernoulli").fit(X[:, [0, 2]], y)
    for row in X[:6, [0, 2]]:
        given = {"x0": row[0], "x2": row[1]}
        assert_allclose(
            posterior(graph, given), without.predict_proba([row])[0], rtol=0, atol=EXACT
        )


def test_categories_and_bins_are_states_with_their_names():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue"])[(y + rng.integers(0, 2, 80)) % 3],
            "size": y + rng.normal(size=80),
            "sold": rng.random(80) < 0.3 + 0.3 * y,
        }
    )
    model = NaiveBayes(discretize=Discretizer(edges=[0.0, 1.0])).fit(X, y)
    graph = model.factor_graph(target="kind")
    assert graph.by_name["colour"].states == ("blue", "green", "red")
    assert graph.by_name["size"].states == ("< 0", "0 to 1", "≥ 1")
    assert graph.by_name["sold"].states == ("False", "True")
    given = {"colour": "red", "size": "0 to 1", "sold": True}
    row = pd.DataFrame({"colour": ["red"], "size": [0.5], "sold": [True]})
    found = list(graph.query("kind", given)["kind"].values())
    assert_allclose(found, model.predict_proba(row)[0], rtol=0, atol=EXACT)


@pytest.mark.parametrize(
    "name",
    [
        *("nb-gaussian", "nb-gaps", "nb-mixed", "nb-bins", "nb-laplace", "nb-exponential"),
        *("nb-multinomial", "nb-sparse", "nb-complement", "nb-poisson"),
    ],
)
def test_the_cells_of_a_row_are_likelihoods_of_the_classes(name):
    X, y = FITS[name].data()
    model = clone(FITS[name].estimator).fit(X, y)
    for i in range(6):
        row = X.iloc[i : i + 1] if isinstance(X, pd.DataFrame) else X[i : i + 1]
        graph = model.factor_graph(row)
        assert_allclose(posterior(graph), model.predict_proba(row)[0], rtol=0, atol=EXACT)


def test_log_z_of_a_row_is_the_log_density_of_its_cells():
    X, y = FITS["nb-mixed"].data()
    model = clone(FITS["nb-mixed"].estimator).fit(X, y)
    row = X.iloc[:1].assign(colour=[None], size=[np.nan])
    graph = model.factor_graph(row)
    assert "colour" in graph.names  # a discrete column whose cell is missing can be asked for
    assert "size" not in graph.names
    assert_allclose(graph.log_partition(), model.score_samples(row)[0], rtol=1e-12)
    asked = [graph.log_partition({"colour": colour}) for colour in ("blue", "green", "red")]
    seen = [model.score_samples(row.assign(colour=[c]))[0] for c in ("blue", "green", "red")]
    assert_allclose(asked, seen, rtol=1e-12)


def test_a_temperature_acts_on_the_likelihoods_of_a_row():
    X, y = FITS["nb-gaussian"].data(n=150)
    X = np.hstack([X, X])
    model = NaiveBayes(calibrate="temperature").fit(X, y)
    assert model.temperature_ > 1.1
    assert_allclose(
        posterior(model.factor_graph(X[:1])), model.predict_proba(X[:1])[0], rtol=0, atol=EXACT
    )
    with pytest.raises(
        InvalidInput, match=r"temperature of .* no joint distribution.*calibrate=None"
    ):
        model.factor_graph()


def test_a_diagonal_discriminant_is_a_graph_too():
    X, y = FITS["da-diagonal"].data()
    model = DiscriminantAnalysis("diagonal").fit(X, y)
    assert_allclose(
        posterior(model.factor_graph(X[:1])), model.predict_proba(X[:1])[0], rtol=0, atol=EXACT
    )


def test_what_cannot_be_a_graph_is_refused():
    X, y = FITS["nb-gaussian"].data()
    model = NaiveBayes().fit(X, y)
    with pytest.raises(InvalidInput, match=r"no table of states for 'x0', 'x1', 'x2'.*X\[:1\]"):
        model.factor_graph()
    with pytest.raises(InvalidInput, match=r"X has 2 rows; the factor graph of one row"):
        model.factor_graph(X[:2])
    frame = pd.DataFrame({"class": [0, 1, 0, 1]}, dtype=bool)
    with pytest.raises(InvalidInput, match=r"A column is called 'class'.*target="):
        NaiveBayes().fit(frame, [0, 1, 1, 0]).factor_graph()
