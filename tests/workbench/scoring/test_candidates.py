"""Candidates that are trained together: the predictions of each alone, and their shared seconds."""

from functools import partial
from itertools import count

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import likely as lk
from likely.compute.executor import executor_for
from likely.workbench.data.opening import dataset
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.candidates import cross_validate_candidates
from likely.workbench.scoring.cross_validation import Loop, cross_validate


class Together(lk.LinearRegression):
    """A regression that notes with how many others it was trained."""

    sizes: list[int] = []  # noqa: RUF012

    def train_with(self, others, X, y=None, sample_weight=None, *, device):
        self.sizes.append(1 + len(others))
        return [partial(clone(each).fit, X, y, sample_weight) for each in (self, *others)]


@pytest.fixture(params=[None, "times"])
def loop(monkeypatch, request):
    monkeypatch.setattr(Together, "sizes", [])
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    columns = {"x": x, "y": x + rng.normal(size=80), "times": rng.integers(1, 3, 80)}
    drop = ["times"] if request.param is None else []
    rows = dataset(pa.table(columns), "y", weight=request.param, drop=drop).with_task()
    return Loop(rows, rows.folds(4), clock=count().__next__)


def scored(models, loop, until=lambda found: False):
    serial = executor_for("serial", 0)
    return cross_validate_candidates(models, loop, device=None, executor=serial, until=until)


def test_candidates_trained_together_predict_as_each_alone_and_share_the_seconds(loop):
    models = {f"l2 = {l2}": Prepared(Together(l2=l2)) for l2 in (1.0, 5.0)}
    found = scored(models, loop)
    assert Together.sizes == [2] * 4
    for name, model in models.items():
        alone = cross_validate(model, loop).held.prediction.means
        parts = found[name].parts
        assert_allclose(
            np.concatenate([part.prediction.means for part in parts]),
            alone[np.concatenate([part.row for part in parts])],
            rtol=1e-9,
        )
        assert found[name].seconds == [0.5 + 1.0] * 4  # half of the training, and the prediction


def test_a_candidate_that_is_over_is_left_out_and_the_last_one_is_fitted_alone(loop):
    models = {name: Prepared(Together()) for name in ("first", "second")}
    over = []
    found = scored(models, loop, lambda each: not over and not over.append(each))
    assert [len(found[name].parts) for name in models] == [1, 4]
    assert Together.sizes == [2]
