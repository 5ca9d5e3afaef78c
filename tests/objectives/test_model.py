"""What a model minimises, by its public name: gradients, batches, packing, and steps by hand."""

from decimal import Decimal, localcontext
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, special

import likely as lk
from likely.differences import check_gradient, check_hessian
from likely.errors import InvalidInput, UnknownName
from likely.penalties import L2
from likely.solvers import FISTA, LBFGS, Newton, ProximalNewton, gradient_step, minimise

N, D, K = 40, 3, 3


def table(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(loc=[0.0, 2.0, -1.0], size=(n, D))
    return X, X @ [0.8, -0.5, 0.3] + 0.4 * rng.normal(size=n), rng


def halves(seed=0, n=N):
    X, score, _ = table(seed, n)
    return X, (score > np.median(score)).astype(int)


def thirds(seed=0, n=N):
    X, score, _ = table(seed, n)
    return X, np.digitize(score, np.quantile(score, [1 / 3, 2 / 3]))


def counts(seed=0):
    X, score, rng = table(seed)
    return X, rng.poisson(np.exp(0.4 * score))


def shares(seed=0):
    X, score, rng = table(seed)
    return X, 1 / (1 + np.exp(-score + rng.normal(size=N)))


def positives(seed=0):
    X, score, rng = table(seed)
    return X, rng.gamma(2.0, np.exp(0.3 * score))


def numbers(seed=0):
    X, score, _ = table(seed)
    return X, score


def class_features(seed=0):
    X, y = thirds(seed)
    features = np.einsum("yc,nd->nycd", np.eye(K), np.column_stack([X, np.ones(N)]))
    return features.reshape(N, K, -1), y


MODELS = {
    "linear": (lk.LinearRegression(l2=0.3), numbers),
    "logit": (lk.LogisticRegression(l2=0.7), halves),
    "probit": (lk.LogisticRegression("probit", l2=0.7), halves),
    "without-intercept": (lk.LogisticRegression(l2=0.7, fit_intercept=False), halves),
    "penalised-intercept": (lk.LogisticRegression(l2=0.7, penalise_intercept=True), halves),
    "soft-targets": (lk.GLM("bernoulli", l2=0.5), shares),
    "poisson": (lk.GLM("poisson", l2=[0.1, 0.0, 2.0]), counts),
    "gamma": (lk.GLM("gamma", "log"), positives),
    "softmax": (lk.SoftmaxRegression(l2=0.5), thirds),
    "softmax-of-two": (lk.SoftmaxRegression(l2=0.5), halves),
    "softmax-with-reference": (lk.SoftmaxRegression(l2=0.5, reference=1), thirds),
    "ordinal": (lk.OrdinalRegression(l2=0.5), thirds),
    "ordinal-probit": (lk.OrdinalRegression("probit", l2=0.5), thirds),
    "indicators": (lk.MaxEntropy(l2=0.5), thirds),
    "features": (lk.MaxEntropy(l2=0.5), class_features),
    "lasso": (lk.LogisticRegression(l1=0.8, l2=0.1), halves),
    "lasso-of-classes": (lk.SoftmaxRegression(l1=0.8, l2=0.1), thirds),
}
CANONICAL = [name for name in MODELS if name not in ("probit", "gamma")]  # others have Fisher's
SMOOTH = [name for name in MODELS if not name.startswith("lasso")]
every_model = pytest.mark.parametrize("name", MODELS)


def problem(name, **kwargs):
    model, data = MODELS[name]
    X, y = data()
    return model, X, y, model.objective(X, y, **kwargs)


@every_model
def test_it_prints_on_one_line(name):
    model, _, _, objective = problem(name, reduction="mean")
    size, rows = len(objective.start), objective.n_rows
    about = f"{type(model).__name__}: {rows} rows, {size} parameters, mean"
    assert repr(objective) == f"<ModelObjective of {about}>"


def somewhere(objective, seed=1):
    """A θ without zeros, whose thresholds fall."""
    rng = np.random.default_rng(seed)
    return objective.start + 0.1 * rng.choice([-1, 1], objective.start.size) * rng.uniform(
        0.5, 1.5, objective.start.size
    )


@every_model
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_one_call_checks_a_gradient(name, reduction):
    """NUM-6, with penalties, weights and both reductions."""
    weight = np.random.default_rng(2).uniform(0.2, 3, N)
    *_, objective = problem(name, sample_weight=weight, reduction=reduction)
    theta = somewhere(objective)
    assert check_gradient(objective.value, objective.gradient, theta) < 1e-6
    wrong = partial(np.multiply, np.where(np.arange(theta.size) == 0, -1, 1))
    assert (
        check_gradient(objective.value, lambda t: wrong(objective.gradient(t)), theta) > 1e-2
    )  # a flipped sign


@pytest.mark.parametrize("name", [name for name in CANONICAL if name in SMOOTH])
def test_one_call_checks_a_hessian(name):
    *_, objective = problem(name)
    theta = somewhere(objective)
    assert check_hessian(objective.gradient, objective.hessian, theta) < 1e-6


@every_model
def test_gradients_of_examples_add_up_to_that_of_the_batch(name):
    """LR-9: of one example, of a mini-batch, of all; each with its share of the penalty."""
    *_, objective = problem(name)
    theta = somewhere(objective)
    whole = objective.gradient(theta)
    each = [objective.gradient(theta, rows=i) for i in range(N)]
    assert_allclose(np.sum(each, axis=0), whole, rtol=1e-10, atol=1e-12)
    thirds_of_rows = [slice(0, 13), np.arange(13, 27), np.arange(N) >= 27]
    parts = [objective.gradient(theta, rows) for rows in thirds_of_rows]
    assert_allclose(np.sum(parts, axis=0), whole, rtol=1e-10, atol=1e-12)
    assert_allclose(sum(each[13:27]), parts[1], rtol=1e-10, atol=1e-12)
    values = [objective.value(theta, rows) for rows in thirds_of_rows]
    assert_allclose(sum(values), objective.value(theta), rtol=1e-12)
    assert_allclose(objective.gradient(theta, rows=[5, 5]), 2 * each[5], rtol=1e-10, atol=1e-13)


@every_model
def test_the_mean_times_the_weight_is_the_sum(name):
    """LR-3: the mean × N is the sum, of the loss, the penalised value, and their derivatives."""
    *_, total = problem(name)
    *_, mean = problem(name, reduction="mean")
    theta = somewhere(total)
    assert_allclose(N * mean.value(theta), total.value(theta), rtol=1e-12)
    assert_allclose(N * mean.loss(theta), total.loss(theta), rtol=1e-12)
    assert_allclose(N * mean.gradient(theta), total.gradient(theta), rtol=1e-11, atol=1e-12)
    assert_allclose(N * mean.hessian(theta), total.hessian(theta), rtol=1e-11, atol=1e-12)
    rows = np.arange(7)
    assert_allclose(
        7 * mean.gradient(theta, rows), total.gradient(theta, rows), rtol=1e-12, atol=1e-12
    )


@every_model
def test_a_fit_ends_where_its_objective_is_least(name):
    """The gradient vanishes at the estimates, packed; no other point is lower."""
    model, X, y, objective = problem(name)
    fit = type(model)(**{**model.get_params(), "tol": 1e-14, "standard_errors": None}).fit(X, y)
    constants = fit.thresholds_ if name.startswith("ordinal") else vars(fit).get("intercept_", 0.0)
    theta = fit.coef_ if name == "indicators" else objective.pack(fit.coef_, constants)
    assert np.abs(objective.gradient(theta)).max() < 1e-5
    rng = np.random.default_rng(3)
    least = objective.value(theta)
    for _ in range(20):
        assert objective.value(theta + 0.05 * rng.normal(size=theta.size)) > least - 1e-9


@every_model
def test_packing_goes_there_and_back(name):
    """LR-12: [W b] as one vector, and as a model has it."""
    *_, objective = problem(name)
    theta = somewhere(objective)
    coef, intercept = objective.unpack(theta)
    assert_array_equal(objective.pack(coef, intercept), theta)


@every_model
def test_a_vector_is_written_into_a_model(name):
    """LR-12: the model predicts with it, and its loss is minus its log-likelihood."""
    model, X, y, objective = problem(name)
    theta = somewhere(objective)
    written = objective.fitted_model(theta)
    assert not vars(model).get("coef_")  # the model that was asked is as it was
    coef, intercept = objective.unpack(theta)
    if name == "softmax-of-two":
        assert_allclose(written.coef_, np.diff(coef, axis=0))
    elif name != "indicators":
        assert_array_equal(written.coef_, coef)
    if name in ("linear", "gamma", "soft-targets"):  # with a dispersion, or constants of y
        assert_allclose(written.linear_predictor(X), X @ coef + intercept, rtol=1e-12)
        assert np.isfinite(written.log_likelihood(X, y))
    elif name == "poisson":
        from scipy.special import gammaln

        constants = gammaln(y + 1).sum()
        assert_allclose(objective.loss(theta) + constants, -written.log_likelihood(X, y))
    else:
        assert_allclose(objective.loss(theta), -written.log_likelihood(X, y), rtol=1e-10)
    assert not written.solution_.converged
    with pytest.raises(InvalidInput, match="the parameters were given"):
        written.summary()
    again = objective.fitted_model(objective.start)
    assert np.abs(again.solution_.theta - written.solution_.theta).max() > 0.01


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("solver", [Newton(), LBFGS()], ids=["newton", "lbfgs"])
def test_any_solver_trains_it(name, solver):
    model, X, y, objective = problem(name)
    found = minimise(solver, objective, objective.start, tol=1e-13, max_iter=500)
    assert found.converged
    fit = type(model)(**{**model.get_params(), "tol": 1e-14}).fit(X, y)
    written = objective.fitted_model(found.theta)
    predict = "predict_proba" if "classes_" in vars(fit) else "predict"
    assert_allclose(getattr(written, predict)(X), getattr(fit, predict)(X), atol=2e-5)


@pytest.mark.parametrize("solver", [FISTA(), ProximalNewton()], ids=["fista", "proximal-newton"])
def test_a_penalty_with_corners_is_for_solvers_that_know_them(solver):
    _, X, y, objective = problem("lasso")
    found = minimise(solver, objective.composite, objective.start, tol=1e-13, max_iter=5000)
    fit = lk.LogisticRegression(l1=0.8, l2=0.1, tol=1e-14).fit(X, y)
    assert_allclose(objective.unpack(found.theta).coef, fit.coef_, atol=1e-5)
    assert np.abs(objective.gradient(found.theta)).max() < 1e-4
    for smooth in (Newton(), LBFGS()):
        with pytest.raises(InvalidInput, match=r"corners.*objective\.composite"):
            minimise(smooth, objective, objective.start)


def test_steps_by_hand_reach_the_optimum_of_fit():
    """LR-4, REG-13: w ← w − η ∇ with a given rate, from the public parts alone."""
    for name, rate in (("logit", 0.02), ("linear", 0.004)):
        model, X, y, objective = problem(name)
        theta = objective.start
        for _ in range(6000):
            theta = gradient_step(objective, theta, rate)
        fit = type(model)(**{**model.get_params(), "tol": 1e-14}).fit(X, y)
        assert_allclose(theta, objective.pack(fit.coef_, fit.intercept_), atol=1e-6)


def exact_product(exact, numbers):
    return sum(e * Decimal(v) for e, v in zip(exact, np.asarray(numbers).tolist(), strict=True))


def test_one_step_is_the_error_times_the_input():
    """LR-4: w_i ← w_i + η Σ (t − f) x_i, b ← b + η Σ (t − f), computed with 40 digits."""
    X, y = halves()
    objective, theta = (
        lk.LogisticRegression(l2=0.0).objective(X, y),
        np.array([0.3, -0.2, 0.1, 0.5]),
    )
    with localcontext(prec=40):
        rows = [[*map(Decimal, row), Decimal(1)] for row in X.tolist()]
        a = [exact_product(row, theta) for row in rows]
        error = [int(t) - 1 / (1 + (-each).exp()) for t, each in zip(y, a, strict=True)]
        step = [sum(e * row[j] for e, row in zip(error, rows, strict=True)) for j in range(4)]
        expected = [float(Decimal(t) + Decimal("0.05") * step[j]) for j, t in enumerate(theta)]
    assert_allclose(gradient_step(objective, theta, 0.05), expected, rtol=1e-13)


def test_small_steps_lower_the_loss_and_the_gradient_of_an_example_grows_with_its_error():
    """LR-4."""
    X, y = halves()
    objective = lk.LogisticRegression(l2=0.0).objective(X, y)
    for theta in np.random.default_rng(4).normal(size=(5, 4)):
        assert objective.value(gradient_step(objective, theta, 1e-3)) < objective.value(theta)
    one = lk.LogisticRegression(l2=0.0).objective([[2.0], [2.0]], [0, 1])
    errors = np.linspace(0.05, 0.95, 19)  # of class 1: f = 1 − error
    norms = [np.linalg.norm(one.gradient([0.0, np.log((1 - e) / e)], rows=1)) for e in errors]
    assert np.all(np.diff(norms) > 0)
    assert_allclose(norms, errors * np.sqrt(5), rtol=1e-12)  # |t − f| ‖[x 1]‖


def test_the_softmax_gradient_is_predicted_less_observed_times_the_input():
    """LR-9, LR-12: (Y − T)ᵀ[X 1], by a double loop over classes and examples, in 40 digits."""
    X, y = thirds()
    objective = lk.SoftmaxRegression(l2=0.0).objective(X, y)
    theta = np.random.default_rng(5).normal(size=K * (D + 1))
    W = theta.reshape(K, D + 1)
    expected = np.zeros((K, D + 1))
    with localcontext(prec=40):
        for x, label in zip(np.column_stack([X, np.ones(N)]), y, strict=True):
            each = [exact_product(map(Decimal, row), x).exp() for row in W.tolist()]
            for k in range(K):
                expected[k] += float(each[k] / sum(each) - int(label == k)) * x
    gradient = objective.gradient(theta)
    assert_allclose(gradient.reshape(K, D + 1), expected, rtol=1e-12, atol=1e-12)
    assert_allclose(gradient.reshape(K, D + 1).sum(axis=0), 0, rtol=1e-12, atol=1e-12)
    of_one = objective.gradient(theta, rows=7).reshape(K, D + 1)
    P = np.exp(W @ [*X[7], 1]) / np.exp(W @ [*X[7], 1]).sum()
    assert_allclose(of_one, np.outer(P - np.eye(K)[y[7]], [*X[7], 1]), rtol=1e-12, atol=1e-12)


def test_the_matrix_form_gives_the_probabilities_that_the_model_gives():
    """LR-12: p(y | x) = exp(yᵀΘx̃) over its sum over the K one-hot y, Θ = [W b]."""
    X, y = thirds()
    objective = lk.SoftmaxRegression().objective(X, y)
    theta = np.random.default_rng(6).normal(size=K * (D + 1))
    big_theta = theta.reshape(K, D + 1)
    rows, corners = np.column_stack([X, np.ones(N)]), np.eye(K)
    each = np.array([[np.exp(corner @ big_theta @ row) for corner in corners] for row in rows])
    by_hand = each / each.sum(axis=1, keepdims=True)
    assert_allclose(objective.fitted_model(theta).predict_proba(X), by_hand, rtol=1e-12)
    fit = lk.SoftmaxRegression().fit(X, y)
    packed = objective.pack(fit.coef_, fit.intercept_)
    assert_array_equal(packed.reshape(K, D + 1)[:, :-1], fit.coef_)
    assert_array_equal(packed.reshape(K, D + 1)[:, -1], fit.intercept_)
    assert_allclose(objective.fitted_model(packed).predict_proba(X), fit.predict_proba(X))


def test_soft_targets_are_two_weighted_rows():
    """LR-3: t nll(1) + (1 − t) nll(0), of two classes and of three."""
    X, t = shares()
    weight = np.random.default_rng(7).uniform(0.5, 2, N)
    soft = lk.GLM("bernoulli", l2=0.4).objective(X, t, weight)
    twice, y = np.vstack([X, X]), np.repeat([1, 0], N)
    both = np.concatenate([weight * t, weight * (1 - t)])
    hard = lk.LogisticRegression(l2=0.4).objective(twice, y, both)
    theta = np.array([0.3, -0.2, 0.1, 0.5])
    assert_allclose(soft.value(theta), hard.value(theta), rtol=1e-12)
    assert_allclose(soft.gradient(theta), hard.gradient(theta), rtol=1e-10)
    f = 1 / (1 + np.exp(-(X @ theta[:3] + theta[3])))
    by_hand = -weight @ (t * np.log(f) + (1 - t) * np.log1p(-f))
    assert_allclose(soft.loss(theta), by_hand, rtol=1e-12)
    assert_allclose(soft.value(theta) - soft.loss(theta), L2(0.4).value(theta[:3]), rtol=1e-9)

    T = np.random.default_rng(8).dirichlet(np.ones(K), N)
    soft = lk.SoftmaxRegression().objective(X, T, weight, reduction="mean")
    many, labels = np.vstack([X] * K), np.repeat(np.arange(K), N)
    hard = lk.SoftmaxRegression().objective(
        many, labels, np.concatenate([weight * T[:, k] for k in range(K)]), reduction="mean"
    )
    theta = np.random.default_rng(9).normal(size=K * (D + 1))
    assert_allclose(soft.value(theta), hard.value(theta), rtol=1e-12)
    assert_allclose(soft.gradient(theta), hard.gradient(theta), rtol=1e-9, atol=1e-14)


def test_the_summed_and_the_averaged_loss_are_scikit_learns():
    """LR-3."""
    from sklearn.metrics import log_loss

    X, y = halves()
    weight = np.random.default_rng(10).uniform(0.5, 2, N)
    theta = np.array([0.3, -0.2, 0.1, 0.5])
    for reduction, normalise in (("sum", False), ("mean", True)):
        objective = lk.LogisticRegression().objective(X, y, weight, reduction=reduction)
        p = objective.fitted_model(theta).predict_proba(X)
        expected = log_loss(y, p, sample_weight=weight, normalize=normalise)
        assert_allclose(objective.loss(theta), expected, rtol=1e-12)


def test_weights_count_rows_and_offsets_move_predictors():
    X, y = halves()
    repeats = np.random.default_rng(11).integers(0, 4, N)
    offset = np.random.default_rng(12).normal(size=N)
    model, theta = lk.LogisticRegression(l2=0.3), np.array([0.3, -0.2, 0.1, 0.5])
    weighted = model.objective(X, y, repeats, offset)
    expanded = model.objective(
        *(np.repeat(v, repeats, axis=0) for v in (X, y)), None, np.repeat(offset, repeats)
    )
    assert_allclose(weighted.value(theta), expanded.value(theta), rtol=1e-12)
    assert_allclose(weighted.gradient(theta), expanded.gradient(theta), rtol=1e-10)
    assert_allclose(weighted.hessian(theta), expanded.hessian(theta), rtol=1e-10)


def test_frames_and_sparse_rows_have_the_objective_of_their_numbers():
    pd = pytest.importorskip("pandas")
    X, y = halves()
    theta = np.array([0.3, -0.2, 0.1, 0.5])
    plain = lk.LogisticRegression().objective(X, y)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    for X_given, y_given in ((frame, "y"), (sparse.csr_array(X), y)):
        objective = lk.LogisticRegression().objective(X_given, y_given)
        assert_allclose(objective.gradient(theta), plain.gradient(theta), rtol=1e-10)
        assert_allclose(
            objective.gradient(theta, rows=[3, 9]), plain.gradient(theta, rows=[3, 9]), rtol=1e-10
        )
    categories = frame.assign(kind=np.where(y == 1, "u", "v"))[["a", "kind"]]
    objective = lk.LogisticRegression(l2=1.0).objective(categories, y)
    assert objective.start.size == 4  # a, two categories, an intercept
    one = objective.gradient(np.ones(4), rows=0)
    assert_array_equal(one[1:3] != 1 / N, [y[0] == 1, y[0] == 0])  # the other has its penalty alone


@every_model
def test_rows_of_weight_0_count_nothing_and_keep_the_numbers_of_the_others(name):
    weight = np.where(np.arange(N) % 3 == 0, 0.0, 1.5)
    *_, objective = problem(name, sample_weight=weight)
    *_, whole = problem(name)
    theta = somewhere(whole)
    assert_array_equal(objective.gradient(theta, rows=3), 0.0)
    assert objective.value(theta, rows=[0, 3]) == 0.0
    assert_allclose(objective.loss(theta, rows=4), 1.5 * whole.loss(theta, rows=4), rtol=1e-12)
    assert_allclose(objective.loss(theta, rows=[3, 4]), objective.loss(theta, rows=4), rtol=1e-12)


def test_batches_span_blocks():
    """Rows of data that are cut into several blocks."""
    X, score, _ = table(n=10_000)
    y = (score > 0).astype(int)
    objective = lk.LogisticRegression(l2=0.0).objective(X, y)
    theta = np.array([0.3, -0.2, 0.1, 0.5])
    rows = np.random.default_rng(13).choice(10_000, 300, replace=False)
    f = 1 / (1 + np.exp(-(X[rows] @ theta[:3] + theta[3])))
    by_hand = np.column_stack([X[rows], np.ones(300)]).T @ (f - y[rows])
    assert_allclose(objective.gradient(theta, rows), by_hand, rtol=1e-10)


def test_thresholds_that_cross_cost_infinity_and_make_no_model():
    *_, objective = problem("ordinal")
    theta = objective.start.copy()
    theta[-1] = theta[-2] + 1
    assert objective.value(theta) == np.inf == objective.loss(theta)
    with pytest.raises(InvalidInput, match="below the one before"):
        objective.fitted_model(theta)


def test_what_cannot_be_is_refused():
    X, y = halves()
    objective = lk.LogisticRegression().objective(X, y)
    with pytest.raises(InvalidInput, match=r"shape \(3,\); expected \(4,\)"):
        objective.value(np.zeros(3))
    for rows in (40, [1, 50], np.ones(7, dtype=bool), "some"):
        with pytest.raises(InvalidInput, match="from 0 to 39"):
            objective.gradient(objective.start, rows)
    with pytest.raises(InvalidInput, match="names no example"):
        objective.gradient(objective.start, rows=[])
    with pytest.raises(UnknownName, match="reduction"):
        lk.LogisticRegression().objective(X, y, reduction="average")
    with pytest.raises(InvalidInput, match=r"coef has shape \(2,\)"):
        objective.pack([1.0, 2.0], 0.0)
    with pytest.raises(InvalidInput, match="this model has none"):
        lk.LogisticRegression(fit_intercept=False).objective(X, y).pack(np.ones(3), 0.5)
    with pytest.raises(InvalidInput, match="no sum over rows"):
        lk.LogisticRegression(firth=True).objective(X, y)
    with pytest.raises(InvalidInput, match=r"NegativeBinomial\(model.fit\(X, y\).alpha_\)"):
        lk.GLM("negative_binomial").objective(X, y)
    with pytest.raises(InvalidInput, match="row 3"):
        holed = X.copy()
        holed[3, 1] = np.nan
        lk.LogisticRegression().objective(holed, y)
    with pytest.raises(InvalidInput, match="total weight of 0"):
        weight = np.append(np.zeros(1), np.ones(N - 1))
        mean = lk.LogisticRegression().objective(X, y, weight, reduction="mean")
        mean.gradient(mean.start, rows=0)


def test_weights_of_every_class_are_packed_against_the_reference():
    """LR-12: a row that is not 0 is subtracted from all; probabilities stay the same."""
    model, X, _, objective = problem("softmax-with-reference")
    rng = np.random.default_rng(0)
    coef, intercept = rng.normal(size=(3, X.shape[1])), rng.normal(size=3)
    written = objective.fitted_model(objective.pack(coef, intercept))
    expected = special.softmax(X @ coef.T + intercept, axis=1)
    assert_allclose(written.predict_proba(X), expected, rtol=1e-12)
    assert_array_equal(written.coef_[model.reference], 0.0)
