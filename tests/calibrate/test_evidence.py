"""Calibrated evidence: its temperature, its end, and better probabilities."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import log_loss

from likely import NaiveBayes
from likely.calibrate import evidence
from likely.calibrate.evidence import (
    FEWEST_SCORED,
    N_FOLDS,
    FoldTotals,
    ScoredRows,
    block_fold_totals,
    block_gains,
    calibrate_evidence,
    is_scored,
    outlier_shares,
    row_gains,
    scored_rows,
)
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.distributions import DiagonalFamily
from likely.distributions.priors import log_shares
from likely.errors import NothingToCalibrate, RedundantColumns
from likely.objectives.components import Components
from likely.objectives.cooled_evidence import CooledEvidence


def doubled_evidence(seed=0, n=400):
    """Each feature twice: naive Bayes counts it twice, so the right temperature is near 2."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 1)) + 1.5 * y[:, None]
    return np.c_[x, x], y


def learn(totals):
    return Components(log_shares(totals.count), DiagonalFamily().from_statistics(totals.statistics))


def test_evidence_counted_twice_is_cooled_by_two():
    X, y = doubled_evidence(n=20_000)
    temperature = NaiveBayes(calibrate="temperature").fit(X, y).temperature_
    assert 1.85 < temperature < 2.15


def test_leaving_a_fold_out_by_prefix_and_suffix_is_the_sum_of_the_others():
    X, y = doubled_evidence()
    whole = ArrayBlocks(Dense(X), y, rows_per_block=len(X))
    folds = block_fold_totals(DiagonalFamily(), 2, next(iter(whole)))
    assert len(folds.folds) == N_FOLDS
    for f, left in enumerate(folds.left_out()):
        others = [fold for g, fold in enumerate(folds.folds) if g != f]
        assert_allclose(left.count, sum(other.count for other in others))
        mean = FoldTotals(tuple(others), len(X)).folds
        total = mean[0] + mean[1] + mean[2] + mean[3]
        assert_allclose(left.statistics.scatter, total.statistics.scatter)


def test_the_temperature_is_that_of_a_search_by_hand():
    """Of the gain over the prior less its standard error, by the formula of the module."""
    X, y = doubled_evidence()
    blocks = ArrayBlocks(Dense(X), y, rows_per_block=90)
    found = calibrate_evidence(DiagonalFamily(), 2, blocks, Serial(), learn)
    whole = next(iter(ArrayBlocks(Dense(X), y, rows_per_block=400)))
    models = tuple(map(learn, block_fold_totals(DiagonalFamily(), 2, whole).left_out()))
    rows = scored_rows(models, whole)
    share = 1 / (np.bincount(y) + 2)
    assert_allclose(found.outlier_share, share)

    def loss(log_beta):
        q = (1 - share) * np.exp(np.exp(log_beta) * rows.score) + share  # the top score is 0
        p = np.exp(rows.log_prior) * q
        d = np.log(p / p.sum(axis=1, keepdims=True))[np.arange(400), rows.y]
        d -= rows.log_prior[np.arange(400), rows.y]
        return -(d.sum() - np.sqrt(np.sum(d**2) - d.sum() ** 2 / 400))

    best = minimize_scalar(loss, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9}).x
    assert_allclose(found.temperature, np.exp(-best), rtol=2e-3)  # the parabola's error
    gains = Serial().sum(lambda block: block_gains(models, share, np.exp([best]), block), blocks)
    assert_allclose(gains.cautious(), -loss(best), rtol=1e-9)


def test_calibrated_probabilities_lose_less_on_rows_held_out():
    X, y = load_breast_cancer(return_X_y=True)
    train = np.arange(len(y)) % 3 > 0
    plain = NaiveBayes().fit(X[train], y[train])
    cooled = NaiveBayes(calibrate="temperature").fit(X[train], y[train])
    before = log_loss(y[~train], plain.predict_proba(X[~train]))
    after = log_loss(y[~train], cooled.predict_proba(X[~train]))
    assert after < 0.5 * before


