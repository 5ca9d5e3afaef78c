"""The objective of a network: its gradient for every activation, output and penalty."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import likely
from likely import LogisticRegression, SoftmaxRegression
from likely.compute.executor import Threads
from likely.differences import check_gradient
from likely.errors import InvalidInput, UnknownName
from likely.neural.architecture import Architecture
from likely.neural.formulas import NetworkRows
from likely.neural.objective import NetworkObjective
from likely.neural.outputs import output_of
from likely.solvers import LBFGS, minimise
from likely.special import ACTIVATIONS
from tests.neural.estimators import blobs, waves
from tests.neural.networks import OUTPUTS, output_and_target, some_network, some_rows

PENALTIES = {"none": (0, 0), "l1": (0.3, 0), "l2": (0, 0.7), "both": (0.2, 0.5)}


def some_objective(output_name, hidden=(4,), activation="tanh", l1=0.0, l2=0.0, **more):
    output, y = output_and_target(output_name)
    network, theta = some_network(output, hidden, activation)
    return NetworkObjective(network, output, some_rows(output, y), l1, l2, **more), theta


@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_gradients_equal_finite_differences(output, activation, penalty):
    objective, theta = some_objective(output, (3,), activation, *penalty)
    assert check_gradient(objective.value, objective.gradient, theta) < 1e-6


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("activation", ["sigmoid", "tanh", "softplus"])
def test_gradients_of_deep_networks_equal_finite_differences(depth, activation):
    objective, theta = some_objective("categorical", (3,) * (depth - 1), activation, 0.1, 0.2)
    assert check_gradient(objective.value, objective.gradient, theta) < 1e-6


@pytest.mark.parametrize("output", ["categorical", "ordinal", "poisson"])
def test_objectives_of_rows_add_up(output):
    objective, theta = some_objective(output, l1=0.3, l2=0.2)
    parts = [[0, 2], slice(3, 5), [1, 5]]
    values = [objective.value(theta, rows=rows) for rows in parts]
    assert_allclose(sum(values), objective.value(theta), rtol=1e-12)
    gradients = [objective.gradient(theta, rows=rows) for rows in parts]
    assert_allclose(sum(gradients), objective.gradient(theta), rtol=1e-12, atol=1e-14)


def test_weight_2_is_the_row_twice_and_weight_0_is_no_row():
    output, y = output_and_target("poisson")
    network, theta = some_network(output)
    X = some_rows(output, y).X
    weighted = NetworkObjective(network, output, NetworkRows(X, y, np.array([2.0, 0, 1, 1, 0, 3])))
    repeated = np.repeat(np.arange(6), [2, 0, 1, 1, 0, 3])
    plain = NetworkObjective(network, output, NetworkRows(X[repeated], y[repeated]))
    assert_allclose(weighted.value(theta), plain.value(theta), rtol=1e-13)
    assert_allclose(weighted.gradient(theta), plain.gradient(theta), rtol=1e-12, atol=1e-14)


def test_a_row_of_weight_0_may_have_an_infinite_loss():
    output, y = output_and_target("poisson")
    network = Architecture.of(1, (), 1)
    data = NetworkRows(np.array([[0.0], [1000.0]]), y[:2], np.array([1.0, 0.0]))
    objective = NetworkObjective(network, output, data)
    assert np.isfinite(objective.value(np.array([1.0, 0.0])))
    assert np.isfinite(objective.gradient(np.array([1.0, 0.0]))).all()


def test_l1_has_gradient_0_at_0():
    objective, theta = some_objective("gaussian", (), l1=5.0)
    free, _ = some_objective("gaussian", ())
    assert_array_equal(objective.gradient(0 * theta), free.gradient(0 * theta))


def test_chunks_and_threads_do_not_change_the_sum(monkeypatch):
    objective, theta = some_objective("categorical")
    monkeypatch.setattr("likely.neural.formulas.CHUNK_CELLS", 1)
    monkeypatch.setattr("likely.neural.formulas.FEWEST_ROWS", 2)
    threaded, _ = some_objective("categorical", executor=Threads(2))
    assert_array_equal(objective.gradient(theta), threaded.gradient(theta))
    monkeypatch.undo()
    assert_allclose(objective.gradient(theta), threaded.gradient(theta), rtol=1e-12, atol=1e-14)


def test_sparse_rows_have_the_same_gradient():
    objective, theta = some_objective("categorical")
    X, y, weight = objective.data
    X = X * (np.random.default_rng(0).random(X.shape) < 0.5)
    for rows in (None, [0, 3], slice(1, 4)):
        dense, csr = (
            NetworkObjective(
                objective.architecture, objective.output, NetworkRows(layout(X), y, weight)
            ).gradient(theta, rows=rows)
            for layout in (np.asarray, sparse.csr_array)
        )
        assert_allclose(csr, dense, atol=1e-13)


def test_whole_numbers_are_no_reason_to_cut_the_gradient():
    objective, theta = some_objective("gaussian")
    zeros = [0] * theta.size
    assert_array_equal(objective.gradient(zeros), objective.gradient(0 * theta))
    with pytest.raises(InvalidInput, match="one number for each parameter"):
        objective.value(zeros[1:])


@pytest.mark.parametrize("output", ["categorical", "poisson", "gaussian"])
def test_overflow_is_an_infinite_value(output):
    objective, theta = some_objective(output, activation="relu")
    for scale in (1e200, 1e308):
        assert objective.value(scale * theta) == np.inf
        assert objective.first_order(scale * theta).value == np.inf


def test_rows_that_do_not_exist_are_refused():
    objective, theta = some_objective("gaussian")
    with pytest.raises(InvalidInput, match="from 0 to 5 were expected"):
        objective.value(theta, rows=[6])
    with pytest.raises(InvalidInput, match="names no example"):
        objective.gradient(theta, rows=[])


def linear_data(n_classes, n=40, d=3):
    rng = np.random.default_rng(n_classes)
    return rng.normal(size=(n, d)), rng.integers(0, n_classes, n), rng.uniform(0.5, 2, n)


def test_without_hidden_layers_it_is_logistic_regression():
    X, y, weight = linear_data(2)
    linear = LogisticRegression(l2=0.4).objective(X, y, sample_weight=weight)
    output = output_of(n_classes=2)
    objective = NetworkObjective(
        Architecture.of(3, (), 1), output, NetworkRows(X, output.target(y), weight), l2=0.4
    )
    theta = np.random.default_rng(1).normal(size=4)  # both are (coefficients, intercept)
    assert_allclose(objective.value(theta), linear.value(theta), rtol=1e-12)
    assert_allclose(objective.gradient(theta), linear.gradient(theta), rtol=1e-12, atol=1e-12)


def test_without_hidden_layers_it_is_softmax_regression():
    X, y, weight = linear_data(4)
    linear = SoftmaxRegression(l2=0.4).objective(X, y, sample_weight=weight)
    output = output_of(n_classes=4)
    network = Architecture.of(3, (), 4)
    objective = NetworkObjective(network, output, NetworkRows(X, output.target(y), weight), l2=0.4)
    theta = np.random.default_rng(1).normal(size=16)
    layer = network.unpack(theta)[0]
    packed = linear.pack(layer.weight, layer.bias)
    assert_allclose(objective.value(theta), linear.value(packed), rtol=1e-12)
    slopes = linear.unpack(linear.gradient(packed))
    ours = network.unpack(objective.gradient(theta))[0]
    assert_allclose(ours.weight, slopes[0], rtol=1e-12, atol=1e-12)
    assert_allclose(ours.bias, slopes[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("penalty_scaling", ["sum", "mean"])
@pytest.mark.parametrize("name", ["classes", "numbers"])
def test_the_objective_of_a_model_is_what_its_fit_minimises(name, penalty_scaling):
    options = {"hidden": (3,), "activation": "tanh", "l2": 0.3, "random_state": 0}
    options |= {"penalty": likely.WeightPenalty(scaling=penalty_scaling)}
    if name == "classes":
        (X, y), kind = blobs(40), likely.NeuralNetworkClassifier
    else:
        (X, y), kind = waves(40), likely.NeuralNetworkRegressor
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    objective = kind(**options).objective(X, y, weight)
    trained = kind(**options, solver="lbfgs", tol=1e-13, max_epochs=3000).fit(X, y, weight)
    there = trained.parameters_
    size = abs(objective.gradient(objective.start)).max()
    assert check_gradient(objective.value, objective.gradient, objective.start) < 1e-6
    assert abs(objective.gradient(there)).max() < 1e-4 * size
    assert_allclose(objective.loss(there) / weight.sum(), trained.history_.loss[-1], rtol=1e-9)
    by_hand = minimise(LBFGS(), objective, there + 0.01, tol=1e-12)
    assert by_hand.trace[-1] <= objective.value(there) * (1 + 1e-9)
    model = objective.fitted_model(there)
    assert_allclose(model.predict(X), trained.predict(X))
    assert model.get_params()["initialise"] == "auto"


def test_the_mean_of_a_model_is_the_sum_divided_by_the_weight():
    X, y = waves(30)
    model, weight = likely.NeuralNetworkRegressor((3,), l1=0.2, random_state=0), np.arange(30) + 1.0
    total, mean = (model.objective(X, y, weight, reduction=each) for each in ("sum", "mean"))
    theta = total.start + 0.1
    assert_allclose(mean.value(theta), total.value(theta) / weight.sum(), rtol=1e-13)
    assert_allclose(mean.loss(theta), total.loss(theta) / weight.sum(), rtol=1e-13)
    assert_allclose(mean.gradient(theta), total.gradient(theta) / weight.sum(), rtol=1e-13)
    some = slice(3, 9)
    assert_allclose(
        mean.gradient(theta, some), total.gradient(theta, some) / weight[some].sum(), rtol=1e-13
    )
    with pytest.raises(UnknownName, match="reduction"):
        model.objective(X, y, reduction="median")


def test_the_objective_of_a_network_without_hidden_layers_is_that_of_the_linear_model():
    X, y = waves(30)
    linear = likely.LinearRegression(l2=0.7).objective(X, y)
    network = likely.NeuralNetworkRegressor((), l2=0.7).objective(X, y)
    theta = np.array([1.0, -2.0, 30.0])
    assert_allclose(network.value(theta), linear.value(theta), rtol=1e-12)
    assert_allclose(network.gradient(theta), linear.gradient(theta), rtol=1e-12)
