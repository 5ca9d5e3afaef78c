"""One part held out: the same score in memory and in a stream, and no row that is left out."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.data.split import split_mask
from likely.special import LOG_FLOOR
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.opening import dataset
from likely.workbench.scoring import held_out
from likely.workbench.scoring.held_out import hold_out


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(held_out, "CHUNK_ROWS", 17)


def both(table, make, kind, **columns):
    """In memory, and as it is read."""
    rows = dataset(table, **columns)
    here = hold_out(make, rows, kind, seed=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dataset, "in_memory", False)
        return [here, hold_out(make, rows, kind, seed=0)]


def claims(n=300):
    rng = np.random.default_rng(0)
    x, years = rng.normal(size=n), rng.uniform(0.5, 3, n)
    return pa.table(
        {
            "x": x,
            "years": years,
            "times": rng.integers(0, 3, n).astype(float),
            "claims": rng.poisson(years * np.exp(0.3 * x)),
            "grade": np.where(x + rng.logistic(size=n) > 0, "high", "low"),
        }
    )


@pytest.mark.parametrize(
    ("make", "kind", "columns"),
    [
        (lambda: lk.GLM("poisson"), "count", {"target": "claims", "exposure": "years"}),
        (lambda: lk.GLM("poisson"), "count", {"target": "claims", "weight": "times"}),
        (lk.LogisticRegression, "classes", {"target": "grade", "weight": "times"}),
        (lk.LinearRegression, "real", {"target": "years"}),
    ],
)
def test_a_stream_has_the_score_of_the_table_in_memory(make, kind, columns):
    apart = [name for name in ("grade", "claims", "years", "times") if name not in columns.values()]
    here, there = both(claims().drop_columns(apart), make, kind, **columns)
    assert there.held is None
    assert here.score.n_rows == there.score.n_rows == len(here.held.row)
    shared = [name for name in here.score.estimates if name in there.score.estimates]
    assert len(shared) >= len(here.score.estimates) - 2  # AUC and average precision
    for name in shared:
        assert_allclose(there.score.estimates[name], here.score.estimates[name], rtol=1e-6)
    assert_allclose(there.score.gain, here.score.gain, rtol=1e-6)
    approximate = [name for name in there.score.estimates if name.endswith("-approximate")]
    assert bool(approximate) == (kind == "classes")


def test_a_class_that_the_fit_had_not_seen_has_the_floor():
    table = claims().select(["x", "grade"])
    labels = table["grade"].to_pylist()
    held = np.flatnonzero(split_mask(0, 300, 0, held_out.FRACTION))
    labels[held[0]] = "middle"
    table = table.set_column(1, "grade", pa.array(labels))
    here, there = both(table, lambda: lk.SoftmaxRegression(tol=1e-14), "classes", target="grade")
    for part in (here, there):
        assert part.n_unseen == 1
        assert part.score.n_rows == len(held)
        assert part.task.classes == ("high", "low", "middle")
    assert here.held.prediction.losses(here.held.truth)[0] == -LOG_FLOOR
    assert here.held.constant.losses(here.held.truth)[0] == -LOG_FLOOR
    assert there.score.main.value == pytest.approx(here.score.main.value)


def test_rows_without_a_label_are_counted_and_left_out():
    table = claims().select(["x", "grade"])
    labels = ["?" if i % 4 == 0 else label for i, label in enumerate(table["grade"].to_pylist())]
    table = table.set_column(1, "grade", pa.array(labels))

    def make():
        return lk.NaiveBayes(unlabelled="?")

    for part in both(table, make, "classes", target="grade"):
        assert part.task.kind == "binary"
        assert part.n_unseen == 0
        held = np.flatnonzero(split_mask(0, 300, 0, held_out.FRACTION))
        assert part.n_unlabelled == (held % 4 == 0).sum()
        assert part.score.n_rows == (held % 4 != 0).sum()


def test_a_density_is_scored_beside_one_component():
    rng = np.random.default_rng(0)
    x = np.append(rng.normal(-4, 1, 200), rng.normal(4, 1, 200))
    table = pa.table({"x": rng.permutation(x)})

    def make():
        return lk.GaussianMixture(n_components=2, random_state=0)

    here, there = both(table, make, None)
    assert here.score.baseline == "one component"
    assert here.score.better_than_baseline
    assert_allclose(here.score.main, there.score.main, rtol=1e-6)


def test_too_few_rows_are_not_held_out():
    assert both(claims(10).select(["x", "grade"]), lk.NaiveBayes, "classes", target="grade") == [
        None,
        None,
    ]