def test_evidence_is_cooled_and_the_class_prior_is_not():
    """p(k | x) ∝ π_k [(1 − λ_k) exp(δ_k) + λ_k]; an even prior keeps every label."""
    X, y = load_breast_cancer(return_X_y=True)
    cooled = NaiveBayes(calibrate="temperature").fit(X, y)
    evidence = cooled.predict_joint_log_proba(X) - cooled.class_log_prior_
    behind = (evidence - evidence.max(axis=1, keepdims=True)) / cooled.temperature_
    share = 1 / (np.bincount(y) + 2)
    scores = cooled.class_log_prior_ + np.log((1 - share) * np.exp(behind) + share)
    assert cooled.temperature_ > 2
    assert_allclose(cooled.outlier_share_, share)
    assert_allclose(cooled.predict_log_proba(X), log_softmax(scores, axis=1), rtol=1e-9, atol=1e-9)
    plain, even = (
        NaiveBayes(prior="uniform", calibrate=c).fit(X, y) for c in (None, "temperature")
    )
    assert (plain.predict(X) == even.predict(X)).all()


NORMAL = np.random.Generator.standard_normal
TAILS = {
    "normal": NORMAL,
    "t2": lambda rng, n: rng.standard_t(2, n),
    "cauchy": np.random.Generator.standard_cauchy,
    "lognormal": lambda rng, n: np.exp(2 * rng.normal(size=n)),
    "pareto": lambda rng, n: rng.pareto(2.5, n),
}


def weak_copies(rng, n, kind, copies, tail=NORMAL):
    """A weak column some times over, beside three without information; 1 % of the rows are 1."""
    y = (rng.random(n) < 0.01).astype(int)
    y[:2] = 1
    z = tail(rng, n) + 0.5 * y
    weak = {
        "number": z,
        "category": np.array(list("abcdef"))[np.clip(z + 3, 0, 5).astype(int)],
        "boolean": z > 0.5,
        "none": rng.normal(size=n),
    }[kind]
    frame = {f"weak {i}": weak for i in range(copies)}
    frame |= {"number": tail(rng, n), "boolean": rng.random(n) < 0.3}
    frame["category"] = np.array(list("pqrs"))[rng.integers(0, 4, n)]
    return pd.DataFrame(frame), y


def excess_over_the_prior(n, kind, copies, seed, tail="normal"):
    """The log loss of new rows less that of the model's own class prior, in nats per row."""
    rng = np.random.default_rng([seed, n, copies])
    X, y = weak_copies(rng, n, kind, copies, TAILS[tail])
    new, truth = weak_copies(rng, 20_000, kind, copies, TAILS[tail])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingToCalibrate)
        model = NaiveBayes(calibrate="temperature").fit(X, y)
    log_proba = model.predict_log_proba(new)
    return float(np.mean((model.class_log_prior_ - log_proba)[np.arange(len(truth)), truth]))


@pytest.mark.parametrize("kind", ["number", "category", "boolean", "none"])
@pytest.mark.parametrize("copies", [1, 30])
def test_copies_of_a_weak_column_cost_next_to_nothing(kind, copies):
    assert excess_over_the_prior(2000, kind, copies, seed=0) < 0.005


@pytest.mark.parametrize(
    ("tail", "copies", "seed"), [("cauchy", 30, 1), ("lognormal", 1, 1), ("t2", 5, 9)]
)
def test_one_row_of_a_heavy_tail_does_not_cost_more_than_all_others_gain(tail, copies, seed):
    """Without an end of evidence: 9.7, 0.62 and 0.034 nats per row above the prior."""
    assert excess_over_the_prior(1000, "number", copies, seed, tail) < 0.005


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["number", "category", "boolean", "none"])
@pytest.mark.parametrize("copies", [1, 2, 3, 5, 10, 20, 30])
@pytest.mark.parametrize("n", [1000, 5000])
def test_naive_bayes_never_falls_far_below_its_prior(n, kind, copies):
    """At most 0.005 nats, in each of ten tables."""
    assert max(excess_over_the_prior(n, kind, copies, seed) for seed in range(10)) < 0.005


@pytest.mark.slow
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("copies", [1, 5, 30])
@pytest.mark.parametrize("n", [1000, 5000])
def test_nor_with_heavy_tails(n, copies, tail):
    excess = [excess_over_the_prior(n, "number", copies, seed, tail) for seed in range(10)]
    assert max(excess) < 0.005


