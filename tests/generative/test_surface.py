"""What every fitted generative model answers."""

import inspect

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from likely import DiscriminantAnalysis, GaussianMixture, MixtureModel, NaiveBayes
from likely.errors import InvalidInput, RedundantColumns, UnknownName
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
