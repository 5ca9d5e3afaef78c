"""One part held out: the same score in memory and in a stream, and no row that is left out."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.data import copies
from likely.data.copies import held_out_of_stream
from likely.data.hashed_splits import split_mask, split_source
from likely.data.labels import LARGE
from likely.data.source import Source
from likely.special import LOG_FLOOR
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.opening import dataset
from likely.workbench.data.task import task_of
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


def test_ordered_classes_keep_their_order_and_unseen_ones_follow():
    table = claims().select(["x", "grade"])
    codes = np.digitize(table["x"].to_numpy(), [-0.5, 0.5])
    labels = np.array(["small", "medium", "large"])[codes].tolist()
    labels[np.flatnonzero(split_mask(0, 300, 0, held_out.FRACTION))[0]] = "huge"
    table = table.set_column(1, "grade", pa.array(labels))

    def make():
        return lk.OrdinalRegression(order=["small", "medium", "large"])

    found = both(table, make, "ordinal", target="grade")[1]
    assert found.task.classes == found.task.order == ("small", "medium", "large", "huge")


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


def in_batches(table, rows):
    """A source that cuts its rows differently, as files do."""
    from likely.data.arrow import TableSource

    batches = pa.table(table).to_batches(max_chunksize=rows)
    return TableSource(pa.Table.from_batches(batches))


def sides(source: Source, *, texts=()):
    """Which rows are held out of a stream, None where their index decides."""
    held = held_out_of_stream(source, 0, 0.2, texts=texts)
    return None if held is None else np.unpackbits(held)[: source.n_rows].astype(bool)


@pytest.mark.parametrize("sampled", [10**6, 500], ids=["all", "some"])
@pytest.mark.parametrize("rows", [37, 10**6])
def test_copies_in_a_stream_are_on_one_side(monkeypatch, sampled, rows):
    monkeypatch.setattr(copies, "SAMPLED_ROWS", sampled)
    rng = np.random.default_rng(0)
    x, city = rng.normal(size=4000), rng.choice(["Ulm", "Kiel", None], 4000)
    columns = {"x": np.tile(x, 2), "city": np.tile(city, 2), "z": np.tile(x > 0, 2)}
    held = sides(in_batches(columns, rows))
    np.testing.assert_array_equal(held[:4000], held[4000:])
    assert abs(held.mean() - 0.2) < 5 * np.sqrt(0.2 * 0.8 / 4000)


@pytest.mark.parametrize("sampled", [10**6, 500], ids=["all", "some"])
def test_copies_in_a_stream_are_learned_or_scored(monkeypatch, sampled):
    """Of noise that is there twice, a nearest neighbour knows nothing."""
    from sklearn.neighbors import KNeighborsClassifier

    monkeypatch.setattr(copies, "SAMPLED_ROWS", sampled)
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(1000, 3)), rng.choice(["a", "b"], 1000)
    table = pa.table({**{f"x{j}": np.tile(x[:, j], 2) for j in range(3)}, "y": np.tile(y, 2)})
    seen, part = split_source(
        in_batches(table, 100),
        0,
        0.2,
        held_out_of_stream(in_batches(table.select([0, 1, 2]), 64), 0, 0.2),
    )
    seen, part = (pa.Table.from_batches(list(each)).to_pandas() for each in (seen, part))
    assert len(seen) + len(part) == 2000
    near = KNeighborsClassifier(1).fit(seen[["x0", "x1", "x2"]], seen["y"])
    assert abs(near.score(part[["x0", "x1", "x2"]], part["y"]) - 0.5) < 0.15


@pytest.mark.parametrize("sampled", [10**6, 500], ids=["all", "some"])
def test_equal_rows_of_few_cells_are_no_copies_in_a_stream(monkeypatch, sampled):
    monkeypatch.setattr(copies, "SAMPLED_ROWS", sampled)
    rng = np.random.default_rng(2)
    cells = {name: rng.choice(["a", "b", "c"], 5000) for name in "uvw"}
    assert sides(in_batches(cells, 64)) is None


def test_a_stream_without_copies_is_split_by_the_index(monkeypatch):
    monkeypatch.setattr(copies, "SAMPLED_ROWS", 500)
    x = np.random.default_rng(3).normal(size=2000)
    np.testing.assert_array_equal(sides(in_batches({"x": x}, 64)), split_mask(0, 2000, 0, 0.2))


@pytest.mark.parametrize("y", [np.arange(40) % 10, np.arange(40) / 8, np.arange(40) * LARGE / 39])
def test_exact_zeros_among_amounts_are_those_of_the_table_in_memory(y):
    """Small whole numbers are no amounts, fractions and large whole numbers are."""
    table = pa.table({"x": np.arange(40.0), "y": np.rint(y) if y.max() > 10 else y.astype(float)})
    found = held_out._task(None, dataset(table, "y"), "real").zeros
    assert held_out._task(None, dataset(table, "y"), "count").zeros == 0
    assert found == task_of(table, "y", kind="real").zeros == (0 if y.max() == 9 else 1 / 40)


def test_as_few_rows_as_are_enough_are_held_out():
    for n, enough in ((held_out.FEWEST_ROWS - 1, False), (held_out.FEWEST_ROWS, True)):
        table = claims(n).select(["x", "years"])
        found = hold_out(lk.LinearRegression, dataset(table, "years"), "real", seed=0)
        assert (found is not None) == enough
