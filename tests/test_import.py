"""``import likely``: what it brings, what it costs, and what it leaves for later."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import likely
from tests.machine import n_calls

HEAVY = ["matplotlib", "narwhals", "numba", "pyarrow", "scipy", "sklearn"]
ALLOWED_CALLS = 40_000  # of functions; 10,000 were counted, and NumPy alone has 150,000


SOURCE = str(Path(likely.__file__).parents[1])


def run(code):
    """What a fresh Python prints."""
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


def test_import_brings_no_heavy_library():
    loaded = run("import likely, sys; print(*sorted({m.partition('.')[0] for m in sys.modules}))")
    assert "likely" in loaded.split()
    assert not set(HEAVY) & set(loaded.split())


def test_import_is_quick():
    assert n_calls("import likely", PYTHONPATH=SOURCE) < ALLOWED_CALLS


@pytest.mark.parametrize("name", likely.__all__)
def test_every_public_name_resolves(name):
    value = getattr(likely, name)
    if callable(value):
        assert value.__name__ == name
        assert value.__doc__


def test_every_lazy_name_is_public():
    assert set(likely.__all__) == {*likely._HOME, *likely._MODULES, "__version__"}
    assert set(likely.__all__) <= set(dir(likely))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'NaiveBaye'"):
        _ = likely.NaiveBaye


def test_a_name_is_found_directly_after_its_first_use():
    assert run("import likely; likely.special; print('special' in vars(likely))") == "True"


def test_a_small_fit_loads_no_compiler():
    code = (
        "import sys, likely; names = [n for n in likely.__all__ if n != '__version__'];"
        "[getattr(likely, n) for n in names];"
        "likely.NaiveBayes().fit([[0.0], [1.0]], [0, 1]).predict([[0.5]]);"
        "likely.GaussianMixture(2, random_state=0).fit([[0.0], [0.1], [5.0], [5.1]]);"
        "print('numba' in sys.modules)"
    )
    assert run(code) == "False"
