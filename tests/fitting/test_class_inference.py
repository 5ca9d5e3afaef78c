"""Standard errors of classes: equal to those of two classes, of contrasts, and of the curvature."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

import likely
from likely import LogisticRegression, MaxEntropy, OrdinalRegression, SoftmaxRegression
from likely.errors import InvalidInput, RedundantColumns, Separation, UnknownName
from likely.fitting.class_inference import _with_shift, shift_of_classes
from likely.fitting.inference import likelihood_ratio_test

KINDS = ("model", "HC0", "HC1", "HC2", "HC3", "clustered")
N = 240
TIGHT = {"tol": 1e-13}


def rows(seed=0, n_classes=3):
    """X far from 0, labels, whole weights and clusters."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2)) * [1.0, 3.0] + [5.0, -20.0]
    eta = (X - X.mean(axis=0)) @ rng.normal(size=(2, n_classes)) / 2 + rng.gumbel(
        size=(N, n_classes)
    )
    labels = np.array(list("abcdef"))[eta.argmax(axis=1)]
    return X, labels, rng.integers(1, 4, N).astype(float), rng.integers(0, 20, N)


def fitted(model, kind, X, y, weight=None, groups=None, **more):
    model = model.set_params(standard_errors=kind, **TIGHT)
    return model.fit(X, y, weight, groups=groups if kind == "clustered" else None, **more)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("l2", [0.0, 2.0])
def test_two_classes_have_the_errors_of_logistic_regression(kind, l2):
    X, y, weight, groups = rows(n_classes=2)
    logistic = LogisticRegression(l2=l2, standard_errors=kind, warm_start=True, **TIGHT)
    for _ in range(2):  # the second begins at the optimum, so that its curvature is that there
        logistic.fit(X, y, weight, groups=groups if kind == "clustered" else None)
    expected = logistic.inference_
    for model in (
        SoftmaxRegression(l2=2 * l2),
        SoftmaxRegression(l2=l2, reference="a"),
        SoftmaxRegression(l2=l2, reference="b"),
        MaxEntropy(l2=2 * l2),
        OrdinalRegression(l2=l2),
    ):
        found = fitted(model, kind, X, y, weight, groups).inference_
        assert_allclose(found.theta, expected.theta, rtol=1e-8)
        assert_allclose(found.standard_errors, expected.standard_errors, rtol=1e-8)
        assert_allclose(found.covariance, expected.covariance, rtol=1e-8, atol=1e-12)
        assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)
        assert found.null_log_likelihood == pytest.approx(expected.null_log_likelihood, rel=1e-12)
        assert found.n_parameters == pytest.approx(expected.n_parameters, rel=1e-8)
        assert found.covariance_kind == kind