@pytest.mark.filterwarnings("ignore::likely.errors.RedundantColumns")  # pixels that are always 0
def test_a_few_rows_that_a_narrow_gaussian_excludes_do_not_set_the_temperature():
    """Columns constant in a class give evidence of 1e9 nats, which would need T = 1e12."""
    X, y = load_digits(return_X_y=True)
    model = NaiveBayes(calibrate="temperature").fit(X[::2], y[::2])
    assert 5 < model.temperature_ < 50
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < 0.9  # that of the prior is 2.3
    plain = NaiveBayes().fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > plain.score(X[1::2], y[1::2]) - 0.01


def test_evidence_against_a_class_ends_near_the_logarithm_of_its_rows():
    X, y = doubled_evidence()
    model = NaiveBayes(calibrate="temperature").fit(X, y)
    for row in ([-1e6, -1e6], [1e6, 1e6]):
        evidence = model.predict_log_proba([row])[0] - model.class_log_prior_
        n = np.bincount(y)[np.argmin(evidence)]
        assert_allclose(np.ptp(evidence), np.log(n + 2))


def test_the_shares_of_outliers_follow_the_rule_of_succession():
    assert_allclose(outlier_shares(np.array([8.0, 98.0])), [0.1, 0.01])
    assert_allclose(outlier_shares(np.array([8.0, 8.0, 98.0])), [0.05, 0.05, 0.005])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_bounded_contributions_add_up_and_keep_their_signs(n_classes):
    rng = np.random.default_rng(0)
    raw = 30.0 * rng.normal(size=(200, 5, n_classes))
    raw[0] = 0.0  # no evidence at all
    log_prior = np.log(rng.dirichlet(np.ones(n_classes)))
    evidence = CooledEvidence(3.0, rng.uniform(0.001, 0.2, n_classes))
    given = evidence.contributions(raw, log_prior)
    log_p = evidence.log_posterior(log_prior, raw.sum(axis=1))
    odds = log_prior + given.sum(axis=1)
    assert_allclose(odds - odds[:, [0]], log_p - log_p[:, [0]], rtol=1e-10, atol=1e-10)
    top = raw.sum(axis=1).argmax(axis=1)[:, None, None]
    apart = raw - np.take_along_axis(raw, top, axis=2)
    assert (given * apart >= 0).all()
    assert (np.abs(given) <= np.abs(apart) / 3.0 + 1e-12).all()


def test_a_feature_that_excludes_a_class_has_the_whole_end_of_its_evidence():
    raw = np.array([[[0.0, -np.inf], [1.0, 2.0]]])
    evidence = CooledEvidence(2.0, np.array([0.1, 0.01]))
    given = evidence.contributions(raw, np.log([0.5, 0.5]))
    assert_allclose(given[0, :, 1] - given[0, :, 0], [np.log(0.01), 0.0])
    log_p = evidence.log_posterior(np.log([0.5, 0.5]), raw.sum(axis=1))
    assert_allclose(log_p[0, 1] - log_p[0, 0], np.log(0.01))


