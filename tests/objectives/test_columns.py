"""The doors for columns and rows in memory: what they give, and what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from likely.data.block import ArrayBlocks, Block, Blocks
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept, Mixed
from likely.errors import InvalidInput, UnsupportedAccess
from likely.likelihoods.bernoulli import Bernoulli
from likely.likelihoods.gaussian import Gaussian
from likely.links import Identity, Logit
from likely.objectives.columns import (
    LeastSquaresColumns,
    bernoulli_conjugate,
    columns_of,
    gaussian_conjugate,
)
from likely.objectives.rows import Rows

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 5)) * (rng.random((20, 5)) < 0.5)
LAYOUTS = {"dense": Dense(X), "csr": Csr(sparse.csr_array(X))}
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


class Streamed(Blocks):
    n_features, n_rows, nbytes = 5, None, None

    def __iter__(self):
        yield Block(Dense(X), np.zeros(20))


@every_layout
def test_a_store_equals_the_matrix_it_stands_for(layout):
    store, d, beta = columns_of(ArrayBlocks(LAYOUTS[layout])), rng.random(20), rng.normal(size=5)
    some, moves = np.array([3, 0]), np.array([2.0, -1.0])
    assert store.n_columns == 5
    assert_allclose(store.times(beta), X @ beta)
    assert_allclose(store.transposed_times(X[:, :2]), X.T @ X[:, :2])
    assert_allclose(store.change(some, moves), 2 * X[:, 3] - X[:, 0])
    assert_allclose(store.rows_of(some), X[:, some].T)
    assert_allclose(store.on(some) @ moves, X[:, some] @ moves)
    assert_allclose(store.curvatures(some, d), d @ X[:, some] ** 2)


MIXED = Mixed(np.zeros((4, 1)), np.zeros((4, 1), dtype=np.int32), (2,))
REFUSED = {
    "Streamed": Streamed(),
    "Mixed": ArrayBlocks(MIXED, np.zeros(4)),
    "Intercept": ArrayBlocks(Intercept(Dense(X)), np.zeros(20)),
}
every_refusal = pytest.mark.parametrize("name", REFUSED)


@every_refusal
def test_what_has_no_columns_is_refused_with_a_solver_to_use(name):
    with pytest.raises(UnsupportedAccess, match=rf"columns, which {name} .*'proximal-newton'"):
        columns_of(REFUSED[name])


@every_refusal
def test_what_has_no_rows_at_random_is_refused_with_a_solver_to_use(name):
    with pytest.raises(UnsupportedAccess, match=rf"rows in random order, which {name} .*'lbfgs'"):
        Rows.of(REFUSED[name], ridge=1.0)


@pytest.mark.parametrize("ridge", [0.0, -1.0, np.inf, np.nan])
def test_a_dual_without_a_ridge_is_refused(ridge):
    with pytest.raises(InvalidInput, match="above 0"):
        Rows.of(ArrayBlocks(LAYOUTS["csr"], np.zeros(20)), ridge=ridge)


CASES = {
    "gaussian": (gaussian_conjugate, Gaussian().with_link(Identity()), 1.3, 0.4),
    "bernoulli": (bernoulli_conjugate, Bernoulli().with_link(Logit()), 0.25, 0.4),
}


@pytest.mark.parametrize("name", CASES)
def test_a_conjugate_is_the_largest_distance_of_a_line_from_the_loss(name):
    """f*(r) = max_η rη − w nll(y, η), here by a fine grid."""
    conjugate, likelihood, y, r = CASES[name]
    eta = np.linspace(-20, 20, 400_001)
    by_grid = (r * eta - 2.0 * likelihood.nll(np.full_like(eta, y), eta)).max()
    found = conjugate(np.array([y, 0.0]), np.array([2.0, 0.0]), np.array([r, 0.0]))
    assert_allclose(found, by_grid, rtol=1e-8)


def test_least_squares_columns_take_the_offset_from_y_and_weigh_the_pulls():
    y, w, o = rng.normal(size=20), rng.random(20), rng.normal(size=20)
    objective = LeastSquaresColumns.of(ArrayBlocks(LAYOUTS["dense"], y, w, o))
    assert_allclose(objective.y, y - o)
    assert_allclose(objective.pulls(objective.y[:, None])[:, 0], X.T @ (w * (y - o)))
