"""solver="sgd" of the linear models: in memory, from files, weighted, held out, saved, refused."""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

import likely as lk
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks, CountedBlocks
from likely.data.layouts.dense import Dense
from likely.errors import InvalidInput, Separation, UnsupportedAccess
from likely.likelihoods.responses import likelihood_of
from likely.objectives.batches import RowBatches
from likely.objectives.linear import LinearObjective
from likely.penalties import NoPenalty
from likely.solvers import (
    BalancedBatches,
    HeldOutPatience,
    Iterations,
    Momentum,
    SampledBatches,
    Seconds,
    ShuffledBatches,
    StochasticDescent,
)

N = 600


def table(n=N, seed=0):
    """Columns of very different means and spreads."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    return z * [1.0, 100.0, 0.01] + [0.0, 5000.0, 3.0], z @ [0.8, -0.5, 0.4] - 0.3, rng


def responses(name):
    X, eta, rng = table()
    if name == "linear":
        return X, eta + rng.normal(size=N)
    if name == "poisson":
        return X, rng.poisson(np.exp(eta / 2))
    if name == "logistic":
        return X, (rng.random(N) < expit(eta)).astype(int)
    return X, np.digitize(eta + rng.logistic(size=N), [-1.0, 1.0])


MODELS = {
    "linear": lambda **o: lk.LinearRegression(**o),
    "poisson": lambda **o: lk.GLM("poisson", **o),
    "logistic": lambda **o: lk.LogisticRegression(**o),
    "softmax": lambda **o: lk.SoftmaxRegression(**o),
}
every = pytest.mark.parametrize("name", MODELS)


def quiet(model, *data, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data, **named)


@every
@pytest.mark.parametrize("l2", [0.0, 5.0])
def test_it_comes_near_the_optimum_and_does_not_call_it_converged(name, l2):
    X, y = responses(name)
    exact = MODELS[name](l2=l2).fit(X, y)
    model = quiet(MODELS[name](l2=l2, solver="sgd"), X, y)
    found = model.solution_
    assert not found.converged
    assert found.solver == "stochastic gradient descent"
    assert np.isfinite(found.gap)
    best = exact.solution_.trace[-1] if exact.solution_.n_iter else None
    if best is not None:
        fall = found.trace[0] - best
        assert -1e-9 * fall <= found.trace[-1] - best < 0.005 * fall
    spread = np.append(X.std(axis=0), 1.0)[: X.shape[1]]
    assert_allclose(model.coef_ * spread, exact.coef_ * spread, atol=0.1)


@every
def test_a_gap_that_is_not_small_warns(name):
    X, y = responses(name)
    few = StochasticDescent(1e-3, epochs=1)
    with pytest.warns(ConvergenceWarning, match=r"with a gap of .*solver='auto' finds the exact"):
        model = MODELS[name](solver=few).fit(X, y)
    assert not model.solution_.converged
    assert model.solution_.gap > 1e-4


def test_a_certified_gap_within_a_loose_tol_is_convergence():
    X, y = responses("logistic")
    model = lk.LogisticRegression(solver="sgd", tol=1e-2, standard_errors=None).fit(X, y)
    exact = lk.LogisticRegression().fit(X, y)
    assert model.solution_.converged
    value = model.objective(X, y).value
    theta = np.append(model.coef_, model.intercept_)
    best = np.append(exact.coef_, exact.intercept_)
    assert value(theta) - value(best) <= 1e-2 * 2 * N  # of a null deviance of at most 2 n ln 2


@pytest.mark.parametrize("blocks", ["one", "many"])
def test_a_file_larger_than_memory_gives_the_batches_of_an_array(tmp_path, blocks):
    X, y = responses("logistic")
    frame = pa.table({**{f"x{j}": X[:, j] for j in range(3)}, "y": y})
    path = tmp_path / "rows.parquet"
    pq.write_table(frame, path, row_group_size=N if blocks == "one" else 70)
    solver = StochasticDescent(0.5, batch=ShuffledBatches(32, window=128), epochs=4, seed=3)
    array = quiet(lk.LogisticRegression(solver=solver), frame.to_pandas(), "y")
    file = quiet(lk.LogisticRegression(solver=solver), str(path), "y")
    assert_allclose(file.coef_, array.coef_, rtol=1e-9)
    assert file.solution_.n_iter == array.solution_.n_iter == 4


def test_batches_do_not_depend_on_blocks_and_are_the_same_in_a_stream():
    X, _, rng = table(100)
    y, weight = rng.integers(0, 2, 100).astype(float), rng.uniform(0.5, 2, 100)
    weight[rng.integers(0, 100, 20)] = 0.0
    whole = ArrayBlocks(Dense(X), y, weight, rows_per_block=100)

    def read(blocks, hidden):
        loss = likelihood_of("bernoulli")
        objective = LinearObjective(loss, NoPenalty(), blocks, Serial())
        batched = RowBatches(objective, blocks)
        if hidden:
            vars(batched)["_in_memory"] = None
        plan = ShuffledBatches(7, window=32)
        return [b.first_order(np.full(3, 1e-3)) for b in batched.batches(plan, 5, 2)]

    expected = read(whole, hidden=False)
    assert len(expected) == -(-np.count_nonzero(weight) // 7)
    for size in (1, 9, 64, 100):
        blocks = ArrayBlocks(Dense(X), y, weight, rows_per_block=size)
        for hidden in (False, True):
            counted = CountedBlocks(blocks, [])
            for ours, theirs in zip(read(counted, hidden), expected, strict=True):
                assert_array_equal(ours.gradient, theirs.gradient)


@pytest.mark.parametrize("layout", ["dense", "float32", "csr", "frame"])
def test_every_layout_is_trained_alike(layout):
    X, y = responses("logistic")
    town = np.array(["a", "b", "c"])[np.arange(N) % 3]
    solver = StochasticDescent(0.3, epochs=3)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    dense = np.column_stack([Z, *(town == each for each in "abc")]).astype(float)
    if layout == "frame":
        pd = pytest.importorskip("pandas")
        given = pd.DataFrame(Z).rename(columns=str).assign(town=town)
    else:
        given = {
            "dense": dense,
            "float32": dense.astype(np.float32),
            "csr": sparse.csr_array(dense),
        }[layout]
    model = quiet(lk.LogisticRegression(solver=solver), given, y)
    expected = quiet(lk.LogisticRegression(solver=StochasticDescent(0.3, epochs=3)), dense, y)
    eta = [m.decision_function(each) for m, each in ((model, given), (expected, dense))]
    assert np.corrcoef(eta)[0, 1] > 0.99


def test_rows_of_weight_0_are_no_rows():
    X, y = responses("logistic")
    weight = np.r_[np.zeros(100), np.ones(N - 100)]
    solver = StochasticDescent(0.5, batch=N, epochs=5)  # one batch: the order does not matter
    ours = quiet(lk.LogisticRegression(solver=solver), X, y, sample_weight=weight)
    theirs = quiet(lk.LogisticRegression(solver=solver), X[100:], y[100:])
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


def test_held_out_rows_choose_the_epoch():
    X, y = responses("logistic")
    noise = np.random.default_rng(1).normal(size=(N, 60))
    model = lk.LogisticRegression(
        l2=0.0,
        solver=StochasticDescent(0.3, batch=8, schedule="constant", epochs=60),
        stop=HeldOutPatience(3),
    ).fit(np.column_stack([X, noise]), y)
    found = model.solution_
    assert found.stopped
    assert not found.converged
    assert "is kept" in found.reason
    assert found.n_iter == int(np.argmin(found.held_out))
    assert found.n_iter < 60


@pytest.mark.parametrize("stop", [Iterations(2), Seconds(1e-6)])
def test_rules_end_it_between_epochs(stop):
    X, y = responses("logistic")
    model = lk.LogisticRegression(solver="sgd", stop=stop).fit(X, y)
    assert model.solution_.stopped
    assert model.solution_.n_iter <= 2


def test_max_iter_is_a_number_of_epochs():
    X, y = responses("poisson")
    model = quiet(lk.GLM("poisson", solver="sgd", max_iter=3), X, y)
    assert model.solution_.n_iter == 3


@pytest.mark.parametrize("penalty", [{"l1": 30.0}, {"l1": 20.0, "l2": 5.0}])
def test_an_l1_penalty_is_approached(penalty):
    X, y = responses("logistic")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    exact = lk.LogisticRegression(**{"l2": 0.0, **penalty}).fit(Z, y)
    model = quiet(lk.LogisticRegression(**{"l2": 0.0, **penalty}, solver="sgd"), Z, y)
    assert_allclose(model.coef_, exact.coef_, atol=0.05)


def test_many_columns_have_a_gap_of_unknown_size():
    rng = np.random.default_rng(0)
    X = sparse.random_array((80, 2500), density=0.01, rng=rng, format="csr")
    y = rng.integers(0, 2, 80)
    with pytest.warns(ConvergenceWarning, match="a gap of unknown size"):
        model = lk.LogisticRegression(solver=StochasticDescent(epochs=2)).fit(X, y)
    assert not model.solution_.converged
    assert model.solution_.gap == np.inf


def test_a_rate_that_diverges_keeps_finite_coefficients_and_warns():
    X, y = responses("linear")
    with pytest.warns(ConvergenceWarning, match="learning rate of .*, which is too high"):
        model = lk.LinearRegression(solver=StochasticDescent(1e3, epochs=500)).fit(X, y)
    assert "epoch 0 is kept" in model.solution_.reason  # the constant model
    assert_allclose(model.coef_, 0.0, rtol=1e-12, atol=1e-12)


def test_separated_classes_are_reported_by_sgd_too():
    X = np.linspace(-1, 1, 60)[:, None]
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(Separation, match="separated along"):
        lk.LogisticRegression(l2=0.0, solver="sgd").fit(X, y)


def test_the_same_seed_gives_the_same_fit_whatever_the_executor():
    X, y = responses("softmax")
    fits = [
        quiet(lk.SoftmaxRegression(solver=StochasticDescent(seed=s, epochs=3), executor=e), X, y)
        for s, e in ((0, "serial"), (0, "threads"), (1, "serial"))
    ]
    assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert (fits[0].coef_ != fits[2].coef_).any()


@pytest.mark.parametrize("batch", [SampledBatches(16, steps=20), BalancedBatches(16)])
def test_sampled_and_balanced_batches_need_rows_in_memory(batch, tmp_path):
    X, y = responses("logistic")
    frame = pa.table({**{f"x{j}": X[:, j] for j in range(3)}, "y": y})
    path = tmp_path / "rows.parquet"
    pq.write_table(frame, path)
    solver = StochasticDescent(0.1, batch=batch, epochs=2)
    assert quiet(lk.LogisticRegression(solver=solver), X, y).solution_.n_iter == 2
    with pytest.raises(UnsupportedAccess, match="the rows are a file"):
        quiet(lk.LogisticRegression(solver=solver), str(path), "y")


@pytest.mark.parametrize(
    "model", [lk.GLM("poisson", link="identity", solver="sgd"), lk.OrdinalRegression(solver="sgd")]
)
def test_models_whose_parameters_may_be_invalid_are_refused(model):
    X, y = responses("softmax")
    with pytest.raises(UnsupportedAccess, match="some parameters are no model"):
        model.fit(X, y + 1)


def test_what_is_no_solver_is_refused():
    X, y = responses("logistic")
    for model in (lk.LogisticRegression, lk.SoftmaxRegression, lk.LinearRegression):
        with pytest.raises(InvalidInput, match=r"a name was expected.*StochasticDescent"):
            model(solver=Momentum(0.9)).fit(X, y)


def test_a_penalty_that_is_scaled_otherwise_is_refused_by_a_model_and_not_misjudged():
    X, y = responses("logistic")
    solver = StochasticDescent(penalty_scaling="mean", epochs=2)
    with pytest.raises(InvalidInput, match=r"'sum' was expected.*in_batches"):
        lk.LogisticRegression(l2=1.0, solver=solver).fit(X, y)
    assert quiet(lk.LogisticRegression(l2=0.0, solver=solver), X, y).solution_.n_iter == 2


def test_a_model_with_its_solver_is_saved_and_loaded(tmp_path):
    X, y = responses("logistic")
    solver = StochasticDescent(0.1, batch=SampledBatches(16), update=Momentum(0.5), epochs=2)
    model = quiet(lk.LogisticRegression(solver=solver), X, y)
    lk.save(model, tmp_path / "m.likely")
    again = lk.load(tmp_path / "m.likely")
    assert again.solver == solver
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
