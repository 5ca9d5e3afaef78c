"""Trials that are trained together on a device are those fitted one by one, to rounding."""

import warnings
from math import isnan

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import likely
from likely.errors import InvalidInput
from likely.neural import many
from likely.spaces import Choice, Real
from likely.workbench.scoring import candidates
from likely.workbench.scoring.candidates import device_for_candidates
from likely.workbench.search import exploration
from likely.workbench.search.tune import tune

torch = pytest.importorskip("torch", reason="torch is not installed")
CPU = torch.device("cpu")
SPACE = {
    "learning_rate": Real(1e-3, 3e-2, log=True),
    "l2": Real(1e-2, 10.0, log=True, zero=0.3),
    "dropout": Real(0.05, 0.4, zero=0.5),
}
SHAPES = SPACE | {"hidden": Choice(((3,), (5,), ())), "batch": Choice((16, 32))}


@pytest.fixture(autouse=True)
def one_thread():
    """Threads wait for each other longer than these networks compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "NeuralNetwork.* did not converge")
        yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def two_are_enough(monkeypatch):
    """Studies of few trials are trained together too."""
    monkeypatch.setattr(many, "FEWEST_ALIKE", 2)


@pytest.fixture
def groups(monkeypatch):
    """The sizes of the groups that were trained together."""
    sizes, train = [], many.train_many

    def counted(candidates, *rest, **options):
        sizes.append(len(candidates))
        return train(candidates, *rest, **options)

    monkeypatch.setattr(many, "train_many", counted)
    return sizes


def table(n=90):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, X[:, 0]),
            "b": X[:, 1],
            "town": np.where(X[:, 2] > 0.5, "Mons", "Ghent"),
            "weight": rng.integers(0, 3, n),
            "target": np.where(X[:, 0] + X[:, 1] ** 2 > 0.8, "yes", "no"),
            "number": 1e3 * (2 + X[:, 0] + 0.1 * rng.normal(size=n)),
        }
    )


def classifier(**changes):
    settings = {"hidden": (5,), "max_epochs": 3, "dtype": "float64", "random_state": 3}
    return likely.NeuralNetworkClassifier(**{"solver": "adam", **settings, **changes})


def searched(model=None, *, device, target="target", **options):
    data = table().drop(columns="number" if target == "target" else "target")
    how = {
        "space": SPACE,
        "trials": 6,
        "folds": 2,
        "repeats": 1,
        "stop_unpromising": False,
    } | options
    how.setdefault("executor", "serial")
    if "weight" not in options:
        data = data.drop(columns="weight")
    return tune(data, target, model or classifier(), device=device, **how)


def assert_same_study(together, alone, *, rtol=1e-7):
    assert [t.proposal for t in together.trials] == [t.proposal for t in alone.trials]
    for here, there in zip(together.trials, alone.trials, strict=True):
        assert here.problem == there.problem
        assert_allclose(here.per_fold, there.per_fold, rtol=rtol)
        assert (here.score is None) == (there.score is None)
        if here.score is not None:
            assert_allclose(here.score.estimate, there.score.estimate, rtol=rtol)
            assert here.score.warnings == there.score.warnings
            assert here.score.seconds > 0
    assert together.best_trial_.number == alone.best_trial_.number
    assert together.stopped == alone.stopped


SEARCHES = {
    "random": {},
    "grid": {"search": "grid", "space": {"l2": [0.1, 1.0], "learning_rate": [0.01, 0.003]}},
    "halving": {"search": "halving", "trials": 9},
    "several shapes": {"space": SHAPES, "trials": 9},
    "in threads": {"space": SHAPES, "trials": 9, "executor": "threads"},
    "nested": {"nested": 2, "trials": 3},
    "weights": {"weight": "weight"},
    "repeats": {"repeats": 2, "trials": 3},
    "unpromising trials": {
        "stop_unpromising": True,
        "trials": 12,
        "folds": 3,
        "space": {"learning_rate": Real(1e-5, 3e-2, log=True)},
    },
}


@pytest.mark.diagonal(3)
@pytest.mark.parametrize("name", SEARCHES)
def test_a_study_trained_together_is_that_of_trials_one_by_one(name, groups):
    options = SEARCHES[name]
    alone = searched(device="cpu", **options)
    assert groups == []
    together = searched(device=CPU, **options)
    assert groups
    assert min(groups) >= 2
    assert_same_study(together, alone)
    if name == "nested":
        assert_allclose(together.nested_score_, alone.nested_score_, rtol=1e-7)
    if name == "unpromising trials":
        assert any(trial.stopped for trial in together.trials)


def test_all_random_trials_are_one_group_in_each_fold(groups):
    searched(device=CPU, trials=7)
    assert groups == [7, 7]


@pytest.mark.parametrize("early_stopping", [False, True])
def test_the_networks_of_averages_are_trained_together(early_stopping, groups):
    """With early stopping each of them has its own rows, which those of other trials share."""
    model = classifier(n_networks=3, early_stopping=early_stopping)
    alone, together = (searched(model, device=device, trials=4) for device in ("cpu", CPU))
    assert_same_study(together, alone)
    assert groups == ([4] * 6 if early_stopping else [12] * 2)


def test_numbers_and_their_spread_are_the_same():
    model = likely.NeuralNetworkRegressor(
        (5,), max_epochs=3, dtype="float64", random_state=3, early_stopping=True, n_networks=2
    )
    alone, together = (searched(model, device=device, target="number") for device in ("cpu", CPU))
    assert_same_study(together, alone)


def test_a_trial_that_diverges_or_is_refused_fails_with_its_reason_and_the_others_go_on(groups):
    options = {
        "search": "grid",
        "space": {"learning_rate": [0.01, 1e9, 0.02], "batch": [16, -1]},
    }
    model = likely.NeuralNetworkRegressor(
        (5,), max_epochs=3, dtype="float64", random_state=3, solver="sgd"
    )
    alone, together = (
        searched(model, device=device, target="number", **options) for device in ("cpu", CPU)
    )
    assert_same_study(together, alone)
    problems = [trial.problem for trial in together.trials if isnan(trial.value)]
    assert sum(text.startswith("TrainingDiverged: The loss is") for text in problems) == 1
    assert sum(text.startswith("InvalidInput: ") for text in problems) == 3
    assert groups == [3, 2]


def test_a_study_that_was_interrupted_goes_on_as_if_it_had_not_been(tmp_path, groups):
    whole = searched(device=CPU)
    searched(device=CPU, study=tmp_path)
    lines = (tmp_path / "trials.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "trials.jsonl").write_bytes(b"".join(lines[:2]))
    groups.clear()
    resumed = searched(device=CPU, study=tmp_path)
    assert groups == [4, 4]
    assert_same_study(resumed, whole, rtol=1e-9)
    more = resumed.resume(trials=8)  # on the device of the study
    assert groups == [4, 4, 2, 2]
    assert len(more.trials) == 8


def test_batches_are_limited_and_start_in_time(monkeypatch, groups):
    monkeypatch.setattr(exploration, "TOGETHER", 4)
    searched(device=CPU, trials=6)
    assert groups == [4, 4, 2, 2]
    found = searched(device=CPU, trials=6, minutes=1e-9)
    assert found.stopped == "out of time"
    assert len(found.trials) == 1


def test_fewer_networks_than_pay_are_fitted_one_by_one(monkeypatch, groups):
    monkeypatch.setattr(many, "FEWEST_ALIKE", 5)
    searched(device=CPU, trials=4)
    assert groups == []


def test_models_that_need_more_than_training_are_fitted_one_by_one(groups):
    model = classifier(early_stopping=True, end_game="epochs")
    alone, together = (searched(model, device=device, trials=3) for device in ("cpu", CPU))
    assert_same_study(together, alone)
    assert groups == []


def test_a_device_that_was_given_to_the_model_is_that_of_its_trials(monkeypatch):
    """``likely tune --set device=cpu`` stays on the processor where there is a GPU."""
    monkeypatch.setattr(candidates, "cuda_is_there", lambda: True)
    assert device_for_candidates(likely.Prepared(classifier(device="cpu")), None) is None
    assert device_for_candidates(classifier(device=CPU), None) == CPU


def test_the_device_is_a_gpu_where_there_is_one_and_refused_for_other_models():
    assert device_for_candidates(classifier(), "cpu") is None
    assert device_for_candidates(classifier(), CPU) == CPU
    found = device_for_candidates(classifier(), None)
    assert (found is not None) == torch.cuda.is_available()
    assert device_for_candidates(likely.LogisticRegression(), None) is None
    with pytest.raises(InvalidInput, match=r"device='cuda' was given with LogisticRegression"):
        searched("logistic", device="cuda", space=None)
