"""Arguments that cannot be used are refused in words, before a row is read."""

import numpy as np
import pandas as pd
import pytest

from likely import Training, solvers
from likely.errors import InvalidInput, LargeBatch, TrainingDiverged, UnknownName
from tests.neural.estimators import blobs, classifier, regressor, waves

HOLD = solvers.HoldThenDecay(50, solvers.InverseTime(0.1, 0.1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": (0,)}, "Layer 1 has 0 units; expected a whole number from 1 up"),
        ({"hidden": (4, 2.5)}, "Layer 2 has 2.5 units"),
        ({"hidden": "100"}, "hidden='100' was given; the sizes of the hidden layers"),
        ({"dropout": 1.0}, "dropout=1.0 was given; expected a rate from 0 up to, but not, 1"),
        ({"dropout": [0.1, 0.2, 0.3]}, "dropout has 3 rates"),
        ({"schedule": HOLD}, "holds or warms up for 50 epochs, and max_epochs=6"),
        ({"max_epochs": np.inf}, "max_epochs must be a whole number"),
        ({"max_epochs": -1}, "max_epochs must be a whole number, at least 0"),
        ({"patience": 0}, "patience must be a whole number, at least 1"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"l2": -1.0}, "l2=-1 is not a strength"),
        ({"l1": [1.0, 2.0]}, "l1 has several numbers; a network has one strength"),
        ({"batch": 0}, "batch must be a whole number, at least 1"),
        ({"batch": 2.5}, "batch must be a whole number"),
        ({"tol": -1.0}, "tol must be a finite number, 0 or more"),
        ({"validation": 1.0}, "validation=1.0 was given; a share of the rows between 0 and 1"),
        ({"validation": (np.zeros((2, 3)),)}, "validation has 1 part; rows and their targets"),
        ({"end_game": "epochs"}, "end_game='epochs' was given without early stopping"),
        ({"momentum": 1.0, "solver": "momentum"}, "momentum=1.0"),
        ({"activation": ["tanh", "relu"]}, "2 activations were given for 1 hidden layers"),
        ({"initialise": "zeros"}, "initialise='zeros' was given with hidden layers"),
        ({"initialise": np.zeros(3)}, r"Start values of shape \(3,\) were given"),
        ({"response": "poisson"}, "The response 'poisson' cannot be used for classes"),
        ({"order": [2, 1]}, "y has the label 0; the order is 2, 1"),
        ({"class_weight": "even"}, "class_weight='even' was given; 'balanced' or a mapping"),
        ({"class_weight": {9: 2.0}}, "class_weight names 9; y has the classes 0, 1, 2"),
        ({"class_weight": {0: -1.0}}, "weights are finite, 0 or more"),
        ({"callbacks": [3]}, "callbacks has 3; functions of an epoch were expected"),
        ({"solver": "lbfgs", "batch": "auto", "dropout": 0.1}, "L-BFGS needs a smooth loss"),
        ({"solver": "lbfgs", "batch": "auto", "l1": 0.1}, "L-BFGS needs a smooth loss"),
        ({"solver": "lbfgs", "batch": 8}, "L-BFGS reads all rows in every step"),
        ({"solver": "lbfgs", "batch": "auto", "dtype": "float32"}, "line searches need float64"),
        ({"device": "abacus"}, "device"),
        ({"learning_rate": "abc"}, "learning_rate='abc' was given"),
        ({"dropout": "abc"}, "dropout='abc' was given; expected a rate from 0"),
        ({"dropout": ["a"]}, "dropout='a' was given; expected a rate from 0"),
        ({"activation": 5}, "activation"),
        ({"activation": [5]}, "activation"),
        ({"initialise": 5}, "initialise=5 was given; a name was expected"),
        ({"random_state": "abc"}, "random_state='abc' was given; a whole number from 0 up"),
        ({"random_state": -1}, "random_state=-1 was given; a whole number from 0 up"),
        ({"momentum": "abc"}, "momentum='abc'; a number from 0 up to"),  # though adam has none
        ({"trainable": -1}, r"trainable=-1 was given; a list of layers .* trainable=\[-1\]"),
        ({"early_stopping": "no"}, "early_stopping='no' was given; True or False was expected"),
        ({"shuffle": "no"}, "shuffle='no' was given; True or False was expected"),
        ({"bias": "no"}, "bias='no' was given for 2 layers of weights; True or False"),
        ({"balanced": None}, "balanced=None was given; True or False was expected"),
        ({"training": Training(evaluate=1)}, "evaluate=1 was given; True or False was expected"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, dict) else "",
)
def test_bad_arguments_are_refused(options, message):
    X, y = blobs()
    with pytest.raises(InvalidInput, match=message):
        classifier(**options).fit(X, y)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("solver", "adm"),
        ("solver", 3),
        ("activation", "swish"),
        ("schedule", "cosin"),
        ("penalty_scaling", "per-batch"),
        ("end_game", "loses"),
        ("initialise", "glorot"),
        ("dtype", "float16"),
        ("dtype", "numbers"),
    ],
)
def test_unknown_names_are_refused_with_the_choices(name, given):
    X, y = blobs()
    with pytest.raises(UnknownName, match="choose one of"):
        classifier(**{name: given}, early_stopping=name == "end_game").fit(X, y)


