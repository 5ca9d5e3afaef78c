"""Words and other columns: two temperatures, and numbers far away that say nothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import log_softmax
from sklearn.metrics import log_loss

import likely
import likely.runtime
from likely import NaiveBayes
from likely.calibrate import length_temperature
from likely.calibrate.evidence import WARMEST
from likely.distributions.lengths import row_lengths
from likely.errors import NothingToCalibrate, RedundantColumns

N_WORDS = 40
MIXED = {0: "gaussian", 1: "categorical"}


def documents(n, seed=0, useful=1.0, tail=0.0):
    """Bursty documents of two classes, a number and a category.

    The mean of the number differs by ``useful`` between the classes, the category says nothing, and
    a share ``tail`` of the numbers is far away in either class.
    """
    rng = np.random.default_rng([seed, n])
    centre = np.random.default_rng(7).dirichlet(np.full(N_WORDS, 1.0), 2)
    y = rng.integers(0, 2, n)
    own = rng.gamma(5 * centre[y] + 1e-3)
    words = rng.multinomial(rng.integers(3, 40, n), own / own.sum(axis=1, keepdims=True))
    number = rng.normal(useful * y, 1.0)
    number = np.where(rng.random(n) < tail, rng.normal(0, 50, n), number)
    return np.column_stack([number, rng.integers(0, 3, n), words]), y


def events(*, others=True):
    words = dict.fromkeys(range(2, N_WORDS + 2), "multinomial")
    return {**MIXED, **words} if others else words


def calibrated(**settings):
    settings = {"smoothing": "auto", "calibrate": "length", **settings}
    return NaiveBayes(events(), **settings)


def loss(model, X, y):
    return log_loss(y, model.predict_proba(X))


def words_alone(X, y):
    return NaiveBayes("multinomial", smoothing="auto", calibrate="length").fit(X[:, 2:], y)


def test_the_posterior_by_hand():
    X, y = documents(400)
    model = calibrated().fit(X, y)
    gaussian, categories, words = model.distribution_.parts
    score = words.log_score(X[:, 2:])
    others = gaussian.log_prob(X[:, :1]) + categories.log_prob(X[:, 1:2].astype(int))
    beta = 1 / (model.temperature_ * (1 + model.length_rate_ * X[:, 2:].sum(axis=1)))
    t = np.log(np.exp(others) + np.exp(model.lowest_density_))
    delta = (t - t.max(axis=1, keepdims=True)) / model.other_temperature_
    share = model.outlier_share_
    log_q = np.log((1 - share) * np.exp(delta) + share)
    expected = log_softmax(model.class_log_prior_ + beta[:, None] * score + log_q, axis=1)
    assert_allclose(model.predict_log_proba(X), expected, rtol=1e-10, atol=1e-10)
    assert_allclose(share, 1 / (model.class_count_ + 2))
    assert 0.5 < model.other_temperature_ < 2


def test_a_useful_number_is_used():
    X, y = documents(600, useful=2.0)
    new, truth = documents(2000, seed=1, useful=2.0)
    assert loss(calibrated().fit(X, y), new, truth) < 0.8 * loss(
        words_alone(X, y), new[:, 2:], truth
    )


@pytest.mark.parametrize("tail", [0.0, 0.1])
@pytest.mark.parametrize(("n", "n_draws", "cost"), [(60, 4, 0.03), (600, 1, 0.003)])
@pytest.mark.long
def test_a_useless_number_costs_little_of_few_rows_and_nothing_of_many(tail, n, n_draws, cost):
    """Of 60 rows, chance makes a useless number look useful now and then: one standard error."""
    new, truth = documents(2000, seed=1, useful=0.0, tail=tail)
    more = []
    for seed in range(10, 10 + n_draws):
        X, y = documents(n, seed=seed, useful=0.0, tail=tail)
        alone = loss(words_alone(X, y), new[:, 2:], truth)
        more.append(loss(calibrated().fit(X, y), new, truth) - alone)
    assert np.mean(more) < cost


def test_a_number_with_a_long_tail_does_not_outweigh_the_words():
    """With one temperature for all columns, it does."""
    X, y = documents(600, useful=0.5, tail=0.1)
    new, truth = documents(2000, seed=1, useful=0.5, tail=0.1)
    alone = loss(words_alone(X, y), new[:, 2:], truth)
    assert loss(calibrated().fit(X, y), new, truth) < alone + 0.003
    assert loss(calibrated(calibrate="temperature").fit(X, y), new, truth) > alone + 0.02


@pytest.mark.parametrize("price", [1e3, -1e3, 1e9])
def test_an_outlying_number_says_nothing_beside_thirty_words(price):
    X, y = documents(600, useful=2.0)
    model = calibrated().fit(X, y)
    ratio = np.ptp(model.distribution_.parts[2].log_probability, axis=0)
    sign = np.argmax(model.distribution_.parts[2].log_probability, axis=0)
    for k in (0, 1):
        best = np.argsort(np.where(sign == k, ratio, -1))[-10:]
        row = np.zeros((1, N_WORDS + 2))
        row[0, 2 + best] = 3  # thirty words of class k
        missing = row.copy()
        missing[0, 0] = np.nan
        row[0, 0] = price
        assert model.predict(row) == [k]
        assert_allclose(model.predict_proba(row), model.predict_proba(missing), atol=0.02)
    plain = NaiveBayes(events(), smoothing="auto").fit(X, y)
    sure = plain.predict_proba(row)
    assert sure.max() > 1 - 1e-9  # what one number did


def test_contributions_add_up_to_the_log_odds():
    X, y = documents(300, tail=0.05)
    model = calibrated().fit(X, y)
    X[3, 0], X[4, 0] = np.nan, 1e6
    odds = model.predict_log_proba(X[:20])
    assert_allclose(model.explain(X[:20]).total, odds - odds[:, [0]], rtol=1e-9, atol=1e-9)


def test_columns_without_any_information_leave_the_prior_and_that_is_said():
    y = np.arange(80) % 4 // 3
    X = np.ones((80, N_WORDS + 2))
    with (
        pytest.warns(NothingToCalibrate, match="no information"),
        pytest.warns(RedundantColumns, match="'x0' is constant"),
    ):
        model = calibrated().fit(X, y)
    assert model.temperature_ == model.other_temperature_ == WARMEST
    assert_allclose(model.predict_proba(X[:1]), [[0.75, 0.25]], atol=1e-6)


def test_words_without_information_leave_the_other_columns():
    X, y = documents(600, useful=3.0)
    X[:, 2:] = 1.0
    model = calibrated().fit(X, y)
    assert model.temperature_ == WARMEST
    assert model.score(X, y) > 0.9


def test_rows_of_words_alone_have_one_temperature():
    X, y = documents(300)
    model = words_alone(X, y)
    assert model.other_temperature_ is None
    assert model.lowest_density_ is None


def test_presence_beside_words_is_not_a_word():
    """A Boolean column does not make a document longer."""
    X, y = documents(300)
    X = np.column_stack([X[:, 2:], np.arange(300) % 2])
    names = {**dict.fromkeys(range(N_WORDS), "multinomial"), N_WORDS: "bernoulli"}
    model = NaiveBayes(names, smoothing="auto", calibrate="length").fit(X, y)
    assert model.other_temperature_ == WARMEST
    assert_allclose(row_lengths(model.family_, X), X[:, :N_WORDS].sum(axis=1))


def test_saved_models_and_the_runtime_give_the_same_answers(tmp_path):
    import pyarrow as pa

    X, y = documents(300, useful=2.0)
    letters = [chr(97 + j) * 3 for j in range(N_WORDS)]
    texts = [" ".join(np.repeat(letters, row.astype(int))) for row in X[:, 2:]]
    table = pa.table({"text": texts, "price": X[:, 0], "kind": X[:, 1].astype(int).astype(str)})
    settings = {"smoothing": "auto", "calibrate": "length"}
    rows = likely.dataset(table, y.astype(str), text=["text"]).with_task()
    model = rows.fit(likely.Prepared(NaiveBayes(**settings)))
    likely.save(model, tmp_path / "m.likely")
    expected = model.predict_proba(table)
    assert_allclose(likely.load(tmp_path / "m.likely").predict_proba(table), expected, rtol=1e-12)
    answers = likely.runtime.load(tmp_path / "m.likely").predict_proba(table.to_pylist())
    assert_allclose(answers, expected, rtol=1e-9)
    assert 0.1 < model.model_.other_temperature_ < WARMEST
    far = table.set_column(1, "price", pa.array([1e9] * 300))
    answers = likely.runtime.load(tmp_path / "m.likely").predict_proba(far.to_pylist())
    assert_allclose(answers, model.predict_proba(far), rtol=1e-9)


def test_a_gain_that_is_the_same_in_every_row_is_no_chance(monkeypatch):
    """The standard error of a constant is 0, for any number of rows."""
    gains = {"without": np.zeros(2), "same": np.ones(2), "either way": np.array([2.0, -1.0])}
    monkeypatch.setattr(length_temperature, "_given", lambda rows, others: others)
    monkeypatch.setattr(
        length_temperature, "_log_probability", lambda rows: gains.get(rows, gains["without"])
    )

    class Rows(str):
        weight = np.ones(2)

    assert length_temperature._is_gain(Rows("without"), Rows("same"))
    assert not length_temperature._is_gain(Rows("without"), Rows("either way"))
