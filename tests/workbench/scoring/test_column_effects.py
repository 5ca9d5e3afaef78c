"""What cannot be measured about columns is said, and the model is kept."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

import likely as lk
from likely.errors import EffectsLeftOut
from likely.workbench.data.opening import dataset
from likely.workbench.scoring import column_effects
from likely.workbench.scoring.column_effects import held_out_effects_or_note

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.normal(size=60)})
LABELS = np.where(TABLE["a"] > 0, "yes", "no")


class _NeedsAllRows(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        if len(X) < 60:
            raise RuntimeError("too few\nrows")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def test_a_fit_that_fails_without_one_fold_is_noted_with_its_reason():
    rows = dataset(TABLE, LABELS)
    with pytest.warns(EffectsLeftOut, match=r"left out, because .*RuntimeError: too few rows"):
        assert held_out_effects_or_note(_NeedsAllRows(), rows) is None


def test_a_fit_that_does_not_fail_has_effects_and_no_note():
    found = held_out_effects_or_note(lk.LogisticRegression(), dataset(TABLE, LABELS))
    assert found is not None and found.held_out


def test_a_column_without_importance_has_no_partial_effect():
    tree = DecisionTreeClassifier(max_depth=1)  # which reads one column
    found = held_out_effects_or_note(lk.Prepared(tree), dataset(TABLE, LABELS))
    low = dict(zip(found.importance.names, found.importance.low, strict=True))
    assert low["a"] > 0 == low["b"]
    assert [each.column for each in found.effects.effects] == ["a"]


def test_effects_are_measured_of_as_many_rows_and_columns_as_are_allowed():
    least, most = column_effects.FEWEST_ROWS, column_effects.MOST_COLUMNS
    assert column_effects.why_no_effects(least, most, ()) == ""
    assert "fewer than" in column_effects.why_no_effects(least - 1, most, ())
    assert "more than" in column_effects.why_no_effects(least, most + 1, ())
