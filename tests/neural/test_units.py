"""A regression network has one unit, that of y, whatever its training divides y by."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import likely
from likely.differences import check_gradient
from likely.errors import InvalidInput
from likely.neural.architecture import Architecture
from likely.neural.formulas import NetworkRows
from likely.neural.objective import NetworkObjective
from likely.neural.outputs import output_of
from likely.neural.problem import ResponseUnits
from likely.neural.settings import WeightPenalty
from likely.penalties import L1, L2, ElasticNet, Group
from tests.neural.estimators import regressor, waves

LONG = {"solver": "lbfgs", "batch": "auto", "tol": 1e-13, "max_epochs": 2000}


def far_table(n=60, seed=3):
    """A response with a mean of about 100 and a spread of about 30."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, 100 + 28 * X[:, 0] + 6 * X[:, 1] + rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    X, y = far_table()
    return regressor(dtype="float64").fit(X, y), X, y


def test_the_weights_alone_give_the_predictions(fitted):
    model, X, _ = fitted
    (first, last), (b, c) = model.weights_, model.biases_
    by_hand = np.maximum(X @ first.T + b, 0) @ last.T + c
    assert_allclose(by_hand[:, 0], model.predict(X), rtol=1e-12)


def test_a_trace_has_the_mean_the_loss_and_the_errors_of_y(fitted):
    model, X, y = fitted
    trace = model.trace(X, y)
    mean = model.predict(X)
    assert_allclose(trace.mean[:, 0], mean, rtol=1e-12)
    assert_allclose(trace.loss, (y - mean) ** 2 / 2, rtol=1e-9)
    assert_allclose(trace.deltas[-1][:, 0], mean - y, rtol=1e-9)
    assert_allclose(trace.gradient[-1].bias, [(mean - y).sum()], rtol=1e-9)


def test_callbacks_and_the_history_have_one_loss_half_the_mean_square_error():
    X, y = far_table()
    seen = []
    model = regressor(dtype="float64", validation=(X[:9], y[:9]), callbacks=seen.append).fit(X, y)
    assert_allclose([each.loss for each in seen], model.history_.loss, rtol=1e-12)
    assert_allclose([each.validation for each in seen], model.history_.validation, rtol=1e-12)
    assert_array_equal(seen[-1].theta, model.parameters_)
    assert_allclose(seen[-1].loss, np.mean((y - model.predict(X)) ** 2) / 2, rtol=1e-9)
    assert_allclose(
        seen[-1].validation, np.mean((y[:9] - model.predict(X[:9])) ** 2) / 2, rtol=1e-9
    )


def test_arrays_to_start_from_are_in_the_unit_of_y():
    X, y = far_table()
    start = [(np.array([[28.0, 6.0]]), np.array([100.0]))]
    model = regressor((), initialise=start, max_epochs=0, dtype="float64").fit(X, y)
    assert_allclose(model.predict(X), 100 + X @ [28.0, 6.0], rtol=1e-14)
    assert_array_equal(model.weights_[0], start[0][0])


def test_a_network_starts_again_from_its_own_parameters(fitted):
    model, X, y = fitted
    again = regressor(initialise=model.parameters_, max_epochs=0, dtype="float64").fit(X, y)
    assert_allclose(again.predict(X), model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("scale_response", [True, False])
@pytest.mark.parametrize(("hidden", "l2"), [((), 3.0), ((3,), 3.0)])
def test_the_optimum_of_l2_is_that_of_the_documented_formula(hidden, l2, scale_response):
    X, y = far_table()
    model = likely.NeuralNetworkRegressor(
        hidden,
        activation="tanh",
        l2=l2,
        scale_response=scale_response,
        random_state=0,
        **LONG,
    ).fit(X, y)

    def formula(theta):
        layers = model.architecture_.unpack(theta)
        h = X
        for layer in layers[:-1]:
            h = np.tanh(h @ layer.weight.T + layer.bias)
        eta = (h @ layers[-1].weight.T + layers[-1].bias)[:, 0]
        penalty = sum(np.sum(layer.weight**2) for layer in layers)
        return 0.5 * np.sum((y - eta) ** 2) + 0.5 * l2 * penalty

    here = model.parameters_.astype(float)
    value = formula(here)
    better = minimize(formula, here, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10})
    assert value - better.fun < 1e-6 * value


def test_l1_keeps_the_weights_that_a_lasso_keeps():
    X, y = far_table()
    model = likely.NeuralNetworkRegressor(
        (), l1=40.0, solver="adam", batch="full", learning_rate=0.05, schedule="cosine",
        dtype="float64", tol=None, max_epochs=1500,
    ).fit(X, y)  # fmt: skip
    lasso = likely.LinearRegression(l1=40.0).fit(X, y)
    assert lasso.coef_.all()
    assert_allclose(model.weights_[0][0], lasso.coef_, rtol=1e-6)
    assert_allclose(model.biases_[0], [lasso.intercept_], rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_training_does_not_depend_on_the_unit_of_y(factor):
    X, y = far_table()
    plain = [regressor(dtype="float64").fit(X, unit * y) for unit in (1.0, factor)]
    assert_allclose(plain[1].predict(X), factor * plain[0].predict(X), rtol=1e-9)
    assert_allclose(plain[1].history_.loss, factor**2 * plain[0].history_.loss, rtol=1e-8)
    assert plain[0].history_.n_epochs == plain[1].history_.n_epochs


@pytest.mark.parametrize("n_responses", [1, 2])
@pytest.mark.parametrize("bias", [True, False])
def test_penalties_and_losses_in_training_are_those_of_y_divided_by_the_variance(bias, n_responses):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), 50 + 7 * rng.normal(size=(20, n_responses))
    network = Architecture.of(3, (4,), n_responses, activation="tanh", bias=bias)
    units = ResponseUnits.of(y, None, centred=bias)
    theta = 3 * rng.normal(size=network.n_parameters)
    inner = units.inner(network, theta)
    assert_allclose(units.theta(network, inner), theta, rtol=1e-12, atol=1e-12)

    output, given = output_of(None, n_outputs=n_responses), WeightPenalty(0.7, 1.3)
    l1, l2 = units.strengths(network, given)
    raw = NetworkObjective(network, output, NetworkRows(X, y), given.l1, given.l2)
    scaled = NetworkObjective(network, output, NetworkRows(X, units.target(y)), l1, l2)
    assert_allclose(units.square * scaled.value(inner), raw.value(theta), rtol=1e-12)
    assert check_gradient(scaled.value, scaled.gradient, inner) < 1e-6


