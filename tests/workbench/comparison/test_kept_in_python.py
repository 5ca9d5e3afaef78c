"""Comparisons and curves made in Python on a seal are saved in it, as those of the shell are."""

import numpy as np
import pandas as pd

import likely
from likely.workbench.comparison.records import comparisons_in, curves_in, models_in


def test_a_comparison_in_python_is_kept_with_its_seal(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = pd.DataFrame({"x": rng.normal(y), "z": rng.normal(size=80), "y": y})
    sealed = likely.seal(X, "y", name="small", folder=tmp_path)
    likely.compare(sealed, models=["naive-bayes"], folds=3, repeats=1)
    likely.compare(sealed, models=["discriminant"], folds=3, repeats=1)
    (kept,) = comparisons_in(sealed.path)
    assert set(models_in([kept])) == {"naive-bayes", "discriminant"}
    likely.learning_curve(sealed, model="naive-bayes", folds=3)
    assert [curve["model"] for curve in curves_in(sealed.path)] == ["naive-bayes"]


def test_without_a_seal_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y = np.arange(40) % 2
    X = pd.DataFrame({"x": np.random.default_rng(0).normal(y), "y": y})
    likely.compare(X, "y", models=["naive-bayes"], folds=3, repeats=1)
    assert not list(tmp_path.iterdir())
