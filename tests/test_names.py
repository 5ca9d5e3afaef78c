"""Parts by name."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely import GLM, LinearRegression
from likely.distributions import DISTRIBUTIONS, Bernoulli
from likely.errors import InvalidInput, UnknownName
from likely.likelihoods import likelihood_of
from likely.metrics.registry import metric_named
from likely.names import lookup
from likely.workbench.models.registry import entry_for


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_name_finds_its_entry(name):
    assert lookup("event model", name, DISTRIBUTIONS) is DISTRIBUTIONS[name]


def test_a_part_is_itself():
    assert lookup("event model", Bernoulli, DISTRIBUTIONS) is Bernoulli


def test_a_misspelt_name_is_refused_with_the_choices_and_the_nearest():
    with pytest.raises(UnknownName) as caught:
        lookup("event model", "bernouli", DISTRIBUTIONS)
    message = str(caught.value)
    assert message.startswith("There is no event model 'bernouli'; choose one of bernoulli, ")
    assert message.endswith("Did you mean 'bernoulli'?")
    assert isinstance(caught.value, InvalidInput)


def test_a_name_like_none_of_them_gets_no_suggestion():
    with pytest.raises(UnknownName, match=r"choose one of a, b\.$"):
        lookup("thing", "zzz", {"b": 2, "a": 1})


def test_underscores_may_be_written_for_the_hyphens_of_a_name():
    X = np.random.default_rng(0).gamma(2.0, size=(60, 2))
    y = X[:, 0] + 0.1
    one = GLM("inverse_gaussian", "log", solver="proximal_newton").fit(X, y)
    other = GLM("inverse-gaussian", "log", solver="proximal-newton").fit(X, y)
    assert_array_equal(one.coef_, other.coef_)
    short = LinearRegression(solver="minimum_norm").fit(X, y)
    assert_array_equal(short.coef_, LinearRegression(solver="minimum-norm").fit(X, y).coef_)
    assert entry_for("naive_bayes") is entry_for("naive-bayes")
    assert metric_named("log_loss") is metric_named("log-loss")
    assert likelihood_of("negative_binomial(2)") == likelihood_of("negative-binomial(2)")
    with pytest.raises(UnknownName, match="choose one of"):
        GLM("inverse gaussian").fit(X, y)


def test_a_name_in_another_case_is_suggested():
    X, y = np.arange(6.0)[:, None], np.arange(6.0) ** 2
    with pytest.raises(UnknownName, match="Did you mean 'HC3'"):
        LinearRegression(standard_errors="hc3").fit(X, y)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("quasi-binomial", "bernoulli"), ("quasipoisson", "poisson"), ("quasi_poisson", "poisson")],
)
def test_a_quasi_likelihood_is_a_kind_of_standard_errors(name, meant):
    with pytest.raises(InvalidInput, match=rf'GLM\("{meant}", standard_errors="quasi"\)'):
        likelihood_of(name)
    X = np.arange(8.0)[:, None]
    GLM(meant, standard_errors="quasi").fit(X, np.arange(8) % 2)
