"""What a network chooses where its arguments are "auto"."""

from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import likely
from likely.errors import InvalidInput
from likely.neural.examples import n_examples
from likely.neural.options import CAREFUL, FEW_ROWS, N_STARTS, PLAIN
from tests.neural.estimators import blobs, waves

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]


def test_two_hidden_units_learn_xor_with_the_defaults():
    X, y = XOR
    models = [likely.NeuralNetworkClassifier((2,), random_state=k).fit(X, y) for k in range(10)]
    assert sum((model.predict(X) == y).all() for model in models) >= 8
    assert models[0].chosen_["solver"] == "lbfgs"
    assert models[0].chosen_["starts"] == N_STARTS


@pytest.mark.parametrize("n", [32, 60, 200])
def test_copies_of_few_rows_are_weights(n):
    X, y = np.tile(XOR[0], (n // 4, 1)), np.tile(XOR[1], n // 4)
    models = [likely.NeuralNetworkClassifier((2,), random_state=k).fit(X, y) for k in range(6)]
    assert sum((model.predict(X) == y).all() for model in models) >= 5
    assert models[0].chosen_["starts"] == N_STARTS
    plain = likely.NeuralNetworkClassifier((2,), random_state=0)
    weighted = plain.fit(*XOR, sample_weight=np.full(4, n / 4)).predict_proba(XOR[0])
    assert_allclose(models[0].predict_proba(XOR[0]), weighted, atol=1e-6)


def test_rows_are_copies_in_any_table_if_their_targets_are_equal():
    X, y = np.tile(XOR[0], (15, 1)), np.tile(XOR[1], 15)
    weight = np.arange(60.0)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(str), "y": y, "w": weight})
    for rows, *more in (
        (X.tolist(), y.tolist()),
        (X - 0.0 * (np.arange(60) % 7)[:, None], y),  # with −0
        (sparse.csr_array(X), y),
        (frame[["a", "b"]], frame["y"]),
        (frame, "y", "w"),
        (X, y, weight),
        (X[:, 0] != 1, np.column_stack([y, y])),
    ):
        assert n_examples(rows, *more, *[None] * (2 - len(more))) == 4
    assert n_examples(X, np.arange(60.0), None) == 60  # other targets
    assert n_examples(np.tile(XOR[0], (2500, 1)), np.tile(XOR[1], 2500), None) == 10_000


def test_two_hidden_units_learn_xor_as_a_regression_in_any_unit():
    X, y = XOR
    model = likely.NeuralNetworkRegressor((2,), random_state=0).fit(X, 1e6 * np.array(y))
    assert np.abs(model.predict(X) - 1e6 * np.array(y)).max() < 1e5


def test_a_search_that_ends_at_a_kink_is_not_told_to_go_on():
    """Labels at random: at some epoch no line search finds a lower value of a network of ReLUs."""
    X, y = blobs(24)
    y = np.random.default_rng(0).permutation(y)
    with catch_warnings(record=True) as caught:
        simplefilter("always")
        for k in range(8):
            likely.NeuralNetworkClassifier(
                (2,), solver="lbfgs", tol=None, max_epochs=400, random_state=k
            ).fit(X, y)
    messages = [str(each.message) for each in caught if "no lower value" in str(each.message)]
    assert messages
    for message in messages:
        assert "max_epochs" not in message
        assert "tol" not in message
        assert "random_state" in message


def test_the_best_of_several_starts_is_kept():
    X, y = blobs(24)
    y = np.random.default_rng(0).permutation(y)
    options = {"hidden": (2,), "tol": None, "max_epochs": 10}  # no search is at its end
    best = likely.NeuralNetworkClassifier(**options, random_state=0).fit(X, y)
    with catch_warnings():  # rounding decides whether a search ends at a kink of relu, and says so
        simplefilter("ignore", ConvergenceWarning)
        ways = [
            likely.NeuralNetworkClassifier(**options, solver="lbfgs", random_state=k).fit(X, y)
            for k in range(N_STARTS)
        ]
    losses = [model.history_.loss[-1] for model in ways]
    assert len(set(np.round(losses, 6))) > 1
    assert best.history_.loss[-1] == min(losses)
    assert_array_equal(best.parameters_, ways[int(np.argmin(losses))].parameters_)