def test_a_batch_larger_than_the_data_reads_all_rows_and_says_so():
    X, y = blobs(20)
    with pytest.warns(LargeBatch, match="batch=500 was given, and there are 20 training rows"):
        model = classifier(batch=500).fit(X, y)
    assert (model.parameters_ == classifier(batch="full").fit(X, y).parameters_).all()


@pytest.mark.parametrize(
    ("held", "message"),
    [
        (lambda X, y: (X.assign(d=1.0), y), "unseen at fit time"),
        (lambda X, y: (X[["b", "a", "c"]], y), "in the same order"),
        (lambda X, y: (X.drop(columns="a"), y), "now missing"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, y + 1), "does not exist in the initial classes"),
        (lambda X, y: (X * np.nan, y), "contains NaN"),
        (lambda X, y: (X, y, -np.ones(len(y))), "Negative values"),
        (lambda X, y: ("rows.csv", "y"), "X is a file"),
    ],
)
def test_a_validation_set_that_does_not_fit_is_refused(held, message):
    X, y = blobs(30)
    X = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(InvalidInput, match=f"(?s)The validation set cannot be used: .*{message}"):
        classifier(validation=held(X, y)).fit(X, y)


def test_early_stopping_needs_rows_to_judge_by():
    X, y = blobs(2, n_classes=2)
    with pytest.raises(InvalidInput, match="leaves rows for only one of training and validation"):
        classifier(early_stopping=True, batch="auto").fit(X, y)


def test_a_file_is_not_for_every_way_of_training(tmp_path):
    X, y = blobs(30)
    path = str(tmp_path / "rows.csv")
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y).to_csv(path, index=False)
    with pytest.raises(InvalidInput, match="L-BFGS needs all rows in memory"):
        classifier(solver="lbfgs", batch="auto").fit(path, "y")
    with pytest.raises(InvalidInput, match="X is a file; partial_fit"):
        classifier().partial_fit(path, "y", classes=[0, 1, 2])
    bad = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    bad.loc[20, "b"] = None
    bad.to_csv(path, index=False)
    with pytest.raises(InvalidInput, match="contains NaN: row 20, column 'b'"):
        classifier().fit(path, "y")


@pytest.mark.parametrize("make", [classifier, regressor])
def test_a_rate_that_is_too_large_ends_with_the_epoch_the_rate_and_advice(make):
    X, y = blobs() if make is classifier else waves()
    with pytest.raises(TrainingDiverged, match=r"at a learning rate of 1e.30") as error:
        make((20, 20), solver="sgd", learning_rate=1e30).fit(10 * X, y)
    assert "Try a learning_rate ten times smaller" in str(error.value)
    assert error.value.epoch >= 1


def test_cells_that_are_not_finite_are_named():
    X, y = blobs()
    X[4, 1] = np.inf
    with pytest.raises(InvalidInput, match=r"infinity .*row 4, column 'x1'"):
        classifier().fit(X, y)
    X[4, 1] = 0.0
    model = classifier().fit(X, y)
    X[7, 2] = np.nan
    with pytest.raises(InvalidInput, match="NaN: row 7, column 'x2'"):
        model.predict(X)