@pytest.mark.parametrize("kind", KINDS)
def test_centred_weights_have_the_errors_of_every_contrast(kind):
    """Contrasts of weights that total 0 are those against a reference class, whichever it is."""
    X, y, weight, groups = rows()
    centred = fitted(SoftmaxRegression(l2=0.0), kind, X, y, weight, groups)
    assert_allclose(centred.inference_.theta, np.c_[centred.coef_, centred.intercept_].ravel())
    for k, label in enumerate("abc"):
        against = fitted(SoftmaxRegression(l2=0.0, reference=label), kind, X, y, weight, groups)
        contrast = np.delete(np.eye(3) - np.eye(3)[k], k, axis=0)
        T = np.kron(contrast, np.eye(3))
        expected = against.inference_.covariance
        assert_allclose(T @ centred.inference_.covariance @ T.T, expected, rtol=1e-7)
        assert against.inference_.n_parameters == centred.inference_.n_parameters == 6
        theta = np.delete(np.c_[against.coef_, against.intercept_], k, axis=0).ravel()
        assert_allclose(against.inference_.theta, theta, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_maximum_entropy_model_of_indicators_is_softmax_against_the_last_class(kind):
    X, y, weight, groups = rows()
    softmax = fitted(SoftmaxRegression(l2=0.0, reference="c"), kind, X, y, weight, groups)
    Z = np.c_[X, np.ones(N)]
    F = np.zeros((N, 3, 6))
    for k in range(2):
        F[:, k, 3 * k : 3 * k + 3] = Z
    own = fitted(MaxEntropy(l2=0.0), kind, F, y, weight, groups)
    assert_allclose(own.coef_, softmax.inference_.theta, rtol=1e-6)
    assert_allclose(own.inference_.covariance, softmax.inference_.covariance, rtol=1e-6)
    assert own.inference_.log_likelihood == pytest.approx(softmax.inference_.log_likelihood)


def test_a_class_of_indicators_that_says_nothing_new_has_no_errors():
    """All classes have indicators here; the last one's are held, as a reference class is."""
    X, y, weight, _ = rows()
    Z = np.c_[X, np.ones(N)]
    F = np.zeros((N, 3, 9))
    for k in range(3):
        F[:, k, 3 * k : 3 * k + 3] = Z
    with pytest.warns(RedundantColumns):
        own = fitted(MaxEntropy(l2=0.0), "model", F, y, weight)
    softmax = fitted(SoftmaxRegression(l2=0.0, reference="c"), "model", X, y, weight)
    errors = own.inference_.standard_errors
    assert np.isnan(errors[6:]).all() and own.inference_.redundant == (6, 7, 8)
    assert_allclose(errors[:6], softmax.inference_.standard_errors, rtol=1e-6)


def curvature(f, theta, step):
    """Second differences of f, whose rounding leaves three digits."""
    steps = step * np.eye(theta.size)
    across = [
        [f(theta + a + b) - f(theta + a - b) - f(theta - a + b) + f(theta - a - b) for a in steps]
        for b in steps
    ]
    return np.array(across) / (4 * step**2)


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "cauchit"])
def test_errors_of_ordered_classes_are_those_of_the_curvature(link):
    X, y, weight, _ = rows()
    model = fitted(OrdinalRegression(link, order=list("abc"), l2=0.0), "model", X, y, weight)
    codes = np.searchsorted(model.classes_, y)

    def nll(theta):
        log_p = model.likelihood_.log_probability(X @ theta[:2], theta[2:])
        return -float(weight @ log_p[np.arange(N), codes])

    H = curvature(nll, model.inference_.theta, step=1e-4)
    assert_allclose(model.inference_.covariance, np.linalg.inv(H), rtol=1e-3)
    assert model.inference_.names[2:] == ("Y > a", "Y > b")


def test_a_penalty_shrinks_the_errors_as_it_does_in_other_models():
    """C = B H B, also where a tiny penalty alone decides between shifted weights."""
    X, y, weight, _ = rows()
    free = fitted(SoftmaxRegression(l2=0.0), "model", X, y, weight).inference_
    for l2 in (1e-12, 1e-8, 1e-4):
        tiny = fitted(SoftmaxRegression(l2=l2), "model", X, y, weight).inference_
        assert_allclose(tiny.covariance, free.covariance, rtol=1e-3)
    strong = fitted(SoftmaxRegression(l2=50.0), "model", X, y, weight)
    assert (strong.inference_.standard_errors[:2] < free.standard_errors[:2]).all()
    assert strong.inference_.n_parameters < 6
    assert "do not include the bias of shrinkage" in str(strong.summary())


def test_weights_that_a_penalty_sets_to_0_have_no_errors():
    X, y, _, _ = rows()
    model = SoftmaxRegression(l1=30.0, l2=0.0).fit(X, y)
    zero = np.c_[model.coef_ == 0, np.zeros((3, 1), dtype=bool)].ravel()
    assert zero.any()
    assert_allclose(np.isnan(model.inference_.standard_errors), zero)
    assert model.inference_.excluded == tuple(np.flatnonzero(zero))
    assert "set to 0 by the penalty" in str(model.summary())
    ordered = OrdinalRegression(l1=1e3, l2=0.0, order=list("abc")).fit(X, y)
    assert np.isnan(ordered.inference_.standard_errors[:2]).all()


