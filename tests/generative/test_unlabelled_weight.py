"""Naive Bayes with few labelled documents and many without a label."""

import lzma
import warnings
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import logsumexp

import likely
from likely import BagOfWords, NaiveBayes
from likely.errors import InvalidInput, ShiftedClasses
from likely.generative.unlabelled import WEIGHTS, warn_if_moved


def documents(seed, n, n_classes=4, n_words=300, spread=0.1):
    """Words of a class come in topics, so that unlabelled documents show which go together."""
    rng = np.random.default_rng(seed)
    phi = np.random.default_rng(7).dirichlet(np.full(n_words, spread), n_classes)
    y = rng.integers(0, n_classes, n)
    return np.stack([rng.multinomial(30, phi[k]) for k in y]).astype(float), y


def few_labels(y, per_class):
    known = np.concatenate([np.flatnonzero(y == k)[:per_class] for k in np.unique(y)])
    out = np.full(len(y), -1)
    out[known] = y[known]
    return out


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_the_weight_is_that_of_every_unlabelled_row(event):
    X, y = documents(0, 120)
    X, labels = np.minimum(X, 1) if event == "bernoulli" else X, few_labels(y, 5)
    model = NaiveBayes(event, unlabelled=-1, unlabelled_weight=0.2).fit(X, labels)
    weight = np.where(labels < 0, 0.2, 1.0)
    reference = NaiveBayes(event, unlabelled=-1).fit(X, labels, sample_weight=weight)
    assert_allclose(
        model.predict_log_proba(X), reference.predict_log_proba(X), rtol=1e-9, atol=1e-9
    )
    assert_allclose(model.class_count_, reference.class_count_, rtol=1e-9)


