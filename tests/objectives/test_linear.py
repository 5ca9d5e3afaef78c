"""The penalised sum over examples: its derivatives over layouts, weights, offsets, penalties."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from likely.compute.executor import Serial, Threads
from likely.data.block import ArrayBlocks
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept, Mixed
from likely.differences import check_gradient, check_hessian
from likely.likelihoods import likelihood_of
from likely.objectives.linear import LinearObjective, block_second_order
from likely.penalties import L1, L2, ElasticNet, NoPenalty

N = 40
PAIRS = [
    ("gaussian", "identity"),
    ("bernoulli", "logit"),
    ("bernoulli", "probit"),
    ("bernoulli", "cloglog"),
    ("poisson", "log"),
    ("poisson", "sqrt"),
    ("gamma", "log"),
    ("inverse-gaussian", "log"),
    ("negative-binomial(1)", "log"),
    ("tweedie", "log"),
]
CANONICAL = [("gaussian", "identity"), ("bernoulli", "logit"), ("poisson", "log")]
LAYOUTS = ("dense", "sparse", "codes")
PENALTIES = {
    "none": NoPenalty(),
    "ridge": L2(0.7),
    "net": ElasticNet(np.array([1.0, 0, 2, 0, 0.5]), np.array([0.0, 1, 2, 3, 4])),
}
seeds = st.integers(0, 999)
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def design(layout, seed):
    """Two numbers and a category of two levels, 0 among them, and ones: five parameters."""
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(-1, 1, (N, 2)) * (rng.random((N, 2)) < 0.7)
    codes = rng.integers(-1, 2, (N, 1)).astype(np.int32)
    full = np.hstack([numbers, codes == [0, 1]])
    made = {
        "dense": Dense(full),
        "sparse": Csr(sparse.csr_array(full)),
        "codes": Mixed(numbers, codes, (2,)),
    }
    return Intercept(made[layout])


def objective(pair, layout="dense", penalty="none", seed=0, executor=None, rows=20):
    rng = np.random.default_rng(seed)
    likelihood, X = likelihood_of(*pair), design(layout, seed)
    offset = rng.uniform(0, 0.3, N)
    y = likelihood.sample(X.matmat(theta(seed)) + offset, rng)
    blocks = ArrayBlocks(X, y, rng.uniform(0, 2, N), offset, rows_per_block=rows)
    return LinearObjective(likelihood, PENALTIES[penalty], blocks, executor or Serial())


def theta(seed=0):
    """η stays about 1, which every link here allows; no entry is at a corner."""
    return np.append(np.random.default_rng(seed + 1).uniform(0.05, 0.2, 4), 1.0)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@every_layout
@given(seed=seeds, penalty=st.sampled_from(sorted(PENALTIES)))
@settings(max_examples=10)
def test_the_gradient_is_the_derivative_of_the_value(pair, layout, seed, penalty):
    """GLM-1, LR-4, NUM-6."""
    f = objective(pair, layout, penalty, seed)
    error = check_gradient(f.value, lambda t: f.first_order(t).gradient, theta(seed))
    assert error < 1e-6


@pytest.mark.parametrize("pair", CANONICAL, ids="-".join)
@every_layout
@given(seed=seeds)
@settings(max_examples=10)
def test_the_hessian_is_the_derivative_of_the_gradient_for_canonical_links(pair, layout, seed):
    """OPT-14; other links have the expected Hessian."""
    f = objective(pair, layout, "net", seed)
    error = check_hessian(
        lambda t: f.first_order(t).gradient, lambda t: f.second_order(t).hessian, theta(seed)
    )
    assert error < 1e-5


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_all_doors_tell_the_same(pair, penalty):
    f, t = objective(pair, penalty=penalty), theta()
    first, second = f.first_order(t), f.second_order(t)
    assert_allclose(first.value, f.value(t), rtol=1e-12)
    assert_allclose(second.value, f.value(t), rtol=1e-12)
    assert_allclose(second.gradient, first.gradient, rtol=1e-12)
    direction = np.arange(1.0, 6)
    assert_allclose(f.hessian_times(t, direction), second.hessian @ direction, rtol=1e-10)
    columns = np.array([3, 0, 4])
    assert_allclose(f.hessian_on(t, columns), second.hessian[np.ix_(columns, columns)], rtol=1e-10)
    assert_allclose(second.hessian, second.hessian.T, rtol=1e-12)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_layouts_cuts_and_executors_agree(pair):
    expected = objective(pair, "dense", "ridge", rows=N).second_order(theta())
    for layout in LAYOUTS:
        for rows, executor in ((1, Serial()), (7, Threads(2))):
            f = objective(pair, layout, "ridge", rows=rows, executor=executor)
            found = f.second_order(theta())
            assert_allclose(found.value, expected.value, rtol=1e-12)
            assert_allclose(found.gradient, expected.gradient, rtol=1e-10, atol=1e-12)
            assert_allclose(found.hessian, expected.hessian, rtol=1e-10, atol=1e-12)


def test_the_corner_of_a_penalty_stays_out_of_the_smooth_value():
    plain, net = objective(("poisson", "log")), objective(("poisson", "log"), penalty="net")
    t = theta()
    smooth = 0.5 * np.sum(np.array([0.0, 1, 2, 3, 4]) * t**2)
    assert_allclose(net.value(t) - plain.value(t), smooth)
    assert_allclose(net.penalty(t), np.sum(np.array([1.0, 0, 2, 0, 0.5]) * np.abs(t)))
    assert_allclose(net.l1, [1, 0, 2, 0, 0.5])
    assert_allclose(net.prox(np.full(5, 0.3), 0.2), [0.1, 0.3, 0, 0.3, 0.2])
    assert_allclose(plain.l1, np.zeros(5))
    assert L1(1.0).value(t) > 0


def test_a_row_counts_as_its_error_grows():
    """LR-4: the gradient of one example is |t − f| ‖x‖."""
    X = Dense(np.array([[3.0, 4.0]]))
    sizes = []
    for eta in (-4.0, -1.0, 0.0, 2.0):
        f = LinearObjective(
            likelihood_of("bernoulli"), NoPenalty(), ArrayBlocks(X, np.ones(1)), Serial()
        )
        t = np.array([3.0, 4.0]) * eta / 25
        sizes.append(np.linalg.norm(f.first_order(t).gradient))
        assert_allclose(sizes[-1], 5 / (1 + np.exp(eta)))
    assert sizes == sorted(sizes, reverse=True)


def test_terms_travel():
    f = objective(("poisson", "log"))
    term = partial(block_second_order, f.likelihood, theta())
    sent = pickle.loads(pickle.dumps(term))
    block = next(iter(f.blocks))
    assert_allclose(sent(block).gradient, term(block).gradient)
