"""torch where it is installed, and a sentence where it is not."""

import sys

import numpy as np
import pytest

import likely
from likely.errors import InvalidInput
from likely.neural import device as torch_device
from likely.neural.device import as_array, cuda_is_there
from likely.neural.problem import device_for


def test_without_torch_a_device_is_refused_in_words(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # an import of it fails
    monkeypatch.setattr(torch_device, "find_spec", lambda name: None)
    X = np.arange(8.0).reshape(4, 2)
    with pytest.raises(InvalidInput, match=r"pip install 'likely\[torch\]', or leave device out"):
        likely.NeuralNetworkClassifier((2,), device="cuda").fit(X, [0, 1, 0, 1])
    with pytest.raises(InvalidInput, match="devices need the package torch"):
        likely.fit_many([likely.NeuralNetworkClassifier()], X, [0, 1, 0, 1], device="cuda")
    assert not cuda_is_there()
    assert device_for(None, X) is None
    assert device_for("cpu", X) is None


def test_devices_by_name_object_and_tensor():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    cpu = torch.device("cpu")
    assert device_for(cpu) == cpu
    assert device_for(None, torch.zeros(2)) is None  # NumPy is faster there
    assert cuda_is_there() == torch.cuda.is_available()
    assert isinstance(as_array(torch.ones(2, requires_grad=True)), np.ndarray)


def test_a_model_of_a_device_is_saved_and_loaded(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    for device in ("cpu", torch.device("cpu")):
        model = likely.NeuralNetworkClassifier((3,), device=device, max_epochs=2, tol=None)
        likely.save(model.fit(X, y), tmp_path / "model")
        found = likely.load(tmp_path / "model")
        assert np.array_equal(found.predict_proba(X), model.predict_proba(X))
        assert found.device == (device if isinstance(device, str) else None)