def test_without_weight_unlabelled_rows_are_not_used():
    X, y = documents(0, 120)
    labels = few_labels(y, 5)
    model = NaiveBayes("multinomial", unlabelled=-1, unlabelled_weight=0.0).fit(X, labels)
    known = labels >= 0
    reference = NaiveBayes("multinomial").fit(X[known], labels[known])
    assert_allclose(
        model.predict_log_proba(X), reference.predict_log_proba(X), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("weight", [0.03, 0.5, 1.0])
@pytest.mark.parametrize("smoothing", [1.0, "auto"])
def test_the_bound_never_falls(weight, smoothing):
    X, y = documents(1, 200)
    model = NaiveBayes(
        "multinomial", unlabelled=-1, unlabelled_weight=weight, smoothing=smoothing
    ).fit(sparse.csr_array(X), few_labels(y, 4))
    trace = -np.array(model.solution_.trace)
    assert len(trace) > 2
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[0])).all()
    assert trace[-1] > trace[0]


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 4),
    st.sampled_from(["multinomial", "bernoulli", "gaussian"]),
    st.floats(0.001, 3.0),
)
@example(247, 2, "gaussian", 1.0)  # a column is constant in the labelled rows
def test_the_bound_never_falls_on_random_rows(seed, n_classes, event, weight):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(0.5, 2.0, (1, 6)), (30, 6)).astype(float)
    X = np.minimum(X, 1) if event == "bernoulli" else X
    y = np.where(np.arange(30) < 3 * n_classes, np.arange(30) % n_classes, -1)
    model = NaiveBayes(
        event, unlabelled=-1, unlabelled_weight=weight, max_iter=60, variance_floor=1e-3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # EM may need more steps, and may move the classes
        trace = -np.array(model.fit(X, y).solution_.trace)
    assert (np.diff(trace) >= -1e-9 * max(1.0, np.abs(trace).max())).all()


def test_the_bound_never_falls_on_real_documents():
    path = Path(__file__).parents[3] / "shared" / "data" / "text" / "sms-spam.tsv.xz"
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    with lzma.open(path, "rt", encoding="utf8", newline="\n") as file:
        rows = [line.rstrip("\n").split("\t") for line in islice(file, 2000)]
    X, y = BagOfWords().fit_transform([row[-1] for row in rows]), np.array([r[0] for r in rows])
    y = np.where(np.arange(len(y)) < 40, y, "?")
    for weight in (0.1, 1.0):
        model = NaiveBayes("multinomial", unlabelled="?", unlabelled_weight=weight, tol=1e-6)
        trace = -np.array(model.fit(X, y).solution_.trace)
        assert len(trace) > 3
        assert (np.diff(trace) >= -1e-9 * np.abs(trace[0])).all()


def test_the_bound_is_the_weighted_log_posterior():
    X, y = documents(2, 100)
    labels = few_labels(y, 4)
    model = NaiveBayes("multinomial", unlabelled=-1, unlabelled_weight=0.3).fit(X, labels)
    joint, known = model.predict_joint_log_proba(X), labels >= 0
    expected = joint[known, labels[known]].sum() + 0.3 * logsumexp(joint[~known], axis=1).sum()
    expected += model.class_coef_.sum()  # one pseudo-count of each word in each class
    assert_allclose(-model.solution_.trace[-1], expected, rtol=1e-9)


def test_unlabelled_documents_improve_the_accuracy():
    X, y = documents(3, 800, spread=1.0)
    new, truth = documents(4, 500, spread=1.0)
    labels = few_labels(y, 2)
    known = labels >= 0
    alone = NaiveBayes("multinomial", smoothing=0.1).fit(X[known], labels[known]).score(new, truth)
    more = NaiveBayes("multinomial", smoothing=0.1, unlabelled=-1).fit(X, labels)
    assert more.score(new, truth) > alone + 0.05


def clustered(seed, n, n_classes=3):
    """Documents whose words show a division that has nothing to do with the labels."""
    rng = np.random.default_rng(seed)
    other = rng.integers(0, 2, n)
    y = rng.integers(0, n_classes, n)
    strong = np.random.default_rng(7).dirichlet(np.full(60, 0.1), 2)
    weak = np.random.default_rng(8).dirichlet(np.full(60, 3.0), n_classes)
    words = (
        [rng.multinomial(40, strong[k]) for k in other],
        [rng.multinomial(12, weak[k]) for k in y],
    )
    return np.hstack(words).astype(float), y


def test_a_weight_is_chosen_by_labelled_rows_that_are_held_out():
    X, y = documents(3, 400, spread=1.0)
    new, truth = documents(4, 500, spread=1.0)
    labels = few_labels(y, 6)
    known = labels >= 0
    alone = NaiveBayes("multinomial", smoothing=0.1).fit(X[known], labels[known])
    model = NaiveBayes("multinomial", smoothing=0.1, unlabelled=-1, unlabelled_weight="auto")
    model.fit(X, labels)
    assert model.unlabelled_weight_ in WEIGHTS[1:]
    assert model.score(new, truth) > alone.score(new, truth) + 0.05
    same = NaiveBayes(
        "multinomial", smoothing=0.1, unlabelled=-1, unlabelled_weight=model.unlabelled_weight_
    ).fit(X, labels)
    assert_allclose(model.predict_proba(new), same.predict_proba(new))


def test_unlabelled_rows_that_do_harm_are_not_used():
    X, y = clustered(0, 700)
    new, truth = clustered(1, 1000)
    labels = few_labels(y, 40)
    alone, harmful, chosen = (
        NaiveBayes("multinomial", smoothing=0.1, unlabelled=-1, unlabelled_weight=weight)
        for weight in (0.0, 1.0, "auto")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShiftedClasses)
        scores = [m.fit(X, labels).score(new, truth) for m in (alone, harmful, chosen)]
    assert scores[1] < scores[0] - 0.1
    assert scores[2] > scores[0] - 0.02
    assert chosen.unlabelled_weight_ < 0.1


def test_a_weight_is_chosen_for_columns_of_numbers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(3.0 * y[:, None], 1.0, (300, 2))
    labels = few_labels(y, 10)
    model = NaiveBayes(unlabelled=-1, unlabelled_weight="auto").fit(X, labels)
    assert model.unlabelled_weight_ in WEIGHTS
    assert model.score(X, y) > 0.95


def test_the_temperature_is_that_of_models_with_unlabelled_rows():
    """EM makes a model surer than its labelled rows alone would, and it is cooled more."""
    X, y = clustered(0, 700)
    labels = few_labels(y, 40)
    cooled = []
    for weight in (0.0, 0.1):
        settings = {"unlabelled": -1, "unlabelled_weight": weight, "calibrate": "length"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ShiftedClasses)
            model = NaiveBayes("multinomial", smoothing=0.1, **settings).fit(X, labels)
        cooled.append(model.temperature_ * (1 + model.length_rate_ * 52))
    assert cooled[1] > 1.5 * cooled[0]


def test_classes_that_em_moved_are_named():
    X, y = documents(0, 800)
    chosen = np.concatenate([few_labels(y, 5).argsort()[-20:], np.flatnonzero(y == 2)[5:]])
    X, labels = X[chosen], np.where(np.arange(len(chosen)) < 20, y[chosen], -1)
    expected = (
        r"EM moved the classes: \d+% of the unlabelled rows are given to class 2, which has 25%"
    )
    with pytest.warns(ShiftedClasses, match=expected):
        NaiveBayes("multinomial", unlabelled=-1).fit(X, labels)


@pytest.mark.parametrize(
    ("labelled", "added", "moved"),
    [
        ([10, 10], [500, 500], False),
        ([10, 10], [800, 200], False),  # 0.3 ≤ 0.25 + 0.11
        ([10, 10], [900, 100], True),  # 0.4
        ([1000, 1000], [800, 200], True),  # many labels excuse less: 0.25 + 0.01
        ([20] * 20, [9000] + [50] * 19, True),
        ([20] * 20, [700] * 10 + [300] * 10, False),
        ([5, 5], [0, 0], False),
        ([5], [100], False),
    ],
)
def test_shares_are_far_beyond_a_quarter_and_what_the_labels_allow(labelled, added, moved):
    before, after = np.array(labelled, float), np.add(labelled, added).astype(float)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        n_rows = int(sum(labelled)), int(sum(added))
        warn_if_moved(before, after, np.arange(len(labelled)), 1.0, n_rows)
    assert bool(said) == moved
    if moved:
        assert "unlabelled_weight='auto'" in str(said[0].message)


def test_the_weight_is_saved(tmp_path):
    X, y = documents(0, 120)
    model = NaiveBayes("multinomial", unlabelled=-1, unlabelled_weight="auto")
    likely.save(model.fit(X, few_labels(y, 5)), tmp_path / "m")
    assert likely.load(tmp_path / "m").unlabelled_weight_ == model.unlabelled_weight_


@pytest.mark.parametrize("weight", [-0.1, np.inf, "half"])
def test_a_weight_that_is_none_is_refused(weight):
    X, y = documents(0, 20)
    with pytest.raises(InvalidInput, match=r"unlabelled_weight must be a finite number, 0 or more"):
        NaiveBayes("multinomial", unlabelled=-1, unlabelled_weight=weight).fit(X, y)


def test_the_warning_does_not_depend_on_the_unit_of_the_weights():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.poisson(5, (8, 6)), rng.poisson(1, (300, 6))]).astype(float)
    X[:4, 0] += 20
    y = np.array([0] * 4 + [1] * 4 + [-1] * 300)
    for unit in (1.0, 1 / 400):
        model = NaiveBayes("multinomial", unlabelled=-1, smoothing=1e-3 * unit)
        with pytest.warns(ShiftedClasses):
            model.fit(X, y, np.full(308, unit))


def test_a_category_of_one_fold_only_leaves_the_choice_of_a_weight_finite():
    rng = np.random.default_rng(1)
    X = np.hstack([np.arange(60)[:, None], rng.poisson(2, (60, 4))]).astype(float)
    y = np.where(np.arange(60) % 3 == 0, -1, np.arange(60) % 2)
    event = {0: "categorical", **dict.fromkeys(range(1, 5), "multinomial")}
    options = {"unlabelled": -1, "unlabelled_weight": "auto", "smoothing": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShiftedClasses)
        model = NaiveBayes(event, **options).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()


@pytest.mark.parametrize("weight", ["auto", 1.0])
def test_a_marker_that_does_not_occur_changes_nothing(weight):
    X, y = documents(0, 120)
    settings = {"calibrate": "length", "unlabelled": -1, "unlabelled_weight": weight}
    model = NaiveBayes("multinomial", **settings).fit(X, y)
    plain = NaiveBayes("multinomial", calibrate="length").fit(X, y)
    assert_allclose(model.predict_log_proba(X), plain.predict_log_proba(X), rtol=1e-6)