@pytest.mark.parametrize(
    "model",
    [
        SoftmaxRegression(l2=0.0),
        SoftmaxRegression(l2=0.0, reference="b"),
        SoftmaxRegression(l2=0.0, solver="lbfgs"),
        OrdinalRegression(l2=0.0, order=list("abc")),
    ],
)
def test_columns_that_others_make_up_have_no_errors(model):
    X, y, _, _ = rows()
    twice = np.c_[X, X[:, 0] * 2]
    with pytest.warns(RedundantColumns, match="x2"):
        found = model.set_params(**TIGHT).fit(twice, y).inference_
    missing = [name for name in found.names if "x2" in name]
    absent = [name for name, se in zip(found.names, found.standard_errors, strict=True) if se != se]
    assert [name for name in absent if "intercept" not in name] == missing
    assert found.n_parameters == (4 if isinstance(model, OrdinalRegression) else 6)


@pytest.mark.parametrize("model", [SoftmaxRegression(l2=0.0), OrdinalRegression(l2=0.0)])
def test_separated_coefficients_have_no_errors(model):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    with pytest.warns(Separation, match="x0"):
        model.fit(X, y)
    found = model.inference_
    along = [j for j, name in enumerate(found.names) if "x0" in name]
    assert model.separated_ and np.isnan(found.standard_errors[along]).all()
    assert "the responses are separated" in str(model.summary())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "model", [SoftmaxRegression(l2=0.3), OrdinalRegression(l2=0.3, order=list("abc"))]
)
def test_layouts_weights_and_files_have_the_same_errors(kind, model, tmp_path):
    X, y, weight, groups = rows()
    X = (X - X.mean(axis=0)).round(1) * (np.arange(N) % 3 > 0)[:, None]
    expected = fitted(model, kind, X, y, weight, groups).inference_
    times = weight.astype(int)
    expanded = [np.repeat(values, times, axis=0) for values in (X, y, groups)]
    frame = pd.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "y": y, "w": weight})
    if kind == "clustered":
        frame["g"] = groups
    frame.to_csv(tmp_path / "rows.csv", index=False)
    by_name = {"groups": "g"} if kind == "clustered" else {}
    found = [
        fitted(model, kind, sparse.csr_array(X), y, weight, groups).inference_,
        fitted(model, kind, expanded[0], expanded[1], None, expanded[2]).inference_,
        model.fit(frame, "y", "w", **by_name).inference_,
        model.fit(str(tmp_path / "rows.csv"), "y", "w", **by_name).inference_,
    ]
    for each in found:
        assert_allclose(each.theta, expected.theta, rtol=1e-6)
        assert_allclose(each.covariance, expected.covariance, rtol=1e-6, atol=1e-12)
        assert each.df_tests == pytest.approx(expected.df_tests)


def test_categories_are_tested_together():
    X, y, _, _ = rows()
    frame = pd.DataFrame({"x": X[:, 0], "c": np.array(["p", "q", "r"])[np.arange(N) % 3]})
    model = SoftmaxRegression(l2=0.0, **TIGHT).fit(frame, y)
    named = model.inference_.names
    assert named[:4] == ("a: x", "a: c[q]", "a: c[r]", "a: intercept")
    assert model.wald_test("c").df == 4
    assert model.wald_test("x").df == 2
    against = SoftmaxRegression(l2=0.0, reference="a", **TIGHT).fit(frame, y)
    assert against.wald_test("c").statistic == pytest.approx(model.wald_test("c").statistic)
    assert against.wald_test("intercept").df == 2
    assert against.wald_test("b: x").df == 1
    with pytest.raises(InvalidInput, match="3 constraints were given, of which 2"):
        model.wald_test(["a: x", "b: x", "c: x"])
    with pytest.raises(UnknownName, match="zeta"):
        model.wald_test("zeta")
    assert OrdinalRegression(l2=0.0, order=list("abc")).fit(frame, y).wald_test("c").df == 2