def test_a_network_without_a_bias_of_the_output_has_no_constant():
    X, y = far_table()
    model = regressor(bias=False).fit(X, y)
    assert_allclose(model.predict(np.zeros((1, 2))), 0.0, atol=1e-12)


def test_a_large_mean_is_kept_to_its_last_digits():
    X, y = waves()
    far = regressor().fit(X, 1e9 + y).predict(X) - 1e9
    assert_allclose(far, regressor().fit(X, y).predict(X), atol=1e-4)


def test_frozen_layers_are_left_as_they_were_given():
    X, y = waves()
    first = regressor(dtype="float32").fit(X, y)
    again = regressor(trainable=[0], initialise=first.parameters_).fit(X, y)
    assert_array_equal(again.weights_[1], first.weights_[1])
    assert_array_equal(again.biases_[1], first.biases_[1])
    assert (again.weights_[0] != first.weights_[0]).any()


def test_an_average_of_networks_is_in_the_unit_of_y():
    X, y = far_table()
    model = regressor(n_networks=3, early_stopping=True, max_epochs=40).fit(X, y)
    each = [model.trace(X, network=k).mean for k in range(3)]
    s, average = model.average_.shrinkage, model.average_
    assert_allclose(average.constant, [y.mean()], rtol=1e-12)
    by_hand = average.constant + s * (np.mean(each, axis=0) - average.constant)
    assert_allclose(model.predict(X), by_hand[:, 0], rtol=1e-12)


def test_a_search_by_steps_continues_in_the_unit_of_y():
    X, y = far_table()
    model = regressor(dtype="float64")
    for _ in range(3):
        model.partial_fit(X, y)
    assert_allclose(model.history_.loss[-1], np.mean((y - model.predict(X)) ** 2) / 2, rtol=1e-9)
    start = regressor(dtype="float64", initialise=model.parameters_, max_epochs=0).fit(X, y)
    assert_allclose(start.predict(X), model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("end_game", ["epochs", "loss"])
def test_an_end_game_is_a_fit_on_all_rows(end_game):
    X, y = waves(120)
    y = np.where(np.arange(120) % 7 == 0, y + 200, y)  # parts differ in their mean and spread
    options = {"dtype": "float64", "max_epochs": 60, "patience": 5}
    model = regressor(early_stopping=True, end_game=end_game, **options).fit(X, y)
    epochs = model.end_game_.n_epochs
    plain = regressor(**{**options, "max_epochs": epochs}).fit(X, y)
    assert_array_equal(model.parameters_, plain.parameters_)
    assert_array_equal(model.end_game_.loss, plain.history_.loss)
    if end_game == "loss":
        level = model.history_.loss[model.history_.kept_epoch - 1]
        assert (model.end_game_.loss[:-1] > level).all()
        assert model.end_game_.loss[-1] <= level


@pytest.mark.parametrize(
    ("penalty", "strengths"),
    [
        (L2(2.0), {"l2": 2.0}),
        (L1(0.3), {"l1": 0.3}),
        (ElasticNet(0.3, 2.0), {"l1": 0.3, "l2": 2.0}),
        (L1(0.1) + 2.0 * L1(0.1) + L2(2.0), {"l1": 0.3, "l2": 2.0}),
    ],
)
def test_a_penalty_object_is_the_strengths_that_it_has(penalty, strengths, tmp_path):
    X, y = far_table()
    one, other = regressor(penalty=penalty).fit(X, y), regressor(**strengths).fit(X, y)
    assert_allclose(one.parameters_, other.parameters_, rtol=1e-6)
    objectives = [model.objective(X, y) for model in (one, other)]
    theta = one.parameters_
    assert_allclose(objectives[0].value(theta), objectives[1].value(theta), rtol=1e-12)
    assert "Penalty on the weights" in str(one.describe())
    likely.save(one, tmp_path / "m.likely")
    assert_array_equal(likely.load(tmp_path / "m.likely").predict(X), one.predict(X))


def test_penalties_that_a_network_does_not_have_are_refused():
    X, y = far_table()
    with pytest.raises(InvalidInput, match="a network has penalties of single weights"):
        regressor(penalty=Group()).fit(X, y)
    with pytest.raises(InvalidInput, match="l2 has several numbers"):
        regressor(penalty=L2([1.0, 2.0])).fit(X, y)
    with pytest.raises(InvalidInput, match=r"l2=1.0 were given; one of the two"):
        regressor(penalty=L2(1.0), l2=1.0).fit(X, y)
    with pytest.raises(InvalidInput, match=r"a penalty of likely\.penalties was expected"):
        regressor(penalty="l2").fit(X, y)
    with pytest.raises(InvalidInput, match=r"solver='lbfgs' and l1=1\.0 were given"):
        regressor(penalty=L1(1.0), solver="lbfgs", batch="auto").fit(X, y)
