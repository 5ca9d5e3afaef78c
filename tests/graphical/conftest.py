"""Both twins of the loops of inference, by name."""

import pytest

from likely.graphical.exact import cost as speed


@pytest.fixture(params=["readable", "fast"])
def twin(request, monkeypatch):
    """Readable loops for any graph, then compiled ones for any graph."""
    monkeypatch.setattr(speed, "LOOPS", "no module")
    monkeypatch.setattr(speed, "_patience", lambda: float("inf"))
    monkeypatch.setattr(speed, "FAST_WORK", 0.0 if request.param == "fast" else float("inf"))
    return request.param
