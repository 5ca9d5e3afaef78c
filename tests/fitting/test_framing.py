"""Centring changes neither the coefficients nor the fit, and a start needs few rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.errors import InvalidInput
from likely.fitting import framing
from likely.fitting.framing import (
    FEWEST_TO_SHARE,
    LARGEST,
    START_SHARE,
    UNKNOWN_SHARE,
    Framing,
    framed,
    mean_response,
    start_share,
)

NAMES = tuple("abcdefg")


def numbers(seed=0, n=40):
    rng = np.random.default_rng(seed)
    return rng.normal([0, 100, -5], size=(n, 3)), rng.normal(size=n), rng.uniform(0.1, 2, n)


@given(seed=st.integers(0, 999), several=st.booleans())
def test_parameters_go_there_and_back_and_the_predictor_stays(seed, several):
    rng = np.random.default_rng(seed)
    X, centre = rng.normal(size=(10, 4)), rng.normal(0, 10, 3)
    framing = Framing(4, True, centre)
    theta = rng.normal(size=(2, 5) if several else 5)
    user = framing.to_user(theta)
    assert_allclose(framing.from_user(user), theta, rtol=1e-9, atol=1e-9)
    moved = X.copy()
    moved[:, :3] -= centre
    eta, centred = X @ user[..., :-1].T + user[..., -1], moved @ theta[..., :-1].T + theta[..., -1]
    assert_allclose(eta, centred, rtol=1e-9, atol=1e-9)
    if not several:
        assert_allclose(framing.jacobian() @ theta, user)


def test_without_a_centre_nothing_is_moved():
    framing = Framing(3, False, None)
    theta = np.arange(3.0)
    assert framing.n_parameters == 3
    assert_allclose(framing.to_user(theta), theta)
    assert_allclose(framing.jacobian(), np.eye(3))


def test_numbers_are_centred_at_their_weighted_mean_and_the_ones_come_last():
    X, y, weight = numbers()
    data = framed(ArrayBlocks(Dense(X), y, weight), Serial(), names=lambda: NAMES)
    assert_allclose(data.framing.centre, np.average(X, axis=0, weights=weight))
    (block,) = data.blocks
    written = block.X.matmat(np.eye(4))
    assert_allclose(written[:, :3], X - data.framing.centre, rtol=1e-9, atol=1e-9)
    assert_allclose(written[:, 3], 1)


@pytest.mark.parametrize("options", [{"intercept": False}, {"centre": False}])
def test_nothing_is_centred_where_the_intercept_is_not_free(options):
    X, y, weight = numbers()
    data = framed(ArrayBlocks(Dense(X), y, weight), Serial(), names=lambda: NAMES, **options)
    assert data.framing.centre is None
    (block,) = data.blocks
    assert_allclose(block.X.matmat(np.eye(block.X.n_features))[:, :3], X)


def test_zeros_of_sparse_rows_and_codes_of_categories_stay_as_they_are():
    X, y, _ = numbers()
    assert (
        framed(
            ArrayBlocks(Csr(sparse.csr_array(X)), y), Serial(), names=lambda: NAMES
        ).framing.centre
        is None
    )
    mixed = Mixed(X, np.zeros((40, 1), dtype=np.int32), (2,))
    assert framed(ArrayBlocks(mixed, y), Serial(), names=lambda: NAMES).framing.centre.shape == (3,)


def test_the_mean_response_is_weighted():
    X, y, weight = numbers()
    found = mean_response(ArrayBlocks(Dense(X), y, weight, rows_per_block=7), Serial())
    assert_allclose(found, np.average(y, weights=weight))


def test_a_start_has_a_tenth_of_many_rows_and_all_of_few():
    assert start_share(FEWEST_TO_SHARE - 1, 3) == 1.0
    assert start_share(50_000, 3) == START_SHARE
    assert start_share(10_000_000, 3) == 0.01
    assert start_share(50_000, 10_000) == 1.0  # too few rows for each coefficient
    assert start_share(None, 3) == UNKNOWN_SHARE


def test_passes_are_counted_and_some_rows_are_some_of_a_pass():
    rng = np.random.default_rng(0)
    blocks = ArrayBlocks(Dense(rng.normal(size=(30_000, 2))), rng.normal(size=30_000))
    data = framed(blocks, Serial(), names=lambda: NAMES)
    assert data.share == sum(data.passes) == 0.1
    assert sum(block.n_rows for block in data.start) == pytest.approx(3000, rel=0.01)
    list(data.blocks)
    list(data.start)
    assert sum(data.passes) == 1.1


def test_a_bad_cell_among_the_rows_of_a_start_is_named_by_its_row_in_the_data():
    X = np.random.default_rng(0).normal(size=(30_000, 2))
    X[4200, 1] = np.nan
    with pytest.raises(InvalidInput, match="NaN: row 4200, column 'b'"):
        framed(ArrayBlocks(Dense(X), np.ones(30_000)), Serial(), names=lambda: NAMES)


def test_numbers_that_differ_by_the_least_that_can_be_squared_are_accepted():
    cells = np.array([[0.0, 0.0, 1.0], [1 / LARGEST, 0.9 / LARGEST, 1.0]])
    assert framing._differ_by_too_little(cells).tolist() == [False, True, False]