@pytest.mark.parametrize(
    "model", [SoftmaxRegression(l2=0.0), OrdinalRegression(l2=0.0, order=list("abc"))]
)
def test_nested_models_are_compared_by_their_likelihoods(model):
    X, y, _, _ = rows()
    frame = pd.DataFrame(X, columns=["u", "v"])
    small = clone(model).set_params(**TIGHT).fit(frame[["u"]], y)
    large = clone(model).set_params(**TIGHT).fit(frame, y)
    test = likelihood_ratio_test(small, large)
    gain = large.log_likelihood(frame, y) - small.log_likelihood(frame[["u"]], y)
    assert test.statistic == pytest.approx(2 * gain, rel=1e-9)
    assert test.df == (2 if isinstance(model, SoftmaxRegression) else 1)


@pytest.mark.parametrize(
    "model", [SoftmaxRegression(), OrdinalRegression(order=list("abc")), MaxEntropy()]
)
def test_clustered_errors_have_as_many_degrees_of_freedom_as_clusters_but_one(model):
    X, y, _, groups = rows()
    model = fitted(model, "clustered", X, y, None, groups)
    assert model.inference_.distribution == "t" and model.inference_.df_tests == 19
    assert "P>|t|" in str(model.summary())


@pytest.mark.parametrize("model", [SoftmaxRegression, OrdinalRegression, MaxEntropy])
def test_wrong_kinds_and_groups_are_refused(model):
    X, y, _, groups = rows()
    y = np.searchsorted(list("abc"), y)
    with pytest.raises(UnknownName, match=r"'HC4'.*HC3"):
        model(standard_errors="HC4").fit(X, y)
    with pytest.raises(UnknownName, match="quasi"):
        model(standard_errors="quasi").fit(X, y)
    with pytest.raises(InvalidInput, match="needs two clusters or more; found 0"):
        model(standard_errors="clustered").fit(X, y)
    with pytest.raises(InvalidInput, match="only clustered standard errors use"):
        model().fit(X, y, groups=groups)
    none = model(standard_errors=None).fit(X, y)
    assert none.inference_ is None
    with pytest.raises(InvalidInput, match="standard_errors=None"):
        none.summary()
    assert none.describe().tables


@pytest.mark.slow
def test_the_errors_of_a_maximum_entropy_model_with_features_are_checked_too():
    F, y = np.random.default_rng(0).normal(size=(60, 2, 3)), np.arange(60) % 2
    with pytest.raises(InvalidInput, match="needs two clusters or more"):
        MaxEntropy(standard_errors="clustered").fit(F, y)
    with pytest.raises(InvalidInput, match="only clustered"):
        MaxEntropy().fit(F, y, groups=y)
    wide = MaxEntropy().fit(np.random.default_rng(0).normal(size=(60, 2, 1100)), y)
    with pytest.raises(InvalidInput, match="1,100 coefficients"):
        wide.summary()


@pytest.mark.parametrize(
    "model",
    [
        SoftmaxRegression(),
        SoftmaxRegression(reference="b"),
        OrdinalRegression(order=list("abc")),
        MaxEntropy(),
    ],
)
def test_a_saved_model_keeps_its_table(model, tmp_path):
    X, y, _, _ = rows()
    model.fit(pd.DataFrame(X, columns=["u", "v"]), y)
    likely.save(model, tmp_path / "model.likely")
    again = likely.load(tmp_path / "model.likely")
    assert str(again.summary()) == str(model.summary())
    assert_allclose(again.inference_.covariance, model.inference_.covariance)
    frame = model.summary().to_frame()
    assert list(frame.columns) == ["coef", "se", "z", "p", "low", "high"]
    assert tuple(frame.index) == model.inference_.names
    shown = model.describe().tables[0]
    assert [c.head for c in shown.columns][1:] == [
        "coef", "std err", "z", "P>|z|", "[0.025", "0.975]"
    ]  # fmt: skip
    assert "std err" in model.summary()._repr_html_()


