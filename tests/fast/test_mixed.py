"""Compiled products with codes equal the readable ones, for every kind of code and many rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.data.layouts import base as loops
from likely.data.layouts.intercept import Mixed

SIZES = (5, 40, 1)  # 40: the copy across the diagonal takes more than one tile


def some_design(dtype=np.int32, n=400, sizes=SIZES, centre=True):
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(-1, size, n) for size in sizes]).astype(dtype)
    at = rng.normal(size=3) if centre else None
    return rng, Mixed(rng.normal(size=(n, 3)), codes, sizes, at)


def both(monkeypatch, verb):
    """The readable result, then the compiled one."""
    monkeypatch.setattr(loops, "FAST_CELLS", 10**12)
    readable = verb()
    monkeypatch.setattr(loops, "FAST_CELLS", 0)
    return readable, verb()


def as_given(design):
    return design


def by_columns(design):
    codes, numeric = np.asfortranarray(design.codes), np.asfortranarray(design.numeric)
    return Mixed(numeric, codes, design.sizes, design.centre)


def read_only(design):
    design.codes.setflags(write=False)
    design.numeric.setflags(write=False)
    return design


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("lay", [as_given, by_columns, read_only])
@pytest.mark.parametrize("centre", [True, False], ids=["centred", "plain"])
def test_the_twins_are_equal(monkeypatch, dtype, lay, centre):
    rng, design = some_design(dtype, centre=centre)
    design = lay(design)
    n, p = design.n_rows, design.n_features
    theta, wide = rng.normal(size=p), rng.normal(size=(p, 4))
    residual, tall = rng.normal(size=n), rng.normal(size=(n, 4))
    M, columns = rng.normal(size=(p, p)), rng.permutation(p)[:20]
    for verb in (
        lambda: design.matmat(theta),
        lambda: design.matmat(wide),
        lambda: design.rmatmat(residual),
        lambda: design.rmatmat(tall),
        lambda: design.sandwich(np.abs(residual)),
        lambda: design.sandwich(residual),
        lambda: design.sandwich(residual, columns),
        lambda: design.row_quadratic(M),
    ):
        readable, compiled = both(monkeypatch, verb)
        assert_allclose(compiled, readable, rtol=1e-12, atol=1e-12)


def test_right_hand_sides_may_lie_by_columns(monkeypatch):
    rng, design = some_design()
    wide = np.asfortranarray(rng.normal(size=(design.n_features, 4)))
    readable, compiled = both(monkeypatch, lambda: design.matmat(wide))
    assert_allclose(compiled, readable, rtol=1e-12, atol=1e-12)
    tall = np.asfortranarray(rng.normal(size=(design.n_rows, 4)))
    readable, compiled = both(monkeypatch, lambda: design.rmatmat(tall))
    assert_allclose(compiled, readable, rtol=1e-12, atol=1e-12)


def test_codes_without_a_size_are_not_read(monkeypatch):
    """Columns of codes that only distributions read stand for no indicator."""
    _, design = some_design(centre=False)
    bare = Mixed(design.numeric, design.codes, ())
    readable, compiled = both(monkeypatch, lambda: bare.matmat(np.ones(3)))
    assert_allclose(compiled, readable)
    assert_allclose(compiled, design.numeric.sum(axis=1))


def test_large_blocks_run_the_loop_and_small_ones_do_not(monkeypatch):
    called = []
    monkeypatch.setattr("likely.fast.mixed.add_picked", lambda *_: called.append("loop"))
    _, design = some_design(n=10)
    design.matmat(np.ones(design.n_features))
    assert called == []
    monkeypatch.setattr(loops, "FAST_CELLS", 60)
    design.matmat(np.ones(design.n_features))
    assert called == ["loop"]


def test_worked_example_of_a_sandwich(monkeypatch):
    """Rows (2; red), (3; blue), (4; unknown) with weights 1, 10, 100, seen from 2."""
    monkeypatch.setattr(loops, "FAST_CELLS", 0)
    numeric = np.array([[2.0], [3.0], [4.0]])
    design = Mixed(numeric, np.array([[0], [1], [-1]]), (2,), np.array([2.0]))
    expected = [[10 + 400, 0, 10], [0, 1, 0], [10, 0, 10]]
    assert_allclose(design.sandwich(np.array([1.0, 10.0, 100.0])), expected)
