"""Several networks averaged: rows held out once, the constant on noise, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import xlogy

import likely as lk
from likely.errors import InvalidInput
from likely.likelihoods.gamma import Gamma
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.poisson import Poisson
from likely.neural.average import (
    ClassAveraging,
    JudgedRows,
    NumberAveraging,
    best_shrinkage,
    parts_of_rows,
)
from likely.neural.outputs import output_of
from likely.workbench.models.constant import ConstantModel

FAST = {"solver": "adam", "hidden": (8,), "max_epochs": 30, "tol": None, "random_state": 0}


def a_few_rows(seed=0, n=90, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.argmax(X[:, :n_classes] + 0.5 * rng.normal(size=(n, n_classes)), axis=1)


def test_every_row_is_held_out_once_and_classes_are_shared_out():
    y = np.repeat([0, 1, 2], [50, 10, 1])
    part = parts_of_rows(y, 5, seed=3)
    assert part[-1] == -1  # the only row of its class is always trained on
    for code, each in ((0, 10), (1, 2)):
        assert np.bincount(part[y == code], minlength=5).tolist() == [each] * 5
    assert np.bincount(parts_of_rows(np.linspace(0, 1, 12), 5, 0)).tolist() == [3, 3, 2, 2, 2]


def test_without_early_stopping_it_is_the_plain_mean_of_networks_of_other_seeds():
    X, y = a_few_rows(n_classes=3)
    model = lk.NeuralNetworkClassifier(**FAST, n_networks=3).fit(X, y)
    alone = [
        lk.NeuralNetworkClassifier(**{**FAST, "random_state": seed}).fit(X, y) for seed in range(3)
    ]
    each = np.stack([one.predict_proba(X) for one in alone])
    assert model.average_.shrinkage == 1.0
    assert_allclose(model.predict_proba(X), each.mean(axis=0), rtol=1e-12)
    assert_allclose(model.parameters_, alone[0].parameters_)
    assert [len(history.loss) for history in model.average_.histories] == [30, 30, 30]


def test_numbers_are_averaged_too_and_their_spread_is_that_of_unseen_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = 1e4 * (3 + X[:, 0] + 0.3 * rng.normal(size=120))
    model = lk.NeuralNetworkRegressor(
        (20,), early_stopping=True, n_networks=4, learning_rate=1e-2, random_state=0
    ).fit(X, y)
    fresh = rng.normal(size=(2000, 3))
    error = model.predict(fresh) - 1e4 * (3 + fresh[:, 0] + 0.3 * rng.normal(size=2000))
    assert 0.5 < model.dispersion_ / np.mean(np.square(error)) < 2.0
    assert 0.8 < model.average_.shrinkage <= 1.0
    assert model.score(X, y) > 0.8


NOISE = {**FAST, "early_stopping": True, "n_networks": 5, "max_epochs": 100}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_on_noise_it_is_the_constant(n_classes):
    """The very shares of the classes, to which a table of models compares it."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 10)), rng.integers(0, n_classes, 80)
    model = lk.NeuralNetworkClassifier(**NOISE).fit(X, y)
    constant = ConstantModel().fit(X, y)
    assert model.average_.shrinkage == 0.0
    fresh = rng.normal(size=(50, 10))
    assert_allclose(model.predict_proba(fresh), constant.predict_proba(fresh), rtol=1e-12)


@pytest.mark.parametrize(
    ("kind", "response", "sample"),
    [
        ("real", None, lambda rng: 100 + 7 * rng.normal(size=80)),
        ("count", "negative-binomial", lambda rng: rng.negative_binomial(1, 0.2, size=80)),
        ("count", "negative-binomial", lambda rng: 3 + rng.integers(0, 2, size=80)),  # α is 0
    ],
)
def test_numbers_of_noise_have_the_mean_and_the_spread_of_the_constant(kind, response, sample):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(80, 10)), sample(rng).astype(float)
    model = lk.NeuralNetworkRegressor(**NOISE, response=response).fit(X, y)
    constant = ConstantModel(kind).fit(X, y)
    assert model.average_.shrinkage == 0.0
    assert_allclose(model.predict(X), constant.predict(X), rtol=1e-12)
    ours, theirs = (
        each.predictive_family().log_density(y, each.predict(X), counts=kind == "count")
        for each in (model, constant)
    )
    if model.predictive_family().response.name == "poisson":  # a likelier family was tried
        assert theirs.mean() > ours.mean()
    else:
        assert_allclose(ours, theirs, rtol=1e-9)


