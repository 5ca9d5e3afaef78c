"""``penalty=``: objects in place of l1 and l2, in every linear model."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_softmax
from sklearn.base import clone

import likely
from likely.errors import InvalidInput, UnknownName
from likely.penalties import L1, L2, ElasticNet, Group, NoPenalty

GROUPS = [[0, 1], [2, 3, 4], [5]]
MODELS = {
    "linear": likely.LinearRegression,
    "logistic": likely.LogisticRegression,
    "poisson": lambda **options: likely.GLM("poisson", **options),
    "softmax": likely.SoftmaxRegression,
    "maxent": likely.MaxEntropy,
    "ordinal": likely.OrdinalRegression,
}
every_model = pytest.mark.parametrize("name", MODELS)


def rows(name, n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 1] += 0.7 * X[:, 0]
    X[:, 3] *= 2.0
    eta = X[:, 0] - 0.5 * X[:, 1] + 0.4 * X[:, 5]
    if name == "linear":
        return X, 3 + eta + rng.normal(size=n)
    if name == "poisson":
        return X, rng.poisson(np.exp(0.4 * eta)).astype(float)
    noisy = eta + rng.logistic(size=n)
    return X, (noisy > 0).astype(int) if name == "logistic" else np.digitize(noisy, [-1, 1])


def nll_and_gradient(name, X, y, w, b):
    """By hand: of one predictor (d,) and its intercept, or of classes (K, d) and (K,)."""
    if name in ("softmax", "maxent"):
        log_p = log_softmax(X @ w.T + b, axis=1)
        slope = np.exp(log_p) - np.eye(len(b))[y]
        return -log_p[np.arange(len(y)), y].sum(), slope.T @ X, slope.sum(axis=0)
    if name == "ordinal":
        above = np.column_stack([np.ones(len(y)), *(expit(X @ w + c) for c in b), np.zeros(len(y))])
        p = above[np.arange(len(y)), y] - above[np.arange(len(y)), y + 1]
        change = above * (1 - above)
        top, low = change[np.arange(len(y)), y], change[np.arange(len(y)), y + 1]
        slope = -(top - low) / p
        cuts = [
            np.sum(low[y == j] / p[y == j]) - np.sum(top[y == j + 1] / p[y == j + 1])
            for j in range(len(b))
        ]
        return -np.log(p).sum(), X.T @ slope, np.array(cuts)
    eta = X @ w + b
    value, mean = {
        "linear": (((y - eta) ** 2).sum() / 2, eta),
        "logistic": (np.logaddexp(0, eta).sum() - y @ eta, expit(eta)),
        "poisson": (np.exp(eta).sum() - y @ eta, np.exp(eta)),
    }[name]
    return value, X.T @ (mean - y), np.sum(mean - y)


def weights(name, model):
    if name == "maxent":
        by_class = model.coef_.reshape(len(model.classes_), -1)
        return by_class[:, :-1], by_class[:, -1]
    if name == "ordinal":
        return model.coef_, model.thresholds_
    if name == "logistic":
        return model.coef_[0], model.intercept_[0]
    return model.coef_, model.intercept_


def slowly(name, X, y, start, gamma, l1=0.0, steps=20_000):
    """Plain proximal gradient with a step that halves: an answer of its own."""
    w, b = (np.array(each, dtype=float) for each in start)
    t, (value, gw, gb) = 1e-3, nll_and_gradient(name, X, y, w, b)
    for _ in range(steps):
        while True:
            u = w - t * gw
            u = np.sign(u) * np.maximum(np.abs(u) - t * l1, 0)
            for group, strength in zip(GROUPS, gamma, strict=True):
                length = np.linalg.norm(u[..., group])
                u[..., group] *= max(1 - t * strength / length, 0) if length > 0 else 0
            c = b - t * gb
            move = np.sum((u - w) ** 2) + np.sum((c - b) ** 2)
            after = nll_and_gradient(name, X, y, u, c)
            bound = value + np.sum(gw * (u - w)) + np.sum(gb * (c - b)) + move / 2 / t
            if after[0] <= bound + 1e-13 * abs(value):
                break
            t /= 2
        w, b, (value, gw, gb) = u, c, after
        if move < 1e-26:
            break
    return w, b


@pytest.mark.diagonal(3)
@every_model
@pytest.mark.parametrize("l1", [0.0, 1.5])
def test_groups_are_where_plain_proximal_gradients_end(name, l1):
    X, y = rows(name)
    gamma = [8.0, 40.0, 4.0]
    penalty = Group(GROUPS, gamma) + L1(l1) if l1 else Group(GROUPS, gamma)
    model = MODELS[name](penalty=penalty, tol=1e-13).fit(X, y)
    w, b = weights(name, model)
    assert model.solution_.converged
    expected = slowly(name, X, y, (0 * w, _start_of(name, y, b)), gamma, l1)
    if name in ("softmax", "maxent"):  # intercepts are free of a shift
        b, expected = b - b.mean(), (expected[0], expected[1] - expected[1].mean())
    if not (l1 and name in ("softmax", "maxent")):
        assert_allclose(w, expected[0], atol=1e-8)
        assert_allclose(b, expected[1], atol=1e-8)
    values = [
        nll_and_gradient(name, X, y, *each)[0]
        + l1 * np.abs(each[0]).sum()
        + sum(s * np.linalg.norm(each[0][..., g]) for g, s in zip(GROUPS, gamma, strict=True))
        for each in ((w, b), expected)
    ]
    assert_allclose(values[0], values[1], rtol=1e-12)
    assert (w[..., [2, 3, 4]] == 0).all()  # no signal there: the group left as one
    assert (w[..., [0, 1]] != 0).any()


def _start_of(name, y, b):
    return np.array([1.0, -1.0]) if name == "ordinal" else np.zeros(np.shape(b))


@every_model
@pytest.mark.parametrize(
    ("penalty", "same"),
    [
        (L2(3.0), {"l2": 3.0, "l1": 0.0}),
        (L1(3.0), {"l2": 0.0, "l1": 3.0}),
        (ElasticNet(1.0, 2.0), {"l2": 2.0, "l1": 1.0}),
        (L1(1.0) + L2(2.0), {"l2": 2.0, "l1": 1.0}),
        (L2.of_prior(0.25), {"l2": 4.0}),
        (L1.of_prior(0.5), {"l1": 2.0, "l2": 0.0}),
    ],
)
def test_an_object_is_what_the_numbers_are(name, penalty, same):
    X, y = rows(name)
    ours = weights(name, MODELS[name](penalty=penalty).fit(X, y))
    theirs = weights(name, MODELS[name](**same).fit(X, y))
    assert_allclose(ours[0], theirs[0], rtol=1e-12)
    assert_allclose(ours[1], theirs[1], rtol=1e-12)


@pytest.mark.parametrize("name", ["linear", "poisson", "logistic"])
def test_no_penalty_is_the_maximum_of_the_likelihood(name):
    X, y = rows(name)
    none = MODELS[name](penalty=NoPenalty()).fit(X, y)
    assert_allclose(none.coef_, MODELS[name](l2=0.0).fit(X, y).coef_, rtol=1e-12)
    assert not none.inference_.penalised


@every_model
def test_both_are_refused(name):
    X, y = rows(name)
    for options in ({"l1": 1.0}, {"l2": 7.0}, {"l2": {"x0": 1.0}}):
        with pytest.raises(InvalidInput, match=r"penalty=L2.* and l[12]=.* were given; one of"):
            MODELS[name](penalty=L2(1.0), **options).fit(X, y)
    with pytest.raises(
        InvalidInput, match=r"penalty='l2' was given; a penalty of likely.penalties"
    ):
        MODELS[name](penalty="l2").fit(X, y)
    with pytest.raises(InvalidInput, match=r"Use penalty=L1\(1.0\), or l1=1.0"):
        MODELS[name](penalty="l1").fit(X, y)


@every_model
def test_it_is_kept_by_clone_and_by_a_file(name, tmp_path):
    X, y = rows(name)
    model = MODELS[name](penalty=Group(GROUPS, 8.0) + L2(1.0)).fit(X, y)
    assert model.get_params()["penalty"] is model.penalty
    again = clone(model).fit(X, y)
    assert_array_equal(weights(name, again)[0], weights(name, model)[0])
    likely.save(model, tmp_path / "m.likely")
    loaded = likely.load(tmp_path / "m.likely")
    assert loaded.penalty.value(np.ones(6)) == model.penalty.value(np.ones(6))
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_array_equal(weights(name, loaded.fit(X, y))[0], weights(name, model)[0])


@every_model
def test_the_summary_and_the_description_name_it(name):
    X, y = rows(name)
    model = MODELS[name](penalty=Group(GROUPS, 8.0) + L2(1.5)).fit(X, y)
    said = "l2=1.5 + group=8"
    assert said in str(model.summary())
    bare = MODELS[name](penalty=Group(GROUPS, 8.0) + L2(1.5), standard_errors=None).fit(X, y)
    assert said in str(bare.describe())
    assert "group=" not in str(MODELS[name](l2=0.5).fit(X, y).summary())


def frame(n=200):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "city": rng.choice(["a", "b", "c", "d"], n),
            "width": rng.normal(size=n),
            "noise": rng.choice(["u", "v", "w"], n),
        }
    )
    y = 2.0 + table["size"] + 1.5 * (table["city"] == "c") + rng.normal(size=n)
    return table, y


def test_the_categories_of_a_column_enter_or_leave_as_one():
    model = likely.LinearRegression(penalty=Group(strength=30.0)).fit(*frame())
    found = dict(zip(model.terms_, model.coef_, strict=True))
    assert all(found[f"city[{c}]"] != 0 for c in "abcd")
    assert all(found[f"noise[{c}]"] == 0 for c in "uvw")
    assert abs(sum(found[f"city[{c}]"] for c in "abcd")) < 1e-8  # a shift is the intercept's
    named = [["size"], ["city"], ["width"], ["noise"]]
    same = likely.LinearRegression(penalty=Group(named, 30.0)).fit(*frame())
    assert_allclose(same.coef_, model.coef_, rtol=1e-10, atol=1e-10)


def test_only_named_columns_are_penalised_and_others_keep_a_reference():
    model = likely.LinearRegression(penalty=Group([["size", "noise"]], 1e6)).fit(*frame())
    found = dict(zip(model.terms_, model.coef_, strict=True))
    assert [term for term in found if term.startswith("city")] == ["city[b]", "city[c]", "city[d]"]
    assert all(found[t] == 0 for t in ("size", "noise[u]", "noise[v]", "noise[w]"))
    assert found["width"] != 0
    table, y = frame()
    free = likely.LinearRegression().fit(table[["city", "width"]], y)
    assert_allclose([found[t] for t in free.terms_], free.coef_, atol=1e-8)
    with pytest.raises(UnknownName, match="column for a group 'town'"):
        likely.LinearRegression(penalty=Group([["town"]])).fit(*frame())


@pytest.mark.parametrize("strong", [False, True])
def test_the_intercept_is_penalised_only_if_asked(strong):
    X, y = rows("linear")
    model = likely.LinearRegression(penalty=Group(GROUPS, 1e6), penalise_intercept=strong)
    model.fit(X, y)
    assert_array_equal(model.coef_, 0.0)
    assert_allclose(model.intercept_, 0.0 if strong else y.mean(), rtol=1e-9, atol=1e-9)


def test_a_group_enters_at_the_norm_of_its_pull():
    X, y = rows("linear")
    centred = X - X.mean(axis=0)
    largest = max(np.linalg.norm(centred[:, g].T @ (y - y.mean())) for g in GROUPS)
    for factor, none in ((1 + 1e-9, True), (1 - 1e-4, False)):
        model = likely.LinearRegression(penalty=Group(GROUPS, factor * largest)).fit(X, y)
        assert model.solution_.converged
        assert (model.coef_ == 0).all() == none


@pytest.mark.diagonal(3)
@pytest.mark.parametrize("seed", range(20))
def test_a_certificate_is_true_whatever_the_columns(seed):
    """Nearly equal, equal, badly scaled or far from 0: by the conditions of the optimum."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 60)), int(rng.integers(4, 20))
    X = rng.normal(size=(n, d))
    if seed % 3 == 0:
        X[:, 1:] = X[:, :1] + 0.01 * X[:, 1:]
    if seed % 4 == 0:
        X *= 10.0 ** rng.integers(-3, 4, size=d)
    if seed % 5 == 0:
        X[:, d // 2 :] = X[:, : d - d // 2]
    y = 3 * X[:, 0] / np.abs(X[:, 0]).max() + rng.normal(size=n)
    groups = np.array_split(rng.permutation(d), 3)
    pulls = [np.linalg.norm((X - X.mean(0))[:, g].T @ (y - y.mean())) for g in groups]
    gamma = max(pulls) * 10 ** rng.uniform(-4, 0)
    penalty = Group([g.tolist() for g in groups], gamma)
    model = likely.LinearRegression(penalty=penalty).fit(X, y)
    assert model.solution_.converged
    gradient = -X.T @ (y - model.predict(X))
    for g in groups:
        w, length = model.coef_[g], np.linalg.norm(model.coef_[g])
        left = gradient[g] + gamma * w / length if length else gradient[g]
        held = 0.0 if length else gamma
        assert np.linalg.norm(left) <= held + 1e-8 * (max(pulls) + np.abs(X).max())
    slow = likely.LinearRegression(penalty=penalty, solver="fista", max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slow.fit(X, y)
    if slow.solution_.converged:
        values = [
            np.sum((y - m.predict(X)) ** 2) / 2 + penalty.value(m.coef_) for m in (slow, model)
        ]
        assert values[0] - values[1] <= 1e-7 * np.sum((y - y.mean()) ** 2)


def test_errors_have_the_bend_of_the_groups_in_them():
    """tr BH of the group lasso, and no errors where a group left."""
    X, y = rows("linear")
    model = likely.LinearRegression(penalty=Group(GROUPS, 20.0)).fit(X, y)
    kept = np.flatnonzero(model.coef_)
    X0 = X - X.mean(axis=0)
    H = X0[:, kept].T @ X0[:, kept]
    P = np.zeros((len(kept), len(kept)))
    for group in GROUPS:
        at = np.flatnonzero(np.isin(kept, group))
        if at.size:
            w = model.coef_[kept[at]]
            unit = w / np.linalg.norm(w)
            bend = np.eye(len(at)) - np.outer(unit, unit)
            P[np.ix_(at, at)] = 20.0 / np.linalg.norm(w) * bend
    B = np.linalg.inv(H + P)
    df = 1 + np.trace(B @ H)
    inference = model.inference_
    assert_allclose(inference.n_parameters, df, rtol=1e-8)
    psi = np.sum((y - model.predict(X)) ** 2) / (len(y) - df)
    assert_allclose(inference.standard_errors[kept], np.sqrt(psi * np.diag(B @ H @ B)), rtol=1e-7)
    assert np.isnan(inference.standard_errors[2:5]).all()
    bare = likely.LinearRegression(penalty=Group(GROUPS, 20.0), standard_errors=None).fit(X, y)
    assert_allclose(bare.dispersion_, psi, rtol=1e-7)


@pytest.mark.parametrize("solver", ["newton", "coordinate-descent", "normal-equations"])
def test_a_solver_that_cannot_is_refused(solver):
    with pytest.raises(InvalidInput, match="groups"):
        likely.LinearRegression(penalty=Group(GROUPS), solver=solver).fit(*rows("linear"))


def test_a_path_and_firth_refuse_it():
    X, y = rows("logistic")
    model = likely.LogisticRegression(penalty=Group(GROUPS))
    with pytest.raises(InvalidInput, match="a path varies l1 and l2"):
        likely.PenaltyPath(model).fit(X, y)
    with pytest.raises(InvalidInput, match="Firth's penalty stands alone"):
        model.set_params(firth=True).fit(X, y)


def test_two_classes_agree_between_softmax_and_logistic():
    """A group of two opposite weights has √½ of its strength on their difference."""
    X, y = rows("logistic")
    one = likely.LogisticRegression(penalty=Group(GROUPS, 5.0), tol=1e-12).fit(X, y)
    two = likely.SoftmaxRegression(penalty=Group(GROUPS, np.sqrt(2) * 5.0), tol=1e-12).fit(X, y)
    assert_allclose(two.coef_, one.coef_, atol=1e-8)
    assert_allclose(
        two.inference_.standard_errors, one.inference_.standard_errors, rtol=1e-6, equal_nan=True
    )
    against = likely.SoftmaxRegression(penalty=Group(GROUPS, 5.0), reference=0, tol=1e-12)
    assert_allclose(against.fit(X, y).coef_, one.coef_, atol=1e-8)


def test_a_penalty_beside_strengths_of_0_is_that_penalty():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    one = likely.LogisticRegression(penalty=L2(2.0)).fit(X, y)
    same = likely.LogisticRegression(penalty=L2(2.0), l1=0.0, l2=0.0).fit(X, y)
    assert_allclose(same.coef_, one.coef_, rtol=0)
    with pytest.raises(InvalidInput, match=r"l2=3.0 were given; one of the two"):
        likely.LogisticRegression(penalty=L2(2.0), l2=3.0).fit(X, y)
