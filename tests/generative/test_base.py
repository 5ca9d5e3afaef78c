"""What every fitted generative model answers."""

import inspect

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from likely import Discretizer, DiscriminantAnalysis, GaussianMixture, MixtureModel, NaiveBayes
from likely.errors import InvalidInput, RedundantColumns, UnknownName
from likely.graphical.model.bayesian_network import BayesianNetwork
from tests.fits import FITS
from tests.generative.test_gaussian_mixture import blobs

X, Y = blobs(90)
MODELS = [
    NaiveBayes(),
    DiscriminantAnalysis(),
    GaussianMixture(3, start=Y),
    MixtureModel(3, start=Y),
]


@pytest.fixture(params=MODELS, ids=lambda model: type(model).__name__)
def model(request):
    return request.param.fit(X, Y)


def test_the_joint_gives_the_posterior_and_the_density(model):
    joint = model.predict_joint_log_proba(X)
    assert_allclose(logsumexp(joint, axis=1), model.score_samples(X))
    assert_allclose(
        joint - logsumexp(joint, axis=1)[:, None], model.predict_log_proba(X), rtol=1e-9, atol=1e-9
    )
    assert_allclose(np.log(model.predict_proba(X[:3])), model.predict_log_proba(X[:3]))


def test_full_parameters_are_counted_beside_the_model_s_own(model):
    assert list(inspect.signature(model.n_parameters).parameters) == ["naive"]
    assert model.n_parameters(naive=False) == 2 + 3 * (2 + 3)
    assert model.n_parameters() == 2 + model.distribution_.n_parameters


def test_informative_features_are_named_and_in_order(model):
    told = model.informative_features(top=2)
    assert len(told) == 3
    for features in told.values():
        assert set(features) <= {"x0", "x1"}
        assert list(features.values()) == sorted(features.values(), reverse=True)


def test_draws_follow_the_seed(model):
    one, other = model.sample(20, random_state=3), model.sample(20, random_state=3)
    assert_array_equal(one[0], other[0])
    assert not np.array_equal(one[0], model.sample(20, random_state=4)[0])


def test_the_total_of_counts_may_be_asked_for():
    counts = np.random.default_rng(0).multinomial(20, [0.2, 0.3, 0.5], size=30)
    classifier = NaiveBayes("multinomial").fit(counts, np.arange(30) % 2)
    mixture = MixtureModel(2, "multinomial", random_state=0).fit(counts)
    for model in (classifier, mixture):
        assert_array_equal(np.asarray(model.sample(5, random_state=0, length=7)[0]).sum(axis=1), 7)


@pytest.mark.parametrize("unfitted", [type(m)() for m in MODELS], ids=lambda m: type(m).__name__)
def test_a_model_that_is_not_fitted_says_so(unfitted):
    for ask in (unfitted.n_parameters, unfitted.sample, unfitted.informative_features):
        with pytest.raises(NotFittedError):
            ask()


def test_the_parameters_of_a_column_are_those_of_the_formulas():
    """By name or position, whatever the event model of the column."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=40),
            "town": rng.choice(["a", "b", "c"], 40),
            "visits": rng.poisson(3.0, 40),
            "ill": rng.random(40) < 0.4,
        }
    )
    model = NaiveBayes({"visits": "poisson"}, smoothing=1.0).fit(frame, y)
    size = frame["size"].groupby(y)
    assert_allclose(model.parameters("size")["mean"], size.mean())
    assert_allclose(model.parameters(0)["variance"], size.var(ddof=0))
    assert_allclose(model.parameters("visits")["rate"], frame["visits"].groupby(y).mean(), rtol=0.2)
    town = model.parameters("town")
    assert list(town["categories"]) == ["a", "b", "c"]
    counts = pd.crosstab(y, frame["town"]).to_numpy() + 1.0
    assert_allclose(town["probability"], counts / counts.sum(axis=1, keepdims=True))
    ill = frame["ill"].groupby(y).sum().to_numpy()
    assert_allclose(model.parameters("ill")["probability"], (ill + 1) / 22)
    with pytest.raises(UnknownName, match="Did you mean 'town'"):
        model.parameters("twon")


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_the_parameters_of_a_column_of_gaussians_are_its_margin(covariance):
    X = np.random.default_rng(1).normal(size=(80, 3))
    model = DiscriminantAnalysis(covariance).fit(X, X[:, 0] > 0)
    found = model.parameters(2)
    assert_allclose(found["mean"], model.means_[:, 2])
    expected = {
        "full": lambda given: given[:, 2, 2],
        "tied": lambda given: np.repeat(given[2, 2], 2),
        "diagonal": lambda given: given[:, 2],
        "spherical": lambda given: given,
    }[covariance](model.covariances_)
    assert_allclose(found["variance"], expected)


def test_the_likelihood_of_a_row_is_that_of_its_label_or_of_the_row_alone(model):
    joint = model.predict_joint_log_proba(X)
    density = logsumexp(joint, axis=1)
    assert_allclose(model.log_likelihoods(X), density)
    expected = joint[np.arange(len(X)), Y] if is_classifier(model) else density
    assert_allclose(model.log_likelihoods(X, Y), expected)


@pytest.mark.parametrize("kind", [NaiveBayes, DiscriminantAnalysis])
def test_labels_and_weights_of_the_likelihood_may_be_columns_of_the_frame(kind):
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    frame = pd.DataFrame({"u": X[:, 0], "v": X[:, 1], "y": Y, "w": weight})
    model = kind().fit(frame[["u", "v"]], Y)
    each = model.log_likelihoods(frame[["u", "v", "y"]], "y")
    assert_allclose(each, model.log_likelihoods(frame[["u", "v"]], Y))
    assert_allclose(model.log_likelihood(frame, "y", "w"), weight @ each)


@pytest.mark.parametrize("n_samples", [1.5, "two", None, True, -1])
def test_a_number_of_rows_to_draw_that_is_none_is_refused(model, n_samples):
    with pytest.raises(InvalidInput, match="n_samples must be a whole number, at least 0; found"):
        model.sample(n_samples)
    assert len(model.sample(np.int64(2))[1]) == 2


def test_of_many_constant_columns_five_are_named_and_the_others_counted():
    wide = np.column_stack([X, np.ones((len(X), 7))])
    with pytest.warns(RedundantColumns, match="'x6' and 2 more are constant"):
        DiscriminantAnalysis().fit(wide, Y)


# ── Classifiers as factor graphs: sum-product gives their own probabilities, with or without gaps ─


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