def test_a_signal_is_followed_as_far_as_held_out_rows_say():
    """Being more certain than a charge for choices allows is better where there is a signal."""
    X, y = a_few_rows(n=120)
    model = lk.NeuralNetworkClassifier(**NOISE, learning_rate=3e-3).fit(X, y)
    assert model.average_.shrinkage > 0.8


def test_targets_that_are_all_equal_stay_the_constant():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for response, y in ((None, np.full(30, 5.0)), ("negative-binomial", np.zeros(30))):
        model = lk.NeuralNetworkRegressor(**NOISE, response=response).fit(X, y)
        assert_allclose(model.predict(X), y, atol=1e-6)


@pytest.mark.parametrize(
    ("y", "case"),
    [
        (np.repeat([0, 1], [39, 1]), "a class of one row"),
        (np.repeat([0, 1, 2], [30, 8, 2]), "a rare class"),
        (np.array([0, 1, 0]), "three rows"),
    ],
)
def test_rare_classes_and_few_rows_are_fitted(y, case):
    X = np.random.default_rng(0).normal(size=(len(y), 4))
    model = lk.NeuralNetworkClassifier(
        (5,), early_stopping=True, n_networks=5, max_epochs=3, tol=None, random_state=0
    ).fit(X, y)
    p = model.predict_proba(X)
    assert np.isfinite(p).all() and (p > 0).all(), case
    assert_allclose(p.sum(axis=1), 1.0)


def test_shrinkage_is_that_of_a_fine_grid():
    rng = np.random.default_rng(4)
    log_p = np.log(rng.dirichlet([0.3, 0.3], size=60))
    y = (rng.random(60) < 0.5 * np.exp(log_p[:, 1]) + 0.25).astype(int)
    constant, averaging, grid = np.log([0.5, 0.5]), ClassAveraging(), np.linspace(0, 1, 1001)
    held = JudgedRows(y, np.ones(60), log_p)
    losses = []
    for s in grid:
        odds = s * (log_p[:, 1] - log_p[:, 0])
        q = 1 / (1 + np.exp(-odds))
        losses.append(-(xlogy(y, q) + xlogy(1 - y, 1 - q)))
    losses = np.array(losses)
    best = int(np.argmin(losses.sum(axis=1)))
    found = best_shrinkage(held, constant, averaging, 0.0)
    assert 0.02 < found < 0.98
    assert_allclose(found, grid[best], atol=2e-3)
    gain = losses[0] - losses[best]
    clear = gain.sum() - 1.5 * np.sqrt(60) * gain.std()  # what choices may have gained at most
    for optimism, expected in ((0.95 * clear / grid[best], found), (1.05 * clear / grid[best], 0)):
        assert_allclose(best_shrinkage(held, constant, averaging, optimism), expected)


def test_shrinkage_of_numbers_is_least_squares_and_ends_at_0_and_1():
    rng = np.random.default_rng(5)
    mean = rng.normal(size=(200, 1))
    averaging, one = NumberAveraging(Gaussian()), np.ones(200)
    for slope, low, high in ((0.5, 0.3, 0.7), (-1.0, 0.0, 0.0), (2.0, 1.0, 1.0)):
        y = slope * mean + 0.5 * rng.normal(size=(200, 1))
        found = best_shrinkage(JudgedRows(y, one, mean), np.zeros(1), averaging, 0.0)
        assert low <= found <= high
        squares = float((mean * y).sum() / (mean * mean).sum())
        assert_allclose(found, np.clip(squares, 0, 1), atol=1e-4)


def test_a_probability_of_0_can_be_drawn_towards_the_constant():
    log_p = np.array([[0.0, -np.inf]])
    moved = ClassAveraging().shrunk(log_p, np.log([0.5, 0.5]), 0.0)
    assert_allclose(np.exp(moved), [[0.5, 0.5]])


def test_a_mean_of_infinity_is_the_constant_where_nothing_is_left_of_it():
    averaging = NumberAveraging(Poisson())
    found = averaging.shrunk(np.array([[np.inf], [2.0]]), np.array([3.0]), 0.0)
    assert_allclose(found, [[3.0], [3.0]])


def test_a_validation_set_judges_all_networks_together():
    X, y = a_few_rows(n=120)
    model = lk.NeuralNetworkClassifier(
        **FAST,
        learning_rate=1e-2,
        n_networks=2,
        early_stopping=True,
        validation=(X[90:], y[90:]),
    ).fit(X[:90], y[:90])
    assert 0 < model.average_.shrinkage <= 1
    assert len(model.average_.parameters) == 2