def test_the_title_and_notes_say_what_a_coefficient_compares():
    X, y, _, _ = rows()
    centred = str(SoftmaxRegression().fit(X, y).summary())
    assert centred.startswith("SoftmaxRegression: 3 classes, softmax link")
    assert "sum to 0 over the classes" in centred
    against = str(SoftmaxRegression(reference="b").fit(X, y).summary())
    assert "3 classes against 'b'" in against and "a log-odds of its class against 'b'" in against
    two = str(SoftmaxRegression().fit(X, y == "b").summary())
    assert "P(y = True), softmax link" in two and "total 0" not in two
    assert "total 0" not in str(SoftmaxRegression(l1=1.0).fit(X, y).summary())
    assert str(MaxEntropy().fit(X, y).summary()).startswith("MaxEntropy: 3 classes, softmax link")


def test_soft_labels_count_as_parts_of_rows():
    X, *_ = rows()
    rng = np.random.default_rng(9)
    soft = rng.dirichlet(np.ones(3), N)
    repeated = np.repeat(X, 3, axis=0), np.tile(np.arange(3), N), soft.ravel()
    for kind in ("model", "HC0", "HC3"):
        found = fitted(SoftmaxRegression(l2=0.1), kind, X, soft).inference_
        expected = fitted(SoftmaxRegression(l2=0.1), kind, *repeated).inference_
        assert found.n == pytest.approx(N) and found.n == pytest.approx(expected.n)
        assert_allclose(found.covariance, expected.covariance, rtol=1e-6, atol=1e-12)
        assert found.log_likelihood == pytest.approx(expected.log_likelihood)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["softmax", "reference", "maxent", "ordinal"])
@pytest.mark.parametrize("kind", ["model", "HC3", "clustered"])
def test_intervals_cover_the_truth_as_often_as_they_say(name, kind):
    covered = coverage(name, kind, n_trials=600)
    assert 0.93 <= covered <= 0.97


def coverage(name, kind, n_trials, n_groups=20, n=400):
    """The share of 95 % intervals that have the truth inside.

    The rows of a cluster are not independent: each is there twice.
    """
    rng = np.random.default_rng(20)
    weights = np.array([[0.8, -0.4], [-0.2, 0.6], [-0.6, -0.2]])  # they total 0
    thresholds, inside = np.array([0.8, -0.9]), []
    for _ in range(n_trials):
        X, groups = rng.normal(size=(n, 2)), np.repeat(np.arange(n_groups), n // n_groups)
        if name == "ordinal":
            y = (X @ weights[0] + rng.logistic(size=n) > -thresholds[:, None]).sum(axis=0)
            model, truth = OrdinalRegression(l2=0.0), np.append(weights[0], thresholds)
        else:
            y = (X @ weights.T + rng.gumbel(size=(n, 3))).argmax(axis=1)
            model, truth = SoftmaxRegression(l2=0.0), np.c_[weights, np.zeros(3)].ravel()
        if name == "reference":
            model = SoftmaxRegression(l2=0.0, reference=0)
            truth = np.c_[weights[1:] - weights[0], np.zeros(2)].ravel()
        elif name == "maxent":
            model = MaxEntropy(l2=0.0)
        model.set_params(standard_errors=kind)
        if kind == "clustered":
            model.fit(np.r_[X, X], np.r_[y, y], groups=np.r_[groups, groups])
        else:
            model.fit(X, y)
        low, high = model.inference_.interval(0.95).T
        inside.append((low <= truth) & (truth <= high))
    return float(np.mean(inside))


def test_a_column_without_information_is_held_where_classes_may_be_shifted():
    """Without a part along the shift the curvature has no inverse, whatever the information is."""
    shift = shift_of_classes(3, np.array([True, False]))
    for information in (np.zeros((6, 6)), np.diag([2.0, 1.0, 3.0, 1.0, 4.0, 1.0])):
        added = _with_shift(information, np.zeros((6, 6)), shift)
        values, vectors = np.linalg.eigh(added)
        assert (values[:-1] < 1e-12).all() and values[-1] > 0.1
        assert_allclose(
            np.abs(vectors[:, -1]), np.array([1, 0, 1, 0, 1, 0]) / np.sqrt(3), atol=1e-9
        )
