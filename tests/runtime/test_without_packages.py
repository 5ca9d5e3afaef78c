"""The runtime in a Python that has nothing but NumPy and safetensors."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import likely as lk
from tests.runtime.saved_models import Case, answers, library_rows, saved_models
from tests.runtime.text_models import NEW, TEXTS, Y, text_models
from tests.runtime.vectors import CASES, DOCUMENTS
from tests.text.test_vectors import with_tuple

SOURCE = Path(lk.__file__).parents[1]
SCRIPT = Path(__file__).with_name("predict_alone.py")
HEAVY = {"matplotlib", "narwhals", "numba", "pandas", "pyarrow", "scipy", "sklearn"}
SAME = 1e-12  # another BLAS, or none of SciPy's functions, may round otherwise


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with a file for each model, and their rows."""
    folder = tmp_path_factory.mktemp("models")
    cases = saved_models()
    for name, model in text_models().items():
        cases[f"text {name}"] = Case(model.fit(TEXTS, Y), NEW)
    for name, case in cases.items():
        lk.save(case.model, folder / f"{name}.likely")
    plain = {
        name: {
            "rows": _plain(case.rows),
            "beside": _plain(dict(case.beside)),
            "array": isinstance(case.rows, np.ndarray),
        }
        for name, case in cases.items()
    }
    for i, (options, _) in enumerate(CASES):
        words = lk.BagOfWords(**with_tuple(options)).fit(DOCUMENTS)
        lk.save(words, folder / f"words {i}.likely")
        plain[f"words {i}"] = {"rows": DOCUMENTS, "beside": {}, "array": False}
    (folder / "cases.json").write_text(json.dumps(plain))
    return folder, cases


def _run(python, folder, path):
    """What the script says it imported."""
    environment = {**os.environ, "PYTHONPATH": str(path)}
    done = subprocess.run(
        [str(python), str(SCRIPT), str(folder)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def _compare(folder, cases):
    with np.load(folder / "answers.npz") as found:
        for name, case in cases.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = answers(case.model, library_rows(case.rows), case.beside)
            for i, each in enumerate(expected):
                got = found[f"{name}/{i}"]
                if each.dtype.kind == "f":
                    assert_allclose(got, each, rtol=SAME, atol=SAME, err_msg=name)
                else:
                    assert_array_equal(got.astype(str), each.astype(str), err_msg=name)


def _compare_words(folder):
    with np.load(folder / "answers.npz") as found:
        for i, (_, terms) in enumerate(CASES):
            assert [json.loads(each) for each in found[f"words {i}/0"].tolist()] == terms


def test_all_models_predict_alone_what_the_library_predicts(saved):
    folder, cases = saved
    loaded = _run(sys.executable, folder, SOURCE)
    assert not HEAVY & {*loaded}
    _compare(folder, cases)
    _compare_words(folder)


@pytest.mark.slow
def test_a_fresh_environment_with_numpy_and_safetensors_is_enough(saved, tmp_path):
    folder, cases = saved
    home = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [str(python), "-m", "pip", "install", "-q", "numpy", "safetensors"]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"pip cannot install NumPy and safetensors here: {done.stderr.strip()[-200:]}")
    loaded = _run(python, folder, SOURCE)
    assert not HEAVY & {*loaded}
    _compare(folder, cases)
    _compare_words(folder)
