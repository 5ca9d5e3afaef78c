"""Additive classifiers: shapes no line can follow, ordered classes, and what they say."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import log_loss

import likely as lk
from likely.errors import InvalidInput, OutsideFit


def test_two_moons_are_followed_where_a_line_cannot():
    X, y = make_moons(1200, noise=0.3, random_state=0)
    model = lk.AdditiveClassifier().fit(X[:800], y[:800])
    line = lk.LogisticRegression().fit(X[:800], y[:800])
    found = log_loss(y[800:], model.predict_proba(X[800:]))
    assert found < log_loss(y[800:], line.predict_proba(X[800:])) - 0.08
    assert model.summary().tables[0].columns[3].head == "Chi.sq"


def test_the_softmax_of_two_classes_is_the_logit():
    X, y = make_moons(400, noise=0.3, random_state=0)
    model = lk.AdditiveClassifier().fit(X, y)
    numbers = lk.AdditiveModel("bernoulli").fit(X, y)
    assert_allclose(model.predict_proba(X)[:, 1], numbers.predict(X), atol=1e-6)


def test_the_classes_share_the_strength_of_a_term_and_add_up():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = lk.AdditiveClassifier().fit(X, y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)
    assert model.score(X, y) > 0.95
    assert 0.9 < model.deviance_explained_ < 1.0
    found = model.explain(X[:10], against=0)
    proba = model.predict_log_proba(X[:10])
    assert_allclose(found.total, proba - proba[:, [0]], rtol=1e-6, atol=1e-8)
    effect = model.effect("petal length (cm)")
    assert effect.effect.shape == (100, 3) or effect.effect.shape[1] == 3
    assert_allclose(effect.effect.sum(axis=1), 0.0, atol=1e-6)  # centred over the classes


def test_ordered_classes_have_one_curve_for_each_column():
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, (900, 2))
    score = 3 * x[:, 0] ** 2 + rng.logistic(size=900)
    y = np.array(["low", "mid", "high"])[np.digitize(score, [2.0, 6.0])]
    model = lk.AdditiveClassifier(order=["low", "mid", "high"]).fit(x, y)
    assert model.classes_.tolist() == ["low", "mid", "high"]
    assert len(np.atleast_2d(model.linear_.coef_)) == 1
    assert model.predict([[-1.9, 0.0], [0.0, 0.0], [1.9, 0.0]]).tolist() == ["high", "low", "high"]
    free = lk.AdditiveClassifier("softmax").fit(x, y)
    assert_allclose(model.log_likelihood(x, y), free.log_likelihood(x, y), rtol=0.05)
    assert "3 ordered classes" in str(model.summary())
    assert model.term_test("x1").p > 0.01
    found = model.explain(x[:5])
    assert_allclose(found.contributions.sum(axis=1)[:, 0],
                    model.linear_predictor(x[:5]) - found.base[0], rtol=1e-9)  # fmt: skip


@pytest.mark.parametrize(
    ("y", "options", "title"),
    [
        (["no", "yes"], {}, "P(y = 'yes'), logit link"),
        (["a", "b", "c"], {}, "3 classes, softmax link"),
        (["a", "b", "c"], {"order": ["a", "b", "c"]}, "3 ordered classes, logit link"),
    ],
)
def test_the_title_names_the_classes_and_the_link(y, options, title):
    x = np.random.default_rng(0).normal(size=(30, 1))
    model = lk.AdditiveClassifier(**options).fit(x, np.resize(y, 30))
    assert title in str(model.summary())


def test_noise_is_left_to_the_class_shares():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(600, 6)), rng.integers(0, 3, 600)
    model = lk.AdditiveClassifier(interactions=5).fit(X, y)
    assert model.term_names_ == ("x0", "x1", "x2", "x3", "x4", "x5")
    shares = np.bincount(y) / 600
    fresh = rng.normal(size=(300, 6))
    assert np.abs(model.predict_proba(fresh) - shares).max() < 0.35
    assert model.edf_.sum() < 20


@pytest.mark.parametrize(
    ("options", "linear", "y"),
    [
        ({}, lk.LogisticRegression, lambda eta: eta > 0),
        ({}, lk.SoftmaxRegression, lambda eta: np.digitize(eta, [-1, 1])),
        ({"response": "ordinal"}, lk.OrdinalRegression, lambda eta: np.digitize(eta, [-1, 1])),
    ],
)
def test_criteria_of_a_straight_line_are_those_of_a_linear_model(options, linear, y):
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"x": rng.uniform(-1, 1, 2000)})
    labels = y(2 * x["x"].to_numpy() + rng.logistic(size=2000))
    model = lk.AdditiveClassifier(terms={"x": "linear"}, **options).fit(x, labels)
    theirs = linear(l2=1e-3).fit(x, labels)
    assert_allclose([model.llf, model.aic], [theirs.llf, theirs.aic], atol=0.2)


@pytest.mark.long
def test_intervals_cover_the_probability_as_often_as_they_say():
    inside = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x = pd.DataFrame({"a": rng.uniform(size=400), "g": rng.choice(["u", "v", "w"], 400)})
        p = 1 / (1 + np.exp(-1.5 * np.sin(6 * x["a"]) - (x["g"] == "u")))
        model = lk.AdditiveClassifier().fit(x, rng.random(400) < p)
        low, high = model.predict_interval(x, 0.9).T
        inside.append((low < p) & (p < high))
    assert 0.87 < np.mean(inside) < 0.94


def test_an_interval_needs_two_classes_and_a_probability():
    x = np.linspace(-1, 1, 100)[:, None]
    two = lk.AdditiveClassifier().fit(x, x[:, 0] > 0)
    narrow, wide = two.predict_interval(x, 0.5), two.predict_interval(x, 0.99)
    assert (wide[:, 0] < narrow[:, 0]).all() and (wide[:, 1] > narrow[:, 1]).all()
    with pytest.raises(InvalidInput, match="of='mean'"):
        two.predict_interval(x, of="y")
    with pytest.raises(InvalidInput, match="level=95 was given"):
        two.predict_interval(x, 95)
    three = lk.AdditiveClassifier().fit(x, np.digitize(x[:, 0], [-0.3, 0.3]))
    with pytest.raises(AttributeError, match="no attribute 'predict_interval'") as caught:
        three.predict_interval(x)
    assert "3 classes, softmax link; one predictor" in str(caught.value.__cause__)


@pytest.mark.long
def test_steep_curves_are_followed_and_jumps_do_not_explode():
    """A least λ of 0.3 would miss the first (0.039 above the entropy), none the second (0.18)."""

    def excess(eta, n):
        found = []
        for seed in range(6):
            rng = np.random.default_rng(seed)
            x, new = rng.uniform(size=(n, 4)), rng.uniform(size=(4000, 4))
            y = rng.random(n) < 1 / (1 + np.exp(-eta(x)))
            p = 1 / (1 + np.exp(-eta(new)))
            log_proba = lk.AdditiveClassifier().fit(x, y).predict_log_proba(new)
            truth = np.column_stack([1 - p, p])
            found.append(np.mean(np.sum(truth * (np.log(truth) - log_proba), axis=1)))
        return np.mean(found)

    assert excess(lambda x: 12 * np.sin(6 * x[:, 0]) + 6 * x[:, 1] - 3, 200) < 0.03
    assert excess(lambda x: np.where(np.abs(x[:, 0] - 0.5) < 0.2, 6.0, -6.0), 2000) < 0.06


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_curve_of_classes_with_too_few_functions_is_found(n_classes):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(size=1000), "h": rng.integers(0, 24, 1000)})
    y = np.digitize(
        np.sin(25 * frame["a"]) + 0.3 * rng.normal(size=1000), [-0.5, 0.5][: n_classes - 1]
    )
    for k, low in ((6, True), (20, False)):
        model = lk.AdditiveClassifier(terms={"a": lk.Smooth(k=k)}).fit(frame.assign(y=y), "y")
        curve, circle = model.check_k(frame.assign(y=y), "y").tables[0].rows
        assert (curve[3] < 0.8) == (curve[4] < 0.005) == low
        assert (circle[0], circle[4] > 0.02) == ("h", True)


def test_separated_classes_have_finite_curves():
    x = np.linspace(-1, 1, 100)[:, None]
    y = (x[:, 0] > 0).astype(int)
    model = lk.AdditiveClassifier().fit(x, y)
    assert np.isfinite(model.linear_.coef_).all()
    assert (model.strength_ >= 0.03 - 1e-12).all()
    assert model.score(x, y) == 1.0


def test_a_response_of_numbers_is_refused_with_the_model_for_them():
    with pytest.raises(InvalidInput, match="Use AdditiveModel for numbers"):
        lk.AdditiveClassifier("poisson").fit([[0.0], [1.0]], [0, 1])


def test_missing_cells_are_read(tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"a": rng.normal(size=500), "g": rng.choice(["u", "v"], 500)})
    y = (frame["a"].abs() > 0.7).to_numpy() * 1
    frame.loc[::7, "a"] = np.nan
    frame.loc[::5, "g"] = None
    model = lk.AdditiveClassifier().fit(frame, y)
    lk.save(model, tmp_path / "m.likely")
    again = lk.load(tmp_path / "m.likely")
    assert_allclose(again.predict_proba(frame), model.predict_proba(frame), rtol=1e-12)
    assert model.score(frame.dropna(), y[frame.notna().all(axis=1)]) > 0.9


def test_rows_far_outside_the_fit_are_counted_and_warned_of():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    model = lk.AdditiveClassifier().fit(x, np.where(x[:, 0] > 0, "a", "b"))
    far = np.array([[0.0, 50.0], [0.0, 0.0], [-50.0, np.nan]])
    assert model.n_bounded(far) == 2
    for method in ("predict", "predict_proba", "linear_predictor"):
        with pytest.warns(OutsideFit, match=r"2 of 3 rows .* \(x0, x1\)") as caught:
            getattr(model, method)(far)
        assert len(caught) == 1


def test_effects_are_named_by_their_classes_where_there_are_several():
    X = np.random.default_rng(0).uniform(size=(90, 1))
    y = np.array(list("abc"))[np.arange(90) % 3]
    assert lk.AdditiveClassifier().fit(X, y)._classes() == ("a", "b", "c")
    assert lk.AdditiveClassifier().fit(X, y == "a")._classes() == ()