@pytest.mark.parametrize(
    ("n", "settings", "chosen"),
    [
        (FEW_ROWS, {}, {**PLAIN, "solver": "lbfgs", "starts": N_STARTS}),
        (
            FEW_ROWS,
            {"training": likely.Training(callbacks=print)},
            {**PLAIN, "solver": "lbfgs", "starts": 1},
        ),
        (FEW_ROWS, {"l1": 1.0}, {**PLAIN, "solver": "adam", "starts": 1}),
        (FEW_ROWS, {"batch": 4}, {**PLAIN, "solver": "adam", "starts": 1}),
        (FEW_ROWS, {"dropout": 0.1}, {**PLAIN, "solver": "adam", "starts": 1}),
        (FEW_ROWS, {"early_stopping": True}, {"solver": "adam", "early_stopping": True}),
        (FEW_ROWS + 1, {}, {**CAREFUL, "solver": "adam", "starts": 1}),
        (FEW_ROWS + 1, {"max_epochs": 3}, {**CAREFUL, "solver": "adam", "max_epochs": 3}),
        (FEW_ROWS + 1, {"n_networks": 2}, {**CAREFUL, "n_networks": 2}),
        (
            FEW_ROWS + 1,
            {"training": likely.Training(callbacks=print)},
            {**CAREFUL, "n_networks": 1},
        ),
        (FEW_ROWS + 1, {"solver": "adam"}, {**PLAIN, "solver": "adam", "starts": 1}),
        (FEW_ROWS + 1, {"hidden": ()}, {**PLAIN, "solver": "lbfgs", "starts": 1}),
        (FEW_ROWS + 1, {"hidden": (), "l1": 1.0}, {**CAREFUL, "solver": "adam"}),
        (10_000, {}, {**CAREFUL, "n_networks": 1}),
    ],
)
def test_the_choice_depends_on_the_rows_and_on_what_was_given(n, settings, chosen):
    model = likely.NeuralNetworkClassifier(**settings)
    found = model.options_on(np.zeros((n, 2))).chosen.as_dict()
    assert {name: found[name] for name in chosen} == chosen


def test_arguments_stay_as_they_were_given_and_the_choice_is_saved(tmp_path):
    X, y = waves(40)
    model = likely.NeuralNetworkRegressor((3,), max_epochs=5, tol=None, random_state=0)
    before = model.get_params()
    model.fit(X, y)
    assert model.get_params() == before
    assert model.chosen_ == {**CAREFUL, "max_epochs": 5, "solver": "adam", "starts": 1}
    likely.save(model, tmp_path / "model.likely")
    again = likely.load(tmp_path / "model.likely")
    assert again.chosen_ == model.chosen_
    assert_array_equal(again.predict(X), model.predict(X))


def test_a_model_of_several_networks_is_not_trained_further():
    X, y = blobs(40)
    model = likely.NeuralNetworkClassifier((3,), max_epochs=3, tol=None, random_state=0).fit(X, y)
    assert len(model.average_.parameters) == 5
    with pytest.raises(InvalidInput, match="averages 5 networks, and fine_tune trains one"):
        model.fine_tune(X, y)
    alone = likely.NeuralNetworkClassifier((3,), tol=None, random_state=0).partial_fit(
        X, y, classes=[0, 1, 2]
    )
    assert alone.chosen_["solver"] == "adam"
    assert alone.fine_tune(X, y, max_epochs=2).average_ is None


def test_a_record_of_epochs_is_that_of_one_network():
    X, y = blobs(40)
    model = likely.NeuralNetworkClassifier((3,), max_epochs=4, tol=None, random_state=0)
    steps = model.epoch_steps(X, y, (X[:10], y[:10]))
    assert [each.history_.n_epochs for each in steps] == [4] * 5
    assert all(each.average_ is None for each in steps)


def test_a_fit_that_used_all_its_epochs_in_every_start_has_not_converged():
    X, y = blobs(24)
    with pytest.warns(ConvergenceWarning, match="max_epochs=2 was reached"):
        likely.NeuralNetworkClassifier((2,), max_epochs=2, random_state=0).fit(X, y)


def test_the_number_of_starts_does_not_depend_on_the_unit_of_the_response():
    X, y = XOR[0], np.array(XOR[1], dtype=float)
    reasons = {
        likely.NeuralNetworkRegressor((2,), random_state=0).fit(X, unit * y).history_.ending
        for unit in (1e-3, 1.0, 1e3)
    }
    assert len(reasons) == 1
