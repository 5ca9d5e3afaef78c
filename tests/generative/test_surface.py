"""What every fitted generative model answers."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.exceptions import NotFittedError

from likely import DiscriminantAnalysis, GaussianMixture, MixtureModel, NaiveBayes
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
        joint - logsumexp(joint, axis=1)[:, None], model.predict_log_proba(X), atol=1e-9
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
