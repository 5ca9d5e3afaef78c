"""Evidence cooled by the length of a document: out-of-fold scores, the search, honest answers."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax
from sklearn.metrics import log_loss

import likely
import likely.runtime
from likely import NaiveBayes
from likely.calibrate.evidence import N_FOLDS
from likely.calibrate.length_evidence import (
    absence_with,
    document_folds,
    folds_of,
    scored_documents,
)
from likely.calibrate.length_temperature import ScoredDocuments, best_cooling, length_loss
from likely.data.block import Block
from likely.data.hashed_splits import FOLD_SEED, fold_of
from likely.data.layouts.dense import Dense
from likely.errors import InvalidInput, NothingToCalibrate


def bursty(n, seed=0, n_classes=4, n_words=60, burst=5.0):
    """Documents whose words depend on one another: each has its own words near those of its class.

    Lengths differ a hundredfold, and classes are not equally frequent.
    """
    rng = np.random.default_rng([seed, n])
    centre = np.random.default_rng(7).dirichlet(np.full(n_words, 0.5), n_classes)
    y = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    own = rng.gamma(burst * centre[y] + 1e-3)
    length = np.exp(rng.uniform(np.log(3), np.log(300), n)).astype(int)
    X = rng.multinomial(length, own / own.sum(axis=1, keepdims=True))
    return X.astype(float), y


def scored(model, X, y):
    """The out-of-fold scores that a fit of the model uses."""
    fitted = model.fit(X, y)
    rows = fitted.encode_rows(X, y).rows
    folds = folds_of(fitted.family_, len(fitted.classes_), rows.blocks, rows.executor)
    return scored_documents(fitted.family_, folds, rows.blocks, rows.executor, fitted._learner)


def folds_by_hand(family, X):
    return document_folds(family, Block(Dense(X), 0, np.zeros(len(X), np.int32)))


@pytest.mark.parametrize("event", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_out_of_fold_scores_are_those_of_refits(event, layout):
    X, y = bursty(200)
    X = X if event != "bernoulli" else (X > 0).astype(float)
    model = NaiveBayes(event, smoothing=0.3)
    rows = scored(model, layout(X), y)
    fold, score, log_prior = folds_by_hand(model.family_, X), np.empty((200, 4)), []
    for f in range(N_FOLDS):
        refit = NaiveBayes(event, smoothing=0.3).fit(X[fold != f], y[fold != f])
        score[fold == f] = refit.distribution_.log_score(X[fold == f])
        log_prior.append(refit.class_log_prior_)
        if event == "bernoulli":  # absence is evidence in proportion to the length
            longer = X[fold == f].sum(axis=1, keepdims=True) / X.sum(axis=1).mean() - 1
            score[fold == f] += longer * refit.distribution_.log_score(0 * X[:1])
    score -= score.max(axis=1, keepdims=True)
    brute = ScoredDocuments(
        score, np.stack(log_prior)[fold], y, np.ones(200), X.sum(axis=1), np.empty((200, 0))
    )
    by_fold = np.argsort(fold, kind="stable")
    for ours, theirs in zip(rows, brute, strict=True):
        assert_allclose(ours, theirs[by_fold], rtol=1e-9, atol=1e-9)


def test_a_word_of_held_out_documents_alone_is_not_known_to_their_model():
    """With smoothing="auto" too: the spread of pseudo-counts is that of the other folds."""
    X, y = bursty(200)
    fold = folds_by_hand(NaiveBayes("multinomial").fit(X, y).family_, X)
    X = np.c_[X, 5.0 * (fold == 2)]
    fold = folds_by_hand(NaiveBayes("multinomial").fit(X, y).family_, X)
    X[:, -1] = 5.0 * (fold == 2)
    rows, model = scored(NaiveBayes("multinomial", smoothing="auto"), X, y), NaiveBayes
    others = model("multinomial", smoothing="auto").fit(X[fold != 2], y[fold != 2])
    assert np.ptp(others.class_coef_[:, -1]) < 1e-12  # an unseen word says nothing
    full = model("multinomial", smoothing="auto").fit(X, y)
    assert np.ptp(full.class_coef_[:, -1]) > 1e-3
    without = scored(NaiveBayes("multinomial", smoothing="auto"), X[:, :-1], y)
    assert_allclose(rows.score[: len(y)].sum(), without.score.sum(), rtol=0.1)


def loss_by_hand(rows, a, b):
    beta = a / (1 + b * rows.length)
    log_p = log_softmax(rows.log_prior + beta[:, None] * rows.score, axis=1)
    n = np.arange(len(rows.y))
    others = rows.score.copy()
    others[n, rows.y] = -np.inf
    error = 1 / (len(n) + 2)
    return -np.sum(
        rows.weight * ((1 - error) * log_p[n, rows.y] + error * log_p[n, others.argmax(axis=1)])
    )


def test_the_search_finds_the_a_and_b_of_scipy():
    rows = scored(NaiveBayes("multinomial"), *bursty(500))
    found = best_cooling(rows)

    def loss(theta):
        return loss_by_hand(rows, *np.exp(theta))

    best = minimize(loss, [0.0, -3.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-9})
    assert_allclose([1 / found.temperature, found.length_rate], np.exp(best.x), rtol=1e-4)


def test_the_loss_and_its_gradient():
    rows = scored(NaiveBayes("multinomial"), *bursty(100))
    theta = np.log([0.4, 0.05])

    def value(theta):
        return length_loss(rows, *np.exp(theta)).value

    here = length_loss(rows, *np.exp(theta))
    assert_allclose(here.value, loss_by_hand(rows, *np.exp(theta)), rtol=1e-12)
    assert_allclose(here.gradient, approx_fprime(theta, value, 1e-6), rtol=1e-4)


def test_evidence_is_multiplied_by_a_function_of_the_length_and_the_prior_is_not():
    X, y = bursty(400)
    model = NaiveBayes("multinomial", calibrate="length").fit(X, y)
    beta = 1 / (model.temperature_ * (1 + model.length_rate_ * X.sum(axis=1)))
    score = X @ model.class_coef_.T
    expected = log_softmax(model.class_log_prior_ + beta[:, None] * score, axis=1)
    assert model.length_rate_ > 0
    assert_allclose(model.predict_log_proba(X), expected, rtol=1e-10, atol=1e-10)
    assert_allclose(model.predict_log_proba(sparse.csr_array(X)), expected, rtol=1e-10, atol=1e-10)
    odds = expected - expected[:, [0]]
    assert_allclose(model.explain(X[:7]).total, odds[:7], rtol=1e-9, atol=1e-9)


def test_an_empty_document_has_the_class_prior_and_a_huge_one_has_an_answer():
    X, y = bursty(400)
    model = NaiveBayes("multinomial", calibrate="length").fit(X, y)
    assert_allclose(
        model.predict_log_proba(0 * X[:1])[0], model.class_log_prior_, rtol=1e-12, atol=1e-12
    )
    far = model.predict_log_proba(1e9 * X[:1])
    assert np.isfinite(far).all()
    nearer = model.predict_log_proba(1e6 * X[:1])
    assert_allclose(far, nearer, atol=1e-3)  # the evidence ends at a/b times that of a word


@pytest.mark.parametrize("event", ["bernoulli", "poisson"])
def test_absence_is_evidence_in_proportion_to_the_length(event, tmp_path):
    X, y = bursty(400)
    X = np.minimum(X, 1) if event == "bernoulli" else X
    model = NaiveBayes(event, calibrate="length").fit(X, y)
    length, empty = X.sum(axis=1), model.distribution_.parts[0].log_score(np.zeros((1, 60)))[0]
    score = model.distribution_.log_score(X) + (length / length.mean() - 1)[:, None] * empty
    beta = 1 / (model.temperature_ * (1 + model.length_rate_ * length))
    expected = log_softmax(model.class_log_prior_ + beta[:, None] * score, axis=1)
    assert_allclose(model.predict_log_proba(X), expected, rtol=1e-10, atol=1e-10)
    assert_allclose(
        model.predict_log_proba(0 * X[:1])[0], model.class_log_prior_, rtol=1e-10, atol=1e-10
    )
    odds = expected - expected[:, [0]]
    assert_allclose(model.explain(X[:7]).total, odds[:7], rtol=1e-9, atol=1e-9)
    likely.save(model, tmp_path / "m")
    assert_allclose(
        likely.load(tmp_path / "m").predict_log_proba(X), expected, rtol=1e-10, atol=1e-10
    )
    answers = likely.runtime.load(tmp_path / "m").predict_proba(X.tolist())
    assert_allclose(answers, np.exp(expected), rtol=1e-8)


def test_presence_in_short_documents_is_believable():
    """A short document lacks most words of any class, which is no evidence."""
    rng = np.random.default_rng(0)
    centre = [rng.dirichlet(np.full(400, spread)) for spread in (0.02, 0.1, 0.5)]
    y, truth = rng.integers(0, 3, 600), rng.integers(0, 3, 600)
    X = np.stack([rng.multinomial(200, centre[k]) for k in y]).clip(max=1)
    short = np.stack([rng.multinomial(2, centre[k]) for k in truth]).clip(max=1)
    model = NaiveBayes("bernoulli", calibrate="length").fit(X, y)
    loss = log_loss(truth, model.predict_proba(short))
    assert loss < np.log(3) - 0.2
    model.mean_length_ = None  # absence as in the textbook
    assert log_loss(truth, model.predict_proba(short)) > np.log(3)


@pytest.mark.parametrize("event", ["multinomial", "complement"])
def test_long_and_short_documents_are_both_believable(event):
    """One temperature cannot be right for both."""
    X, y = bursty(1500)
    new, truth = bursty(3000, seed=1)
    loss = {
        c: log_loss(truth, NaiveBayes(event, calibrate=c).fit(X, y).predict_proba(new))
        for c in (None, "temperature", "length")
    }
    assert loss["length"] < loss["temperature"] < loss[None]


def test_words_that_are_independent_need_no_cooling():
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(30, 5.0), 3)
    y = rng.integers(0, 3, 3000)
    X = rng.multinomial(rng.integers(3, 60, 3000), phi[y])
    model = NaiveBayes("multinomial", calibrate="length").fit(X, y)
    assert_allclose(model.temperature_, 1.0, atol=0.15)
    assert model.length_rate_ < 0.005


def test_documents_of_one_length_have_one_temperature():
    """a and b cannot be told apart then, and need not be."""
    rng = np.random.default_rng(0)
    X, y = bursty(600)
    X = np.array([rng.multinomial(20, (row + 0.01) / (row + 0.01).sum()) for row in X], float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NaiveBayes("multinomial", calibrate="length").fit(X, y)
    rows = scored(NaiveBayes("multinomial"), X, y)
    beta = 1 / (model.temperature_ * (1 + model.length_rate_ * 20))
    one = minimize(lambda t: loss_by_hand(rows, np.exp(t[0]), 0.0), [0.0], method="Nelder-Mead")
    assert_allclose(beta, np.exp(one.x[0]), rtol=1e-3)


@pytest.mark.parametrize("n", [20, 200])
def test_classes_that_no_held_out_row_confuses_are_not_certain(n):
    """By the rule of succession: an error in n + 2 rows."""
    y = np.arange(n) % 2
    X = np.c_[y, 1 - y] * 50.0 + 1.0
    model = NaiveBayes("multinomial", calibrate="length").fit(X, y)
    wrong = model.predict_proba(X)[np.arange(n), 1 - y]
    assert_allclose(wrong.mean(), 1 / (n + 2), rtol=0.3)


@pytest.mark.parametrize(
    ("X", "y"), [([[1.0, 2.0]] * 30, [0] * 30), ([[1.0, 0.0], [0.0, 1.0]], [0, 1]), ([[1.0]], [0])]
)
def test_where_there_is_nothing_to_calibrate_that_is_said(X, y):
    with pytest.warns(NothingToCalibrate, match="The temperature is 1"):
        model = NaiveBayes("multinomial", calibrate="length").fit(X, y)
    assert (model.temperature_, model.length_rate_) == (1.0, 0.0)


def test_words_without_information_leave_the_prior():
    y = np.arange(60) % 4 // 3
    X = np.ones((60, 2))
    with pytest.warns(NothingToCalibrate, match="no information"):
        model = NaiveBayes("multinomial", calibrate="length").fit(X, y)
    assert_allclose(model.predict_proba(X[:1]), [[0.75, 0.25]], atol=1e-6)


def test_a_class_of_one_document_and_empty_documents_do_no_harm():
    X, y = bursty(300)
    y = y.copy()
    y[0] = 9
    X[5:15] = 0
    for smoothing in (1.0, "auto"):
        model = NaiveBayes("multinomial", smoothing=smoothing, calibrate="length").fit(X, y)
        assert 0.1 < model.temperature_ < 10
        assert np.isfinite(model.predict_log_proba(X)).all()


def test_copies_do_not_make_the_model_surer():
    """Equal documents of five or more words are in one fold.

    Not exactly as sure: by the rule of succession more rows show that errors are rarer.
    """
    X, y = bursty(600)
    X, y = X[(X > 0).sum(axis=1) >= 10], y[(X > 0).sum(axis=1) >= 10]
    cooling = []
    for times in (1, 4):
        model = NaiveBayes("multinomial", smoothing=1e-6 * times, calibrate="length")
        model.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        cooling.append(model.temperature_ * (1 + model.length_rate_ * 30))
    assert_allclose(*cooling, rtol=0.03)


def test_documents_of_few_words_are_dealt_by_their_index():
    """They are equal by chance, and there may be few different ones."""
    X = np.zeros((300, 20))
    X[:, :4] = 1.0
    fold = folds_by_hand(NaiveBayes("multinomial").fit(X, np.arange(300) % 2).family_, X)
    assert_allclose(fold, fold_of(0, 300, FOLD_SEED, N_FOLDS))
    X[:, :5] = 1.0
    assert (
        len({*folds_by_hand(NaiveBayes("multinomial").fit(X, np.arange(300) % 2).family_, X)}) == 1
    )


def test_a_table_without_counts_has_no_length():
    with pytest.raises(InvalidInput, match=r"needs columns of counts.*Use calibrate='temperature'"):
        NaiveBayes("gaussian", calibrate="length").fit(np.eye(6), np.arange(6) % 2)


def test_unlabelled_rows_are_not_scored():
    X, y = bursty(300)
    some = np.where(np.arange(300) % 3 == 0, -1, y)
    model = NaiveBayes("multinomial", unlabelled=-1, calibrate="length").fit(X, some)
    assert 0.1 < model.temperature_ < 20


def test_a_saved_model_gives_the_same_answers(tmp_path):
    X, y = bursty(300)
    model = NaiveBayes("multinomial", smoothing="auto", calibrate="length").fit(X, y)
    likely.save(model, tmp_path / "m")
    again = likely.load(tmp_path / "m")
    assert again.length_rate_ == model.length_rate_
    assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-14)


def test_smoothing_is_chosen_by_documents_that_are_left_out():
    """Words are repeated within documents, so that copies of a token explain it too well."""
    X, y = bursty(150, n_words=400, burst=20.0)
    new, truth = bursty(2000, seed=1, n_words=400, burst=20.0)
    by_token = NaiveBayes("multinomial", smoothing="auto").fit(X, y)
    model = NaiveBayes("multinomial", smoothing="auto", calibrate="length").fit(X, y)
    ratio = model.smoothing_ / by_token.smoothing_
    assert_allclose(ratio, ratio[0])
    assert ratio[0] in {4.0**step for step in range(-4, 5)}
    losses = {}
    for factor in (ratio[0] / 16, ratio[0], ratio[0] * 16):
        rows = _scored_at(by_token, X, y, factor)
        losses[factor] = loss_by_hand(rows, *_best(rows))
    assert min(losses, key=losses.get) == ratio[0]
    assert log_loss(truth, model.predict_proba(new)) < log_loss(truth, by_token.predict_proba(new))


def _scored_at(model, X, y, factor):
    again = NaiveBayes("multinomial", smoothing="auto").fit(X, y)
    again.smoothing_ = factor * model.smoothing_
    rows = again.encode_rows(X, y).rows
    folds = folds_of(again.family_, len(again.classes_), rows.blocks, rows.executor)
    return scored_documents(again.family_, folds, rows.blocks, rows.executor, again._learner)


def _best(rows):
    found = best_cooling(rows)
    return 1 / found.temperature, found.length_rate


def test_absent_words_say_nothing_without_words_or_where_they_are_impossible():
    score = np.log([0.2, 0.7])
    assert absence_with(score, 3.0) is not None
    assert absence_with(score, 0.0) is None
    assert absence_with(np.array([0.0, -np.inf]), 3.0) is None
