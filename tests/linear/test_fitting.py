"""One fit, however the rows come: layouts, cuts, executors, precision, weights, frames, files."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import likely
from likely.compute.executor import Serial, Threads
from likely.data import block, source_blocks
from likely.errors import InvalidInput
from likely.fitting import framing

TIGHT = 1e-14  # a gap that, from the same start, leaves the same coefficients to 1e-9
ROOT = 1e-6  # what a gap of TIGHT leaves of coefficients that were reached by another way
N = 210
WORDS = np.array(["blue", "green", "red"])


def real(eta, rng):
    return eta + rng.normal(size=len(eta))


def count(eta, rng):
    return rng.poisson(np.exp(0.3 * eta)).astype(float)


def positive(eta, rng):
    return rng.gamma(3.0, np.exp(0.3 * eta))


def two(eta, rng):
    return np.where(eta + rng.logistic(size=len(eta)) > 0, "yes", "no")


def linear(**o):
    return likely.LinearRegression(tol=TIGHT, **o)


def glm(response, link=None, **o):
    return likely.GLM(response, link, tol=TIGHT, **o)


def logistic(link="logit", **o):
    return likely.LogisticRegression(link, tol=TIGHT, **o)


MODELS = {
    "least squares": (lambda **o: linear(**o), real),
    "ridge": (lambda **o: linear(l2=3.0, **o), real),
    "lasso": (lambda **o: linear(l1=9.0, **o), real),
    "poisson": (lambda **o: glm("poisson", **o), count),
    "poisson ridge": (lambda **o: glm("poisson", l2=2.0, **o), count),
    "gamma": (lambda **o: glm("gamma", "log", **o), positive),
    "logistic": (lambda **o: logistic(**o), two),
    "cloglog": (lambda **o: logistic("cloglog", l2=0.0, **o), two),
    "sparse logistic": (lambda **o: logistic(l1=4.0, l2=0.5, **o), two),
    "firth": (lambda **o: logistic(firth=True, **o), two),
}
PENALISED = ("ridge", "lasso", "poisson ridge", "logistic", "sparse logistic")
every = pytest.mark.parametrize("name", MODELS)


def rows(name, seed=0):
    """Numbers, many of them 0; and responses."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3)) * (rng.random((N, 3)) < 0.6)
    return X, MODELS[name][1](X @ np.array([1.0, -0.5, 0.2]), rng)


