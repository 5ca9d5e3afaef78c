"""Arguments that are several settings: short forms, single ones, searches, old names and files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import likely
from likely import Batches, EarlyStopping, StartValues, Training, WeightPenalty
from likely.errors import InvalidInput, UnknownName, UnknownParameter
from likely.neural.options import checked_options, plan_of_batches
from likely.neural.settings import GROUPED, grouped_arguments
from likely.penalties import L2
from likely.solvers import BalancedBatches, SampledBatches, ShuffledBatches
from tests.neural.estimators import blobs, waves

SHORT = [
    ({"batch": 20}, {"batch": Batches(20)}),
    ({"batch": "full"}, {"batch": Batches("full")}),
    ({"early_stopping": True}, {"early_stopping": EarlyStopping()}),
    ({"early_stopping": False}, {"early_stopping": EarlyStopping(watch="training")}),
    ({"early_stopping": 3}, {"early_stopping": EarlyStopping(3)}),
    ({"l2": 0.5}, {"penalty": WeightPenalty(l2=0.5)}),
    ({"penalty": L2(0.5)}, {"penalty": WeightPenalty(l2=0.5)}),
    ({"initialise": "he-normal"}, {"initialise": StartValues("he-normal")}),
    ({}, {"training": Training()}),
]


def network(**options):
    given = {"solver": "adam", "max_epochs": 4, "tol": None, "random_state": 0, "dtype": "float64"}
    return likely.NeuralNetworkClassifier((4,), **{**given, **options})


@pytest.mark.parametrize(("short", "whole"), SHORT, ids=str)
def test_a_short_form_trains_the_network_of_the_whole_one(short, whole):
    X, y = blobs(60)
    one, other = network(**short).fit(X, y), network(**whole).fit(X, y)
    assert_array_equal(one.parameters_, other.parameters_)
    assert_array_equal(one.history_.loss, other.history_.loss)


@pytest.mark.parametrize(
    ("batch", "plan"),
    [
        ("auto", ShuffledBatches(32)),
        (200, ShuffledBatches(200)),
        (Batches(20, shuffle=False), ShuffledBatches(20, shuffle=False)),
        (Batches(20, balanced=True), BalancedBatches(20)),
        (SampledBatches(7), SampledBatches(7)),
    ],
)
def test_batches_become_a_plan_of_the_solvers(batch, plan):
    assert plan_of_batches(checked_options(network(batch=batch)), 1000) == plan


def test_one_setting_is_set_by_its_own_name_and_the_others_stay():
    model = network(batch=20, early_stopping=True).set_params(
        batch__shuffle=False, early_stopping__patience=7, training__evaluate=False
    )
    assert model.batch == Batches(20, shuffle=False)
    assert model.early_stopping == EarlyStopping(7)
    assert model.training == Training(evaluate=False)
    found = model.get_params()
    assert found["batch__size"] == 20 and found["early_stopping__watch"] == "validation"
    assert "batch__size" not in model.get_params(deep=False)
    again = clone(model)
    assert again.get_params() == found
    assert model.set_params(batch=50, batch__balanced=True).batch == Batches(50, balanced=True)


def test_a_grid_over_settings_inside_arguments():
    X, y = blobs(60)
    grid = {"batch__size": [10, 30], "early_stopping__patience": [2, 5]}
    search = GridSearchCV(network(early_stopping=True, max_epochs=3), grid, cv=3).fit(X, y)
    assert search.best_params_.keys() == grid.keys()
    assert search.best_estimator_.batch.size == search.best_params_["batch__size"]


def test_a_space_and_a_preparation_reach_settings_inside_arguments():
    X, y = blobs(60)
    model = likely.Prepared(network()).set_params(model__batch__size=10)
    assert model.fit(X, y).model_.batch == Batches(10)
    space = {"batch__size": likely.spaces.Choice((8, 16))}
    found = likely.tune(X, y, network(), space=space, trials=2, nested=None)
    assert found.best_parameters_["batch__size"] in (8, 16)


def test_unknown_settings_and_wrong_values_are_refused():
    with pytest.raises(UnknownName, match=r"no setting of Batches 'siez'.*Did you mean 'size'"):
        network().set_params(batch__siez=3)
    with pytest.raises(InvalidInput, match=r"batch=SampledBatches.* has no other settings"):
        network(batch=SampledBatches(3)).set_params(batch__size=3)
    X, y = blobs()
    for options, message in (
        ({"early_stopping": EarlyStopping(watch="nothing")}, "watch of EarlyStopping"),
        ({"training": "file"}, "training='file' was given; Training was expected"),
        ({"penalty": WeightPenalty(l2=1.0), "l2": 1.0}, "one of the two was expected"),
        ({"early_stopping": 0}, "patience must be a whole number, at least 1"),
    ):
        with pytest.raises(InvalidInput, match=message):
            network(**options).fit(X, y)
    with pytest.raises(InvalidInput, match="batches are balanced by class"):
        likely.NeuralNetworkRegressor((3,), batch=Batches(balanced=True)).fit(*waves())


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("shuffle", "batch"),
        ("balanced", "batch"),
        ("patience", "early_stopping"),
        ("penalty_scaling", "penalty"),
        ("trainable", "initialise"),
        ("callbacks", "training"),
        ("checkpoint", "training"),
        ("resume", "training"),
        ("evaluate_training", "training"),
    ],
)
def test_an_argument_that_is_gone_answers_with_the_new_one(name, argument):
    with pytest.raises(UnknownParameter, match=f"{name} is {argument}="):
        likely.NeuralNetworkClassifier(**{name: None})


FLAT = {
    "batch": 16,
    "shuffle": False,
    "balanced": False,
    "early_stopping": "auto",
    "patience": 4,
    "penalty": L2(0.5),
    "penalty_scaling": "mean",
    "initialise": "he-normal",
    "trainable": [-1],
    "callbacks": None,
    "checkpoint": "a",
    "resume": None,
    "evaluate_training": False,
}


def test_arguments_of_old_files_become_settings():
    assert {name: repr(each) for name, each in grouped_arguments(FLAT).items()} == {
        "batch": "Batches(size=16, shuffle=False, balanced=False)",
        "early_stopping": "EarlyStopping(patience=4, watch='auto')",
        "penalty": "WeightPenalty(l1=0.0, l2=0.5, scaling='mean')",
        "initialise": "StartValues(values='he-normal', trainable=[-1])",
        "training": "Training(callbacks=None, checkpoint='a', resume=None, evaluate=False)",
    }
    plain = {"shuffle": True, "balanced": False, "patience": "auto", "penalty_scaling": "sum"}
    plain |= {"trainable": None, "callbacks": None, "checkpoint": None, "resume": None}
    assert grouped_arguments({**plain, "evaluate_training": True}) == {
        "penalty": None,
        "training": None,
    }


def test_settings_are_saved_but_for_functions_and_files_of_other_kinds(tmp_path):
    X, y = blobs(60)
    model = network(
        batch=Batches(20, balanced=True),
        early_stopping=EarlyStopping(3),
        penalty=WeightPenalty(l2=0.1, scaling="mean"),
        initialise=StartValues("he-normal", [0]),
        training=Training(callbacks=print, evaluate=False, checkpoint=tmp_path / "c"),
    ).fit(X, y)
    likely.save(model, tmp_path / "model.likely")
    again = likely.load(tmp_path / "model.likely")
    for name in GROUPED:
        expected = Training(evaluate=False) if name == "training" else vars(model)[name]
        assert repr(vars(again)[name]) == repr(expected)
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


FILES = Path(__file__).parent / "files"  # written by the last version before arguments were grouped
WRITTEN = {
    "classifier": {
        "batch": "Batches(size=16, shuffle=False, balanced=False)",
        "early_stopping": "EarlyStopping(patience=4, watch='validation')",
        "penalty": "WeightPenalty(l1=0.0, l2=0.0, scaling='mean')",
        "initialise": "StartValues(values='he-normal', trainable=[-1])",
        "training": "Training(callbacks=None, checkpoint='training.checkpoint', resume=None, "
        "evaluate=False)",
    },
    "regressor": {  # whose mean was added to an output without biases
        "bias": "(False, True)",
        "early_stopping": "EarlyStopping(patience=7, watch='training')",
        "penalty": "None",
        "training": "None",
    },
    "average": {
        "n_networks": "2",
        "early_stopping": "EarlyStopping(patience=3, watch='validation')",
    },
    "prepared": {"batch": "Batches(size=8, shuffle=True, balanced=True)"},
}


@pytest.mark.parametrize(("name", "arguments"), WRITTEN.items(), ids=WRITTEN)
def test_a_file_of_before_answers_as_it_did_is_saved_again_and_trained_further(
    name, arguments, tmp_path
):
    answers = json.loads((FILES / "answers.json").read_text())
    rows = pd.DataFrame(answers["rows"], columns=["a", "b"])
    rows = rows if name == "prepared" else rows.to_numpy()

    def answer(model):
        return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)

    model = likely.load(FILES / f"{name}.likely")
    assert_allclose(answer(model), answers[name], rtol=1e-12)
    inner = model.model_ if name == "prepared" else model
    assert {each: repr(vars(inner)[each]) for each in arguments} == arguments
    assert inner.chosen_["solver"] == repr(inner.solver).strip("'")
    assert inner.describe().tables
    likely.save(model, tmp_path / "again.likely")
    assert_array_equal(answer(likely.load(tmp_path / "again.likely")), answer(model))
    if name == "regressor":
        before = inner.parameters_.copy()
        inner.partial_fit(rows, answer(inner) + 1)
        assert inner.parameters_.shape == before.shape and (inner.parameters_ != before).any()
    if name == "average":
        assert 0 < inner.average_.shrinkage <= 1


@pytest.mark.parametrize("kind", [likely.NeuralNetworkClassifier, likely.NeuralNetworkRegressor])
def test_short_forms_of_all_arguments_of_training_go_together(kind):
    X, y = blobs(600)
    model = kind(
        hidden=(6,),
        activation="tanh",
        response="categorical" if kind is likely.NeuralNetworkClassifier else "gaussian",
        solver="nesterov",
        learning_rate=0.02,
        schedule="cosine",
        momentum=0.8,
        batch=200,
        max_epochs=6,
        dropout=0.1,
        l1=1e-3,
        l2=0.1,
        early_stopping=True,
        validation=0.2,
        end_game="epochs",
        random_state=0,
    ).fit(X, y if kind is likely.NeuralNetworkClassifier else 3.0 * y)
    assert model.history_.rate[0] == 0.02 and np.all(np.diff(model.history_.rate) < 0)
    assert model.held_out_ == (120, 480)
    assert model.end_game_.n_epochs == model.history_.best_epoch
    assert model.score(X, y if kind is likely.NeuralNetworkClassifier else 3.0 * y) > 0.3