def test_it_is_saved_and_described(tmp_path):
    X, y = a_few_rows()
    model = lk.NeuralNetworkClassifier(**FAST, n_networks=3, early_stopping=True).fit(X, y)
    path = tmp_path / "network.likely"
    lk.save(model, path)
    assert_allclose(lk.load(path).predict_proba(X), model.predict_proba(X), rtol=0)
    about = model.describe()
    assert "the mean of 3 networks" in str(about)
    assert [curve.title for curve in about.curves] == ["network 1", "network 2", "network 3"]
    assert about.most_important()[0] in ("x0", "x1")
    shares = [row[1] for row in about.tables[1].rows]
    assert_allclose(sum(shares), 1.0)


def test_what_makes_sense_for_one_network_only_is_refused():
    X, y = a_few_rows()
    with pytest.raises(InvalidInput, match="n_networks"):
        lk.NeuralNetworkClassifier(n_networks=0).fit(X, y)
    fitted = lk.NeuralNetworkClassifier(**FAST, n_networks=2).fit(X, y)
    with pytest.raises(InvalidInput, match="partial_fit trains one network further"):
        fitted.partial_fit(X, y)
    with pytest.raises(InvalidInput, match="fine_tune trains one network further"):
        fitted.fine_tune(X, y)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_scale_of_weights_does_not_matter(scale):
    """Weights that sum to 1 are not one row, which would say too little to follow the networks."""
    X, y = a_few_rows()
    weight = np.linspace(0.5, 1.5, len(y))
    options = {**FAST, "n_networks": 3, "early_stopping": True, "learning_rate": 1e-2}
    one, other = (
        lk.NeuralNetworkClassifier(**options).fit(X, y, factor * weight) for factor in (1, scale)
    )
    assert one.average_.shrinkage > 0.5
    assert_allclose(other.average_.shrinkage, one.average_.shrinkage, rtol=1e-3)
    assert_allclose(other.average_.constant, one.average_.constant, rtol=1e-6)


def test_the_constant_of_classes_has_their_weighted_shares():
    weight, y = np.array([1.0, 2.0, 5.0]), np.array([1, 0, 0])
    constant = ClassAveraging().constant(output_of(n_classes=2), y, weight)
    assert_allclose(np.exp(constant), [7 / 8, 1 / 8])
    soft = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    constant = ClassAveraging().constant(output_of(n_classes=3), soft, None)
    assert_allclose(np.exp(constant), [0.75, 0.25, 0.0], atol=1e-300)
    assert np.isfinite(constant).all()


def test_the_dispersion_of_a_gamma_average_is_relative_to_its_mean():
    """ψ is the weighted mean of (y − μ)²/μ², the estimate of Pearson without its correction."""
    y, mean, weight = (
        np.array([1.0, 4.0, 9.0]),
        np.array([[2.0], [4.0], [6.0]]),
        np.array([1, 2, 3]),
    )
    assert_allclose(NumberAveraging(Gamma()).spread(y, mean, weight)[1], (0.25 + 3 * 0.25) / 6)


def test_a_trace_is_of_one_network_and_says_so():
    X, y = a_few_rows(n_classes=3)
    model = lk.NeuralNetworkClassifier(**{**FAST, "max_epochs": 3}, n_networks=3).fit(X, y)
    each = [model.trace(X, y, network=number) for number in range(3)]
    mean = np.mean([one.mean for one in each], axis=0)
    assert_allclose(mean, model.predict_proba(X), rtol=1e-6)  # s = 1 without early stopping
    assert not np.allclose(each[0].mean, mean)
    assert "of network 2 of 3 alone (network=1): predictions average all" in repr(each[1])
    assert "network 1 of 3" in str(model.history_)
    for wrong in (3, -1, "first"):
        with pytest.raises(InvalidInput, match="the model has 3 networks, numbered from 0"):
            model.trace(X, network=wrong)


def test_a_trace_and_an_average_print_as_short_tables():
    X, y = a_few_rows(n_classes=3)
    model = lk.NeuralNetworkClassifier(**{**FAST, "max_epochs": 3}, n_networks=3).fit(X, y)
    lines = repr(model.trace(X, y)).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["layer", "input", "hidden", "output"]
    assert lines[2].split()[-1] == "|δ|"
    assert "δ" not in repr(model.trace(X))
    lines = repr(model.average_).splitlines()
    assert lines[0].startswith("Average of 3 networks with 59 parameters each, shrinkage 1 ")
    assert len(lines) == 6


def test_rows_of_which_none_can_be_held_out_are_refused():
    model = lk.NeuralNetworkClassifier((2,), solver="adam", n_networks=3, early_stopping=True)
    with pytest.raises(InvalidInput, match="3 rows, none of which can be held out"):
        model.fit(np.eye(3), [0, 1, 2])