def test_an_explanation_adds_up_to_the_calibrated_log_odds():
    X, y = doubled_evidence()
    model = NaiveBayes(calibrate="temperature").fit(X, y)
    log_proba = model.predict_log_proba(X[:5])
    assert_allclose(
        model.explain(X[:5]).total, log_proba - log_proba[:, [0]], rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("rows_per_block", [50, 400])
def test_a_class_that_is_missing_from_a_fold_does_no_harm(rows_per_block):
    X, y = doubled_evidence()
    y = y.copy()
    y[0] = 2  # a single row: whichever fold it is in, the others have none of it
    model = NaiveBayes(calibrate="temperature", smoothing=1.0).fit(X, y)
    assert 0.5 < model.temperature_ < 5


def test_scores_without_information_are_cooled_to_the_end_and_that_is_said():
    y = np.arange(40) % 4 // 3
    with (
        pytest.warns(
            NothingToCalibrate,
            match=r"no information.*1e\+12.*prior \(the shares.*\(--set calibrate=none\)",
        ),
        pytest.warns(RedundantColumns, match="'x0' is constant"),
    ):
        model = NaiveBayes(calibrate="temperature").fit(np.ones((40, 1)), y)
    assert model.temperature_ == pytest.approx(1e12)
    assert_allclose(model.predict_proba([[1.0]]), [[0.75, 0.25]], atol=1e-5)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.arange(30.0)[:, None], np.zeros(30, dtype=int)),
        ([[0.0], [1.0]], [0, 1]),
        ([[0.0]], [0]),
        ([[0.0], [1.0], [2.0]], [0, 1, 2]),
        (np.r_[np.arange(50.0), 1e4 + np.arange(50.0)][:, None], np.repeat([0, 1], 50)),
        (np.r_[np.arange(50.0), 60 + np.arange(50.0)][:, None], np.repeat([0, 1], 50)),
    ],
    ids=["one-class", "two-rows", "one-row", "a-class-each", "no-errors", "no-errors-near"],
)
def test_where_there_is_nothing_to_calibrate_the_temperature_is_one(X, y):
    """And no one is told to raise max_iter."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = NaiveBayes(calibrate="temperature").fit(X, y)
    assert model.temperature_ == 1.0
    constant = [RedundantColumns] if len(X) == 1 else []
    assert [warning.category for warning in said] == [NothingToCalibrate, *constant]
    assert "The temperature is 1. Give more rows" in str(said[0].message)
    assert said[0].filename == __file__


def test_the_gains_are_those_of_the_definition():
    """Also of impossible classes, of equal scores and of classes that nearly tie."""
    score = np.array(
        [[0.0, -1e100, -3.0], [-1e-12, 0.0, -1e-9], [0.0, 0.0, 0.0], [-50.0, -2.0, 0.0]]
    )
    y, weight = np.array([1, 2, 0, 0]), np.array([1.0, 2.0, 0.5, 3.0])
    log_prior = np.log([[0.2, 0.3, 0.5]] * 4)
    share, betas = np.array([0.1, 0.01, 1e-6]), np.array([1e-3, 0.5, 1.0, 40.0])
    found = row_gains(ScoredRows(score, log_prior, y, weight), share, betas)
    for i, beta in enumerate(betas):
        log_posterior = CooledEvidence(1 / beta, share).log_posterior(log_prior, score)
        d = (log_posterior - log_prior)[np.arange(4), y]
        assert_allclose(found.first[i], np.dot(d, weight), rtol=1e-10)
        assert_allclose(found.second[i], np.dot(d**2, weight), rtol=1e-10)
    assert row_gains(
        ScoredRows(score[2:3], log_prior[2:3], y[2:3], weight[2:3]), share, betas
    ).first.tolist() == [0, 0, 0, 0]


@pytest.mark.long
def test_a_part_of_many_rows_is_scored_the_same_for_every_number_of_blocks(monkeypatch):
    X, y = doubled_evidence(n=6_000)
    whole = calibrate_evidence(DiagonalFamily(), 2, ArrayBlocks(Dense(X), y), Serial(), learn)
    monkeypatch.setattr(evidence, "MOST_SCORED_CELLS", 3_000)
    monkeypatch.setattr(evidence, "FEWEST_SCORED", 100)
    blocks = [ArrayBlocks(Dense(X), y, rows_per_block=rows) for rows in (6_000, 700, 7)]
    found = [calibrate_evidence(DiagonalFamily(), 2, b, Serial(), learn) for b in blocks]
    for other in found[1:]:
        assert_allclose(other.temperature, found[0].temperature, rtol=1e-9)
    assert found[0].temperature != whole.temperature
    assert_allclose(found[0].temperature, whole.temperature, rtol=0.25)  # of a quarter of the rows
    block = next(iter(blocks[0]))
    models = tuple(map(learn, block_fold_totals(DiagonalFamily(), 2, block).left_out()))
    rows = scored_rows(models, block, 6_000)
    assert 1_350 < len(rows.y) < 1_650


def test_few_rows_are_all_scored_however_many_classes():
    rng = np.random.default_rng(0)
    assert is_scored(rng.random(1000), 1000, FEWEST_SCORED).all()
    assert is_scored(rng.random(1000), 0.0, 1.0).all()


@pytest.mark.long
def test_hundreds_of_classes_are_calibrated_like_few():
    """Each row is scored against every class, which a part of the rows must bound."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 600, 4_000)
    X = rng.normal(size=(600, 3))[y] + 0.3 * rng.normal(size=(4_000, 3))
    model = NaiveBayes(calibrate="temperature").fit(np.c_[X, X], y)
    assert model.temperature_ > 1.5  # evidence is counted twice
    assert log_loss(y, model.predict_proba(np.c_[X, X])) < log_loss(
        y, NaiveBayes().fit(np.c_[X, X], y).predict_proba(np.c_[X, X])
    )
