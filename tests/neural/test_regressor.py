"""Networks for numbers: any response, in the unit of y."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import likely
from likely.errors import InvalidInput, OutsideLink, TrainingDiverged
from likely.likelihoods import Poisson
from tests.neural.estimators import regressor, waves


def counts(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, rng.poisson(np.exp(0.5 * X[:, 0] + 0.3)).astype(float)


@pytest.mark.parametrize("scale_response", [True, False])
def test_without_hidden_layers_it_is_ridge_regression(scale_response):
    X, y = waves()
    model = likely.NeuralNetworkRegressor(
        (), solver="lbfgs", l2=2.0, scale_response=scale_response, max_epochs=500
    ).fit(X, y)
    linear = likely.LinearRegression(l2=2.0).fit(X, y)
    assert_allclose(model.predict(X), linear.predict(X), rtol=1e-6)
    assert_allclose(model.score(X, y), linear.score(X, y), rtol=1e-6)


@pytest.mark.parametrize(
    ("response", "link"), [("poisson", None), ("gamma", "log"), (Poisson(), "sqrt")]
)
def test_without_hidden_layers_it_is_a_generalised_linear_model(response, link):
    X, y = counts()
    y = y + 1.0
    model = likely.NeuralNetworkRegressor(
        (), response=response, link=link, solver="lbfgs", l2=1.0, max_epochs=500
    ).fit(X, y)
    linear = likely.GLM(response, link, l2=1.0).fit(X, y)
    assert_allclose(model.predict(X), linear.predict(X), rtol=1e-5)
    assert_allclose(model.score(X, y), linear.score(X, y), rtol=1e-6)
    assert_allclose(model.deviance(X, y), linear.deviance(X, y), rtol=1e-6)


@pytest.mark.parametrize("response", ["gamma", "exponential", "inverse-gaussian"])
def test_a_positive_response_needs_no_link(response):
    """Links that need η > 0 would make the loss infinite at random start values."""
    X, y = counts()[0], np.exp(counts()[0][:, 0])
    model = regressor(response=response, max_epochs=30).fit(X, y)
    assert model.score(X, y) > 0.5
    assert (model.predict(100 * X) > 0).all()


def test_a_loss_that_is_infinite_at_the_start_is_not_blamed_on_the_rate():
    X, y = counts()
    with pytest.raises(TrainingDiverged, match=r"inf at the start.*such as link='log'"):
        regressor(response="gamma", link="inverse").fit(X, y + 1.0)


def test_the_unit_of_the_response_does_not_matter():
    X, y = waves()
    one, other = (regressor(dtype="float64").fit(X, each) for each in (y, 1e6 * y - 3e7))
    assert_allclose(other.predict(X), 1e6 * one.predict(X) - 3e7, rtol=1e-6)
    assert_allclose(other.history_.loss, 1e12 * one.history_.loss, rtol=1e-6)
    constant = regressor(max_epochs=100).fit(X, np.full(len(X), 7.0))
    assert_allclose(constant.predict(X), 7.0, atol=0.1)


def test_the_recorded_loss_is_half_the_mean_square_error():
    X, y = waves()
    model = regressor(dtype="float64", validation=(X[:20], y[:20])).fit(X, y)
    assert_allclose(model.history_.loss[-1], np.mean((y - model.predict(X)) ** 2) / 2, rtol=1e-9)
    held = np.mean((y[:20] - model.predict(X[:20])) ** 2) / 2
    assert_allclose(model.history_.validation[-1], held, rtol=1e-9)
    assert_allclose(model.dispersion_, 2 * held, rtol=1e-9)


def test_densities_and_samples_are_of_the_response_around_its_mean():
    X, y = waves(400)
    model = regressor((20,), activation="tanh", max_epochs=60).fit(X, y)
    assert model.score(X, y) > 0.8
    spread = np.sqrt(model.dispersion_)
    residual = y - model.predict(X)
    assert_allclose(spread, np.sqrt(np.mean(residual**2)), rtol=1e-6)
    normal = -0.5 * np.log(2 * np.pi * spread**2) - residual**2 / (2 * spread**2)
    assert_allclose(model.log_likelihoods(X, y), normal, rtol=1e-9)
    assert_allclose(model.predict_distribution(X).log_prob(y), normal, rtol=1e-9)
    family = model.predictive_family()
    assert_allclose(family.log_density(y, model.predict(X), counts=False), normal, rtol=1e-9)
    drawn = model.sample(X, random_state=0)
    assert_allclose((drawn - model.predict(X)).std(), spread, rtol=0.15)


def test_counts_have_no_dispersion_to_estimate():
    X, y = counts()
    model = regressor(response="poisson", max_epochs=40).fit(X, y)
    assert model.dispersion_ == 1.0
    assert (model.predict(X) > 0).all()
    assert model.score(X, y) > 0.05
    assert model.history_.loss[-1] < model.history_.loss[0]
    with pytest.raises(InvalidInput, match="poisson response must be"):
        regressor(response="poisson").fit(X, y - 5)


def test_several_responses_share_the_hidden_layers():
    X, y = waves()
    both = np.column_stack([y, 2 * y + 100])
    model = regressor((10,), max_epochs=80, learning_rate=0.05).fit(X, both)
    assert model.predict(X).shape == both.shape
    assert model.score(X, both) > 0.5
    assert model.predictive_family() is None
    assert model.log_likelihoods(X, both).shape == (len(y),)
    alone = regressor().fit(X, y[:, None].ravel())
    assert alone.predict(X).shape == y.shape


def test_partial_fit_keeps_the_units_of_the_first_part():
    X, y = waves()
    model = regressor((20,), activation="tanh").partial_fit(X[:40], y[:40])
    centre = model.response_centre_
    for k in range(100):
        part = slice(40 * (k % 2), 40 * (k % 2) + 40)
        model.partial_fit(X[part], y[part])
    assert model.response_centre_ == centre == y[:40].mean()
    assert model.score(X, y) > 0.3


def test_saved_and_loaded_it_goes_on_as_before(tmp_path):
    X, y = waves()
    model = regressor(solver="momentum", schedule="cosine", validation=(X, y)).fit(X, y)
    likely.save(model, tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert again.validation is None  # rows stay out of a model file
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.history_.loss, model.history_.loss)
    for each in (model, again):
        each.set_params(validation=None).partial_fit(X, y)
    assert_array_equal(again.parameters_, model.parameters_)


def test_a_response_with_a_mean_of_0_is_scaled_too():
    X, y = waves()
    y = np.concatenate([y, -y])
    model = regressor().fit(np.concatenate([X, -X]), y)
    assert model.response_centre_ == 0.0
    larger = regressor().fit(np.concatenate([X, -X]), 1024 * y)
    assert_allclose(larger.predict(X), 1024 * model.predict(X), rtol=1e-6)


def test_a_response_whose_squares_overflow_is_refused_without_a_warning():
    X, y = waves()
    with pytest.raises(InvalidInput, match="squares of y overflow"):
        regressor().fit(X, 1e200 * y)


def overdispersed(seed, n=500, alpha=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    mean = np.exp(1 + 0.6 * X[:, 0])
    return X, rng.poisson(mean if alpha == 0 else mean * rng.gamma(1 / alpha, alpha, n))


def test_the_overdispersion_of_counts_is_estimated():
    """Without hidden layers it is nearly the GLM, whose α is found together with its means."""
    X, y = overdispersed(0)
    model = likely.NeuralNetworkRegressor((), response="negative-binomial", solver="lbfgs").fit(
        X, y
    )
    linear = likely.GLM("negative-binomial").fit(X, y)
    assert_allclose(model.alpha_, linear.alpha_, rtol=0.01)
    assert_allclose(model.predict(X), linear.predict(X), rtol=0.05)
    assert_allclose(model.log_likelihood(X, y), linear.log_likelihood(X, y), rtol=1e-4)
    assert model.predictive_family().response.name == "negative-binomial"
    assert_allclose(model.predict_distribution(X).variance, linear_variance(model, X))
    assert "α" in str(model.plate())


def linear_variance(model, X):
    mean = model.predict(X)
    return mean + model.alpha_ * np.square(mean)


def test_alpha_is_0_where_counts_are_not_overdispersed():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = rng.binomial(10, 1 / (1 + np.exp(-X[:, 0])))  # less than Poisson
    options = {"hidden": (), "solver": "lbfgs"}
    model = likely.NeuralNetworkRegressor(**options, response="negative-binomial").fit(X, y)
    assert model.alpha_ == 0.0
    poisson = likely.NeuralNetworkRegressor(**options, response="poisson").fit(X, y)
    assert poisson.alpha_ is None
    assert model.predictive_family().response.name == "poisson"
    assert_allclose(model.log_likelihood(X, y), poisson.log_likelihood(X, y), rtol=0.01)


def test_counts_that_are_all_0_have_a_mean_of_0():
    X = np.random.default_rng(2).normal(size=(40, 2))
    model = likely.NeuralNetworkRegressor((4,), response="negative-binomial", random_state=0)
    model.fit(X, np.zeros(40))
    assert model.alpha_ == 0.0
    assert_allclose(model.predict(X), 0.0, atol=1e-4)


def test_a_given_alpha_is_kept_and_an_estimated_one_is_saved(tmp_path):
    X, y = overdispersed(3, n=100)
    options = {"hidden": (4,), "max_epochs": 5, "tol": None, "random_state": 0, "n_networks": 1}
    given = likely.NeuralNetworkRegressor(**options, response="negative-binomial(0.5)").fit(X, y)
    assert given.alpha_ is None and given.predictive_family().response.alpha == 0.5
    model = likely.NeuralNetworkRegressor(**options, response="negative-binomial").fit(X, y)
    likely.save(model, tmp_path / "counts.likely")
    again = likely.load(tmp_path / "counts.likely")
    assert again.alpha_ == model.alpha_ > 0
    assert_allclose(again.log_likelihoods(X, y), model.log_likelihoods(X, y), rtol=0)
    model.partial_fit(X[:50], y[:50])
    assert model.alpha_ > 0


def test_a_row_without_a_mean_under_the_link_is_told():
    X = np.linspace(0, 1, 30)[:, None]
    model = regressor(hidden=(), response="inverse-gaussian", link="inverse-squared", l2=1.0)
    model.set_params(solver="lbfgs", batch="auto").fit(X, (1 + X[:, 0]) ** -0.5)
    with pytest.warns(OutsideLink, match=r"for row 1 .*'inverse-squared'.*for 1 row\. Use the log"):
        found = model.predict([[0.5], [-1e6]])
    assert_array_equal(np.isnan(found), [False, True])