def mixed(name, seed=0):
    """A frame with two categorical columns, and responses."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    colour, size = rng.integers(0, 3, N), rng.integers(0, 2, N)
    frame = pd.DataFrame(
        {"a": X[:, 0], "colour": WORDS[colour], "b": X[:, 1], "size": np.array(["L", "S"])[size]}
    )
    return frame, MODELS[name][1](X[:, 0] - 0.5 * X[:, 1] + 0.6 * colour - 0.5, rng)


def fitted(name, X, y, *args, executor="auto", **named):
    return MODELS[name][0](executor=executor).fit(X, y, *args, **named)


def assert_same(one, other, rtol=1e-9):
    assert_allclose(one.coef_, other.coef_, rtol=rtol, atol=rtol)
    assert_allclose(one.intercept_, other.intercept_, rtol=rtol, atol=rtol)


def assert_same_errors(one, other, rtol=1e-6):
    a, b = (model.summary().to_frame("pandas")["se"] for model in (one, other))
    assert_allclose(a, b, rtol=rtol)


@every
def test_sparse_rows_are_the_dense_ones(name):
    X, y = rows(name)
    dense, thin = fitted(name, X, y), fitted(name, sparse.csr_array(X), y)
    assert_same(thin, dense)
    assert_same_errors(thin, dense)
    eta = thin.linear_predictor(sparse.csr_array(X))
    assert_allclose(eta, dense.linear_predictor(X), rtol=1e-7, atol=1e-8)


@every
def test_categories_are_their_dummies(name):
    frame, y = mixed(name)
    coded = fitted(name, frame, y)
    kept = slice(0 if name in PENALISED else 1, None)
    dummies = [
        (frame[column].to_numpy()[:, None] == np.unique(frame[column])[kept]).astype(float)
        for column in ("colour", "size")
    ]
    expanded = fitted(name, np.hstack([frame[["a", "b"]], *dummies]), y)
    assert_same(coded, expanded)
    assert_same_errors(coded, expanded)


@pytest.mark.diagonal(2)
@every
def test_any_cut_and_any_executor_give_the_same_fit(name, monkeypatch):
    for (X, y), rows_per_block in ((rows(name), 64), (mixed(name), 31)):
        whole = fitted(name, X, y)
        monkeypatch.setattr(block, "block_rows", lambda *shape, size=rows_per_block: size)
        serial = fitted(name, X, y, executor=Serial())
        assert_same(serial, whole)
        threads = fitted(name, X, y, executor=Threads(2))
        assert_array_equal(threads.coef_, serial.coef_)  # the same bits: the cut is the same
        assert_same_errors(threads, whole)
        monkeypatch.undo()


@every
def test_where_a_search_starts_does_not_change_where_it_ends(name, monkeypatch):
    """A tenth of the rows, as on large data, though they be the worst of them."""
    X, y = rows(name)
    order = np.argsort(X[:, 0], kind="stable")
    whole = fitted(name, X[order], y[order])
    monkeypatch.setattr(framing, "FEWEST_TO_SHARE", 1)
    monkeypatch.setattr(framing, "ROWS_PER_COEFFICIENT", 1)
    assert_same(fitted(name, X[order], y[order]), whole, rtol=ROOT)


@every
def test_single_precision_agrees_to_four_digits(name):
    X, y = rows(name)
    y32 = y if y.dtype.kind == "U" else y.astype(np.float32)
    make = MODELS[name][0]
    double, single = make().fit(X, y), make().set_params(tol=1e-8).fit(X.astype(np.float32), y32)
    assert_allclose(single.coef_, double.coef_, rtol=1e-4, atol=1e-4)
    assert_allclose(single.intercept_, double.intercept_, rtol=1e-4, atol=1e-4)
    assert single.coef_.dtype == np.float64


@every
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_absent(name, layout):
    X, y = rows(name)
    weight = np.arange(N) % 3
    weighted = fitted(name, layout(X), y, weight)
    repeated = fitted(name, layout(np.repeat(X, weight, axis=0)), np.repeat(y, weight))
    assert_same(weighted, repeated)
    assert_same_errors(weighted, repeated)


@every
def test_a_category_of_weight_zero_is_no_category(name):
    frame, y = mixed(name)
    weight = (frame["colour"] != "green").astype(float)
    kept = weight > 0
    model = fitted(name, frame, y, weight)
    assert not [term for term in model.terms_ if "green" in term]
    assert_same(model, fitted(name, frame[kept], y[kept]))


FRAMES = {"polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@every
@pytest.mark.parametrize("library", FRAMES)
def test_frames_of_all_libraries_are_equal(name, library):
    frame, y = mixed(name)
    here = fitted(name, frame, y)
    there = fitted(name, FRAMES[library](frame), y)
    assert there.terms_ == here.terms_
    assert_same(there, here)
    assert_allclose(there.linear_predictor(FRAMES[library](frame)), here.linear_predictor(frame))


@every
def test_other_columns_of_a_frame_may_be_named(name):
    frame, y = mixed(name)
    rng = np.random.default_rng(5)
    weight, offset = rng.integers(0, 3, N), rng.normal(0, 0.2, N)
    whole = frame.assign(target=y, w=weight, o=offset)
    for table in (whole, pl.from_pandas(whole)):
        named = fitted(name, table, "target", "w", offset="o")
        assert named.feature_names_in_.tolist() == list(frame.columns)
        assert_same(named, fitted(name, frame, y, weight, offset=offset))


WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
}


@pytest.mark.diagonal(2)
@every
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_file_is_the_frame(name, suffix, tmp_path, monkeypatch):
    frame, y = mixed(name)
    rng = np.random.default_rng(6)
    weight, offset = rng.integers(0, 3, N), rng.normal(0, 0.2, N)
    path = tmp_path / f"rows.{suffix}"
    WRITERS[suffix](frame.assign(target=y, w=weight, o=offset), path)
    here = fitted(name, frame, y, weight, offset=offset)
    monkeypatch.setattr(source_blocks, "block_rows", lambda *shape: 100)
    X, executor = (str(path), Serial()) if suffix == "csv" else (likely.read(path), Threads(2))
    there = fitted(name, X, "target", "w", offset="o", executor=executor)
    assert there.terms_ == here.terms_
    assert_same(there, here)
    assert_same_errors(there, here)
    assert_allclose(there.linear_predictor(frame), here.linear_predictor(frame), atol=1e-8)


@every
def test_clusters_of_a_file_are_those_of_the_frame(name, tmp_path):
    frame, y = mixed(name)
    group = np.random.default_rng(7).choice(["p", "q", "r", "s", "t", "u"], N)
    frame.assign(target=y, group=group).to_parquet(tmp_path / "rows.parquet")
    make = MODELS[name][0]
    here = make(standard_errors="clustered").fit(frame, y, groups=group)
    there = make(standard_errors="clustered").fit(
        tmp_path / "rows.parquet", "target", groups="group"
    )
    assert_same_errors(there, here)
    plain = fitted(name, frame, y)
    errors = [model.summary().to_frame("pandas")["se"] for model in (here, plain)]
    assert np.nanmax(np.abs(errors[0] / errors[1] - 1)) > 0.01  # the groups were used


@every
def test_an_offset_of_the_predictor_itself_leaves_nothing_to_fit(name):
    """o = η̂ of an unpenalised fit: all coefficients are then 0."""
    X, y = rows(name)
    offset = fitted(name, X, y).linear_predictor(X)
    again = fitted(name, X, y, offset=offset)
    if name in ("least squares", "poisson", "gamma", "cloglog"):
        assert_allclose(again.coef_, 0, atol=1e-6)
        assert_allclose(again.intercept_, 0, atol=1e-6)
    moved = fitted(name, X, y, offset=np.full(N, 0.25))
    assert_allclose(moved.coef_, fitted(name, X, y).coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(moved.intercept_ + 0.25, fitted(name, X, y).intercept_, rtol=1e-7)


@pytest.mark.parametrize("name", ["lasso", "poisson", "logistic", "sparse logistic"])
def test_a_warm_start_ends_at_the_same_place_with_less_work(name):
    X, y = rows(name)
    model = MODELS[name][0](warm_start=True).fit(X, y)
    cold, steps = model.coef_.copy(), model.n_iter_
    model.fit(X, y)
    assert model.solution_.n_iter <= min(1, steps)
    assert_allclose(model.coef_, cold, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["poisson", "logistic"])
def test_a_search_counts_its_passes_and_says_when_it_ran_out_of_steps(name):
    X, y = rows(name)
    model = fitted(name, X, y)
    steps = model.solution_.n_iter
    assert model.solution_.converged
    assert steps <= model.solution_.passes <= 3 * steps + 6  # a pass a step, and for the errors
    with pytest.warns(ConvergenceWarning, match="max_iter=1 was reached.*Raise max_iter"):
        MODELS[name][0](max_iter=1).fit(X, y)


@every
def test_the_trace_of_the_objective_never_rises(name):
    """GLM-9."""
    X, y = rows(name)
    trace = np.array(fitted(name, X, y).solution_.trace)
    assert (np.diff(trace) <= 1e-12 * np.abs(trace[:-1])).all()


def test_a_link_that_no_predictor_of_these_rows_is_valid_for_needs_an_intercept():
    X, y = rows("gamma")
    with pytest.raises(InvalidInput, match=r"No coefficients.*'inverse'.*Keep the intercept"):
        likely.GLM("gamma", fit_intercept=False).fit(X, y)


@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_the_look_for_separation_costs_no_pass_where_the_hessian_is_known(l2):
    """With a ridge only the intercept is free; 0.1 of a pass is the start on some rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 5))
    y = (X[:, 0] + rng.logistic(size=30_000) > 0).astype(int)
    model = likely.LogisticRegression(l2=l2, standard_errors=None).fit(X, y)
    assert model.solution_.passes == pytest.approx(model.n_iter_ + 1.1)
