"""Estimators fitted together are those fitted one by one."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import likely
from likely import Batches, EarlyStopping, Training
from likely.errors import InvalidInput, TrainingDiverged, UnscaledColumns
from likely.neural import many as many_models
from likely.neural.many import fit_many

torch = pytest.importorskip("torch", reason="torch is not installed")
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread():
    """Threads wait for each other longer than these networks compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", likely.errors.LikelyWarning)
        warnings.filterwarnings("ignore", "NeuralNetwork.* did not converge")
        yield
    torch.set_num_threads(before)


def table(n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.array(["no", "perhaps", "yes"])[np.digitize(X[:, 0] + X[:, 1] ** 2, [0.3, 1.5])]


def classifier(**changes):
    settings = {
        "solver": "adam",
        "hidden": (6,),
        "max_epochs": 4,
        "dtype": "float64",
        "random_state": 3,
    } | changes
    return likely.NeuralNetworkClassifier(**settings)


def regressor(**changes):
    settings = {"hidden": (6,), "max_epochs": 4, "dtype": "float64", "random_state": 3} | changes
    return likely.NeuralNetworkRegressor(**settings)


CANDIDATES = {
    "rates and penalties": [
        {"learning_rate": 0.01},
        {"learning_rate": 0.003, "l2": 0.5},
        {"schedule": "inverse-time", "dropout": 0.3},
    ],
    "seeds": [{"random_state": seed} for seed in range(3)],
    "early stopping": [
        {"early_stopping": EarlyStopping(2), "learning_rate": rate, "max_epochs": 15}
        for rate in (0.1, 0.01, 0.001)
    ],
    "shapes": [{"hidden": (3,)}, {"hidden": (6,)}, {"hidden": ()}, {"batch": 7}, {"l1": 0.1}],
    "alone": [
        {"hidden": (), "solver": "lbfgs"},
        {"early_stopping": True, "end_game": "epochs"},
        {"training": Training(callbacks=lambda epoch: epoch.number == 2)},
    ],
    "balanced": [{"batch": Batches(balanced=True), "l2": l2} for l2 in (0.0, 1.0)],
    "averages": [
        {"n_networks": 3, "early_stopping": True, "learning_rate": rate} for rate in (0.01, 0.02)
    ],
}


@pytest.mark.parametrize("name", CANDIDATES)
def test_classifiers_fitted_together_are_those_fitted_alone(name):
    X, y = table()
    weight = np.random.default_rng(1).uniform(0, 2, len(y))
    alone = [classifier(**each).fit(X, y, weight) for each in CANDIDATES[name]]
    together = fit_many([classifier(**each) for each in CANDIDATES[name]], X, y, weight, device=CPU)
    for one, many in zip(alone, together, strict=True):
        assert_allclose(many.parameters_, one.parameters_, rtol=1e-6, atol=1e-9)
        assert_allclose(many.history_.loss, one.history_.loss, rtol=1e-7)
        assert many.history_.ending == one.history_.ending
        assert many.history_.kept_epoch == one.history_.kept_epoch
        assert_allclose(many.predict_proba(X), one.predict_proba(X), atol=1e-7)
        assert_array_equal(many.classes_, one.classes_)


def test_regressors_of_sparse_rows_fitted_together_are_those_fitted_alone():
    X, _ = table()
    X, y = sparse.csr_array(np.where(X > 0, X, 0.0)), 1e4 + 300 * X[:, 0]
    settings = [{"learning_rate": 0.01}, {"learning_rate": 0.02, "l2": 1.0}]
    alone = [regressor(**each).fit(X, y) for each in settings]
    together = fit_many([regressor(**each) for each in settings], X, y, device=CPU)
    for one, many in zip(alone, together, strict=True):
        assert_allclose(many.predict(X), one.predict(X), rtol=1e-8)
        assert_allclose(many.dispersion_, one.dispersion_, rtol=1e-7)


def test_a_model_that_explodes_is_an_error_in_its_place():
    X, _ = table()
    models = [regressor(learning_rate=rate, solver="sgd") for rate in (0.01, 1e8)]
    found = fit_many(models, X, X[:, 0], device=CPU)
    assert found[0] is models[0]
    assert isinstance(found[1], TrainingDiverged)


def test_models_fitted_together_warn_as_they_do_alone():
    X, y = table()
    with pytest.warns(ConvergenceWarning, match="NeuralNetworkClassifier did not converge"):
        fit_many([classifier(), classifier(l2=1.0)], X, y, device=CPU)


def test_models_fitted_together_that_are_worse_than_a_constant_say_so():
    X, y = table()
    with (
        pytest.warns(UnscaledColumns),
        pytest.warns(ConvergenceWarning, match="has learned nothing: its mean training loss"),
    ):
        fit_many([classifier(max_epochs=30, tol=None)], 1e6 * X, y, device=CPU)


def test_a_model_that_cannot_be_fitted_is_refused_as_it_is_alone():
    X, y = table()
    with pytest.raises(InvalidInput, match="batch must be a whole number"):
        fit_many([classifier(), classifier(batch=-1)], X, y, device=CPU)


@pytest.mark.parametrize("device", [None, "cpu"])
def test_models_are_fitted_one_by_one_where_there_is_no_gpu(device, monkeypatch):
    monkeypatch.setattr(many_models, "cuda_is_there", lambda: False)
    monkeypatch.setattr(many_models, "train_together", None)  # not called
    X, y = table()
    alone, (found,) = classifier().fit(X, y), fit_many([classifier()], X, y, device=device)
    assert_array_equal(found.parameters_, alone.parameters_)


def test_a_gpu_that_is_there_is_used_unasked(monkeypatch):
    asked = []
    monkeypatch.setattr(many_models, "cuda_is_there", lambda: True)
    monkeypatch.setattr(many_models, "device_for", lambda device, X: asked.append(device))
    fit_many([], *table())
    fit_many([], *table(), device="cpu")
    assert asked == ["cuda", "cpu"]


def test_a_torch_device_gives_the_model_of_numpy():
    X, y = table()
    numpys, torchs = (
        classifier(device=device, dropout=0.2, l1=0.1).fit(X, y) for device in (None, CPU)
    )
    assert_allclose(torchs.parameters_, numpys.parameters_, rtol=1e-8, atol=1e-10)
    assert_allclose(torchs.history_.loss, numpys.history_.loss, rtol=1e-9)
    for model in (numpys, torchs):
        model.partial_fit(X, y)
    assert_allclose(torchs.parameters_, numpys.parameters_, rtol=1e-8, atol=1e-10)
    assert numpys.parameters_.dtype == torchs.parameters_.dtype == np.float64


def test_the_name_of_the_processor_is_numpy():
    X, y = table()
    numpys, named = (classifier(device=device).fit(X, y) for device in (None, "cpu"))
    assert_array_equal(named.parameters_, numpys.parameters_)


def test_tensors_are_read_as_arrays_are():
    X, y = table()
    codes = np.unique(y, return_inverse=True)[1]
    tensors = torch.from_numpy(X).requires_grad_(), torch.from_numpy(codes)
    arrays = classifier().fit(X, codes)
    same = classifier().fit(*tensors)
    assert_array_equal(same.parameters_, arrays.parameters_)
    assert_array_equal(same.predict_proba(tensors[0]), arrays.predict_proba(X))
    assert same.score(*tensors) == arrays.score(X, codes)
    assert_array_equal(same.log_likelihoods(*tensors), arrays.log_likelihoods(X, codes))


def test_a_checkpoint_of_one_device_resumes_on_another(tmp_path):
    X, y = table()
    path = tmp_path / "training.checkpoint"
    classifier(max_epochs=3, tol=None, training=Training(checkpoint=path)).fit(X, y)
    found = classifier(max_epochs=6, tol=None, training=Training(resume=path), device=CPU).fit(X, y)
    whole = classifier(max_epochs=6, tol=None).fit(X, y)
    assert_allclose(found.parameters_, whole.parameters_, rtol=1e-8, atol=1e-10)


def test_devices_that_cannot_be_used_are_refused():
    X, y = table()
    with pytest.raises(InvalidInput, match="solver='lbfgs' and device='cuda'"):
        classifier(hidden=(), solver="lbfgs", device="cuda").fit(X, y)
    with pytest.raises(InvalidInput, match="device='gpus' was given"):
        classifier(device="gpus").fit(X, y)
    if not torch.cuda.is_available():
        with pytest.raises(InvalidInput, match="torch finds 0 CUDA devices"):
            classifier(device="cuda").fit(X, y)
        with pytest.raises(InvalidInput, match="torch finds 0 CUDA devices"):
            fit_many([classifier()], X, y, device="cuda")


@pytest.mark.parametrize("models", [classifier(), [likely.LogisticRegression()], [None]])
def test_what_is_no_list_of_networks_is_refused(models):
    with pytest.raises(InvalidInput, match="a list of neural networks was expected"):
        fit_many(models, *table(), device=CPU)
