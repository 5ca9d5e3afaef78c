"""Naive Bayes: Bayes' rule by brute force, evidence, missing and unknown things, sampling."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import gammaln, logsumexp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score

from likely import Discretizer, DiscriminantAnalysis, NaiveBayes, load, save
from likely.distributions import (
    Bernoulli,
    CategoricalFamily,
    DiagonalFamily,
    Dirichlet,
    GaussianPrior,
    Poisson,
)
from likely.errors import InvalidInput, RedundantColumns, UnseenCategories
from tests.fits import binary, codes, counts, half_labelled, mixed, numbers


def rng(seed=0):
    return np.random.default_rng(seed)


def test_the_posterior_equals_the_joint_table():
    """NB-6 by brute force over all 2¹⁰ rows."""
    y = rng().integers(0, 3, 50)
    X = (rng(1).random((50, 10)) < 0.3 + 0.2 * y[:, None]).astype(float)
    model = NaiveBayes("bernoulli").fit(X, y)
    table = np.array(list(itertools.product([0.0, 1.0], repeat=10)))
    theta = model.distribution_.parts[0].probability
    joint = np.exp(model.class_log_prior_) * np.prod(
        np.where(table[:, None, :] == 1, theta, 1 - theta), axis=2
    )
    assert_allclose(joint.sum(), 1.0)
    assert_allclose(model.predict_proba(table), joint / joint.sum(axis=1, keepdims=True))
    assert_allclose(np.exp(model.score_samples(table)), joint.sum(axis=1))
    assert_array_equal(model.predict(table), joint.argmax(axis=1))


def test_the_likelihood_equals_a_triple_loop():
    """NB-2 and NB-3, and its terms do not depend on the order of rows or features."""
    X, y = binary(rng(), 40)
    model = NaiveBayes("bernoulli").fit(X, y)
    theta, total = model.distribution_.parts[0].probability, 0.0
    for i in range(40):
        total += model.class_log_prior_[y[i]]
        for d in range(4):
            p = theta[y[i], d]
            total += np.log(p if X[i, d] else 1 - p)
    assert_allclose(model.log_likelihood(X, y), total, rtol=1e-12)
    assert_allclose(model.log_likelihoods(X, y).sum(), total)
    swapped = NaiveBayes("bernoulli").fit(X[::-1, ::-1], y[::-1])
    assert_allclose(swapped.log_likelihood(X[::-1, ::-1], y[::-1]), total)


def test_logs_stay_finite_where_the_product_underflows():
    """EST-1 with N = 10⁵."""
    X, y = binary(rng(), 100_000)
    model = NaiveBayes("bernoulli").fit(X, y)
    total = model.log_likelihood(X, y)
    assert np.isfinite(total)
    assert np.exp(total) == 0.0


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csr_array.toarray])
@pytest.mark.parametrize("event", ["bernoulli", "multinomial", "complement", "poisson"])
def test_fifty_thousand_features_give_finite_posteriors(event, layout):
    """NB-6 for a wide table, sparse and dense."""
    n, d = 12, 50_000
    X = sparse.random_array((n, d), density=0.01, rng=rng(), format="csr")
    X.data[:] = 1.0
    y = np.arange(n) % 3
    log_proba = NaiveBayes(event).fit(layout(X), y).predict_log_proba(layout(X))
    assert np.isfinite(log_proba).all()
    assert_allclose(logsumexp(log_proba, axis=1), 0.0, rtol=1e-9, atol=1e-9)
    lowest = {"bernoulli": -487.63, "multinomial": -381.46, "complement": -373.79}
    assert_allclose(log_proba.min(), lowest.get(event, -1344.93), atol=0.01)


def test_fifty_thousand_features_have_the_posterior_of_their_sums_of_logs():
    """NB-6: Σ_d ln p(x_d | k) + ln π_k, written out with NumPy."""
    X = (np.random.default_rng(1).random((12, 50_000)) < 0.01).astype(float)
    y = np.arange(12) % 3
    theta = np.stack([(1 + X[y == k].sum(axis=0)) / 6 for k in range(3)])  # of 4 rows, smoothed
    joint = np.log(1 / 3) + X @ np.log(theta).T + (1 - X) @ np.log1p(-theta).T
    expected = joint - logsumexp(joint, axis=1)[:, None]
    found = NaiveBayes("bernoulli").fit(X, y).predict_log_proba(X)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert found.min() < -400  # no product of probabilities is above 0 there


def test_features_without_information_give_back_the_prior():
    y = np.array([0, 0, 0, 1])
    model = NaiveBayes("bernoulli").fit(np.ones((4, 3)), y)
    uniform = NaiveBayes("bernoulli", smoothing=1e12).fit(np.ones((4, 3)), y)
    assert_allclose(uniform.predict_proba([[1, 0, 1]]), [[0.75, 0.25]])
    missing = np.full((1, 3), np.nan)
    assert_allclose(model.predict_proba(missing), [[0.75, 0.25]])


def test_an_absent_word_counts_for_the_bernoulli_and_not_for_the_multinomial():
    X = np.array([[1, 1], [1, 1], [1, 0], [1, 0]])
    y = [0, 0, 1, 1]
    document = [[1, 0]]
    bernoulli = NaiveBayes("bernoulli").fit(X, y).predict_proba(document)
    multinomial = NaiveBayes("multinomial").fit(X, y).predict_proba(document)
    assert abs(bernoulli[0, 1] - multinomial[0, 1]) > 0.1


def test_the_gradient_is_the_derivative_and_zero_at_the_estimate():
    """NB-4 against differences of the likelihood."""
    X, y = binary(rng(), 60)
    model = NaiveBayes("bernoulli", smoothing=0.7).fit(X, y)
    theta = model.distribution_.parts[0].probability

    def log_likelihood(flat):
        p = flat.reshape(theta.shape)[y]
        return np.sum(X * np.log(p) + (1 - X) * np.log(1 - p))

    numeric = approx_fprime(theta.ravel(), log_likelihood, 1e-7).reshape(theta.shape)
    assert_allclose(model.likelihood_gradient(X, y), numeric, rtol=1e-4, atol=1e-3)
    estimate = NaiveBayes("bernoulli", smoothing=0.0).fit(X, y)
    assert_allclose(estimate.likelihood_gradient(X, y), 0.0, rtol=1e-10, atol=1e-10)
    with pytest.raises(InvalidInput, match=r"all Bernoulli.*DiagonalGaussian.*event='bernoulli'"):
        NaiveBayes().fit(X, y).likelihood_gradient(X, y)


LINEAR = {"bernoulli": binary, "multinomial": counts, "complement": counts, "poisson": counts}


@pytest.mark.parametrize("event", LINEAR)
def test_the_linear_form_is_the_log_joint(event):
    """NB-12: up to a term that the classes share, ln B(x) or −Σ ln x!."""
    X, y = LINEAR[event](rng(), 60)
    model = NaiveBayes(event).fit(X, y)
    scores = X @ model.class_coef_.T + model.class_intercept_
    expected = model.class_log_prior_ + model.distribution_.log_score(X)
    assert_allclose(scores, expected, rtol=1e-10, atol=1e-10)
    if event == "complement":
        with pytest.raises(InvalidInput, match=r"not a density .* Use the multinomial"):
            model.predict_joint_log_proba(X)
    else:
        shared = {
            "bernoulli": 0.0,
            "multinomial": gammaln(X.sum(axis=1) + 1) - gammaln(X + 1).sum(axis=1),
            "poisson": -gammaln(X + 1).sum(axis=1),
        }[event]
        joint = model.predict_joint_log_proba(X)
        assert_allclose(joint.T, scores.T + shared, rtol=1e-10, atol=1e-10)
    other = NaiveBayes().fit(*numbers(rng(), 30))
    assert not hasattr(other, "class_coef_")


def test_log_odds_of_families_are_linear_in_their_statistics():
    """NB-15: a Poisson boundary is linear in x, a Gaussian one quadratic."""
    line = np.linspace(0, 20, 41)[:, None]
    counted = NaiveBayes("poisson").fit(*[a[:60] for a in counts(rng(), 90)])
    X = np.hstack([line, np.zeros((41, 3))]).round()
    odds = np.diff(counted.predict_log_proba(np.unique(X, axis=0)), axis=1)[:, 0]
    assert_allclose(np.diff(odds, 2), 0.0, rtol=1e-9, atol=1e-9)
    X, y = numbers(rng(), 60)
    curved = NaiveBayes().fit(X[:, :1], y)
    odds = np.diff(curved.predict_log_proba(line), axis=1)[:, 0]
    assert np.abs(np.diff(odds, 2)).min() > 1e-6
    assert_allclose(np.diff(odds, 3), 0.0, atol=1e-7)


def test_missing_cells_are_summed_out_of_fit_and_prediction():
    X, y = numbers(rng(), 60)
    X[::4, 0] = np.nan
    model = NaiveBayes(variance_floor=0.0).fit(X, y)
    known = ~np.isnan(X[:, 0])
    for k in range(3):
        own = X[known & (y == k), 0]
        part = model.distribution_.parts[0]
        assert_allclose([part.mean[k, 0], part.variance[k, 0]], [own.mean(), own.var()])
    without = NaiveBayes(variance_floor=0.0).fit(X[:, 1:], y)
    hidden = X.copy()
    hidden[:, 0] = np.nan
    assert_allclose(model.predict_proba(hidden), without.predict_proba(X[:, 1:]), rtol=1e-9)


def test_categories_never_seen_carry_no_evidence_and_one_warning_says_so():
    frame = pd.DataFrame({"colour": list("rgbrgb"), "size": list("sslsll")})
    y = [0, 1, 0, 1, 1, 0]
    model = NaiveBayes().fit(frame, y)
    new = pd.DataFrame({"colour": ["violet", "violet", "r"], "size": ["s", "l", "tiny"]})
    with pytest.warns(UnseenCategories, match="colour='violet', size='tiny'") as caught:
        proba = model.predict_proba(new)
    assert len(caught) == 1
    only_size = NaiveBayes().fit(frame[["size"]], y).predict_proba(new[["size"]].iloc[:2])
    assert_allclose(proba[:2], only_size)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_proba(frame)


def test_automatic_smoothing_beats_one_with_many_classes():
    """Held-out log loss on 40 classes with peaked words."""
    r = rng(3)
    phi = r.dirichlet(0.05 * np.ones(200), size=40)
    y = r.integers(0, 40, 400)
    X = np.array([r.multinomial(30, phi[k]) for k in y])
    held = r.integers(0, 40, 400)
    new = np.array([r.multinomial(30, phi[k]) for k in held])
    log_loss = {}
    for smoothing in ("auto", 1.0):
        model = NaiveBayes("multinomial", smoothing=smoothing).fit(X, y)
        present = np.isin(held, model.classes_)
        columns = np.searchsorted(model.classes_, held[present])
        rows = np.arange(present.sum())
        log_loss[smoothing] = -model.predict_log_proba(new[present])[rows, columns].mean()
    assert log_loss["auto"] < log_loss[1.0]
    assert (NaiveBayes("multinomial", smoothing="auto").fit(X, y).smoothing_ < 0.5).all()


def test_smoothing_per_column_and_its_limits():
    """EST-4: α/(αV + λ) for an unseen value, uniform without rows, counts at 0."""
    X, y = codes(rng(), 60)
    model = NaiveBayes("categorical", smoothing=np.array([0.0, 2.0])).fit(X, y)
    shares = [np.bincount(X[y == k, 0], minlength=3) / np.sum(y == k) for k in range(3)]
    stacked = np.exp(model.distribution_.parts[0].log_probability)[:, :3]
    assert_allclose(stacked, shares, rtol=1e-12, atol=1e-12)
    counted = NaiveBayes("multinomial", smoothing=0.5).fit(np.array([[3, 0, 1], [0, 0, 0]]), [0, 1])
    assert_allclose(counted.distribution_.parts[0].probability[0, 1], 0.5 / (0.5 * 3 + 4))
    assert_allclose(counted.distribution_.parts[0].probability[1], 1 / 3)


def test_priors_are_estimated_uniform_or_given():
    X, y = numbers(rng(), 60)
    y[:20] = 0
    estimated = NaiveBayes().fit(X, y)
    assert_allclose(np.exp(estimated.class_log_prior_), np.bincount(y) / 60)
    multiplier = estimated.class_count_ / np.exp(estimated.class_log_prior_)
    assert_allclose(multiplier, 60, rtol=1e-12)  # EST-2: λ = N for every class
    assert_allclose(np.exp(NaiveBayes(prior="uniform").fit(X, y).class_log_prior_), 1 / 3)
    given = NaiveBayes(prior=[0.1, 0.2, 0.7]).fit(X, y)
    assert_allclose(np.exp(given.class_log_prior_), [0.1, 0.2, 0.7])


def gaussian_variance(model):
    return model.distribution_.parts[0].variance


def test_the_variance_floor_is_a_maximum_not_a_sum():
    x = np.r_[np.zeros(50), rng().normal(size=50)]
    X = np.column_stack([x, np.tile([0.0, 10.0], 50)])
    variance = gaussian_variance(NaiveBayes(variance_floor=0.01).fit(X, np.repeat([0, 1], 50)))
    assert_allclose(variance[:, 0], [0.01 * x.var(), x[50:].var()], rtol=1e-12)
    assert_allclose(variance[:, 1], 25.0, rtol=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1 / 255, 1e-9, 1e9])
@pytest.mark.parametrize("offset", [0.0, 7.0])
def test_a_class_varies_at_least_as_much_as_rounding_to_the_unit_of_a_column(unit, offset):
    X = unit * (offset + np.array([[0], [0], [0], [0], [1], [3]]))
    variance = gaussian_variance(NaiveBayes().fit(X, [0, 0, 1, 1, 1, 1]))
    assert_allclose(variance[:, 0], [unit**2 / 12, 1.5 * unit**2], rtol=1e-9)
    assert_array_equal(
        gaussian_variance(NaiveBayes(variance_floor=0.0).fit(X, [0, 0] + [1] * 4))[0], 1e-300
    )


@pytest.mark.filterwarnings("ignore::likely.errors.RedundantColumns")  # pixels that are always 0
def test_digits_are_read_as_well_as_scikit_learn_asks_of_its_own():
    """The thresholds of ``test_check_accuracy_on_digits``."""
    X, y = load_digits(return_X_y=True)
    assert cross_val_score(NaiveBayes(), X, y, cv=10).mean() > 0.86
    some = np.isin(y, [3, 8])
    assert cross_val_score(NaiveBayes(), X[some], y[some], cv=10).mean() > 0.92


def test_affine_changes_of_columns_do_not_change_the_posterior():
    X, y = load_digits(return_X_y=True)
    X = X[:, X.std(axis=0) > 0]
    scale, offset = rng(1).uniform(0.01, 50, X.shape[1]), rng(2).normal(size=X.shape[1])
    plain, moved = (NaiveBayes().fit(rows, y) for rows in (X, X * scale + offset))
    assert_allclose(
        moved.predict_log_proba(X * scale + offset),
        plain.predict_log_proba(X),
        rtol=1e-7,
        atol=1e-7,
    )


def test_the_unit_of_a_column_is_that_of_all_batches():
    """No batch alone has two neighbouring values; a weight of 0 is no row."""
    x, y = np.array([0.0, 4, 0, 5, 8, 10, 4.5]), np.array([0, 1, 0, 1, 1, 1, 1])
    weight = np.r_[np.ones(6), 0.0]
    whole = NaiveBayes().fit(x[:, None], y, sample_weight=weight)
    model = NaiveBayes()
    for rows in (slice(0, 2), slice(2, 4), slice(4, 7)):
        model.partial_fit(x[rows, None], y[rows], classes=[0, 1], sample_weight=weight[rows])
    assert_allclose(gaussian_variance(model)[0], 1 / 12, rtol=1e-12)
    assert_allclose(gaussian_variance(model), gaussian_variance(whole), rtol=1e-12)


@pytest.mark.parametrize("event", ["gaussian", "laplace"])
def test_the_units_of_one_column_do_not_matter_to_another(event):
    X, y = numbers(rng(2), 90)
    grown = X * np.r_[1e9, np.ones(X.shape[1] - 1)]
    fits = [NaiveBayes(event).fit(values, y).predict_proba(values) for values in (X, grown)]
    assert_allclose(fits[1], fits[0], rtol=1e-6)


@pytest.mark.parametrize("event", ["gaussian", "laplace"])
@pytest.mark.parametrize("value", [0.1, np.nan])
def test_a_column_that_never_varies_is_no_evidence(event, value):
    X, y = numbers(rng(3), 60)
    wider = np.column_stack([X, np.full(60, value)])
    with pytest.warns(RedundantColumns, match=f"Column 'x{X.shape[1]}' is constant"):
        model = NaiveBayes(event).fit(wider, y)
    plain = NaiveBayes(event).fit(X, y)
    wider[:, -1] = 5.0
    assert_allclose(
        model.predict_joint_log_proba(wider), plain.predict_joint_log_proba(X), rtol=1e-12
    )
    assert model.n_parameters() == plain.n_parameters()


def test_a_model_of_a_constant_column_is_saved_and_loaded(tmp_path):
    X, y = numbers(rng(3), 60)
    wider = np.column_stack([X, np.full(60, 0.1)])
    for model in (
        NaiveBayes(),
        NaiveBayes("laplace"),
        DiscriminantAnalysis(),
        DiscriminantAnalysis("diagonal"),
    ):
        with pytest.warns(RedundantColumns):
            model.fit(wider, y)
        save(model, tmp_path / "it")
        back = load(tmp_path / "it")
        assert_array_equal(back.predict_proba(wider), model.predict_proba(wider))


def test_unlabelled_rows_help():
    X, y = numbers(rng(4), 300)
    few = np.where(np.arange(300) < 9, y, -1)
    some = NaiveBayes().fit(X[:9], y[:9])
    more = NaiveBayes(unlabelled=-1).fit(X, few)
    assert_array_equal(more.classes_, [0, 1, 2])
    assert more.log_likelihood(X) > some.log_likelihood(X)
    assert_allclose(more.class_count_.sum(), 300)
    assert more.solution_.converged
    assert more.n_iter_ == more.solution_.n_iter > 1


@pytest.mark.parametrize("unknown", [np.nan, "?"])
def test_what_means_unlabelled_is_the_users_choice(unknown):
    X, y = half_labelled(rng(), 60)
    reference = NaiveBayes(unlabelled=-1).fit(X, y)
    labels = [
        unknown if code < 0 else ("abc"[code] if unknown == "?" else float(code)) for code in y
    ]
    model = NaiveBayes(unlabelled=unknown).fit(X, labels)
    assert len(model.classes_) == 3
    assert_allclose(model.predict_proba(X), reference.predict_proba(X))


def test_bins_equal_a_discretizer_and_categories():
    X, y = numbers(rng(), 80)
    inside = NaiveBayes(discretize=Discretizer("uniform", n_bins=4)).fit(X, y)
    cutter = Discretizer("uniform", n_bins=4).fit(X)
    declared = NaiveBayes(CategoricalFamily((4,))).fit(cutter.transform(X), y)
    assert_allclose(inside.predict_proba(X), declared.predict_proba(cutter.transform(X)))
    supervised = NaiveBayes(discretize="entropy").fit(X, y)
    assert supervised.score(X, y) > 0.8
    drawn, labels = inside.sample(50, random_state=0)
    assert drawn.shape == (50, 3)
    assert np.isin(labels, [0, 1, 2]).all()


def test_events_may_differ_by_column():
    frame, y = mixed(rng(), 120)
    model = NaiveBayes({"rooms": "poisson", "size": DiagonalFamily(floor=0.0)}).fit(frame, y)
    alone = {
        "size": NaiveBayes(DiagonalFamily(floor=0.0)),
        "colour": NaiveBayes("categorical"),
        "sold": NaiveBayes(Bernoulli),
        "rooms": NaiveBayes(Poisson),
    }
    total = model.class_log_prior_.copy()[None, :]
    for name, one in alone.items():
        joint = one.fit(frame[[name]], y).predict_joint_log_proba(frame[[name]])
        total = total + joint - one.class_log_prior_
    expected = total - logsumexp(total, axis=1, keepdims=True)
    assert_allclose(model.predict_log_proba(frame), expected, rtol=1e-9, atol=1e-9)


SAMPLED = {"bernoulli": binary, "multinomial": counts, "poisson": counts, "gaussian": numbers}


@pytest.mark.parametrize("event", SAMPLED)
def test_sampling_and_refitting_recovers_the_parameters(event):
    """NB-17: within 4 standard errors at 10⁵ draws; the same seed, the same data."""
    truth = NaiveBayes(event).fit(*SAMPLED[event](rng(), 90))
    X, y = truth.sample(100_000, random_state=1)
    again = truth.sample(100_000, random_state=1)
    assert_array_equal(np.asarray(X), np.asarray(again[0]))
    share = np.exp(truth.class_log_prior_)
    drawn = np.bincount(y) / len(y)
    assert_allclose(drawn, share, atol=4 * np.sqrt(0.25 / len(y)))
    refit = NaiveBayes(event).fit(X, y).distribution_.parts[0]
    part, n = truth.distribution_.parts[0], np.bincount(y)[:, None]
    if event == "gaussian":
        assert (np.abs(refit.mean - part.mean) < 4 * np.sqrt(part.variance / n)).all()
        error = part.variance * np.sqrt(2 / n)
        assert (np.abs(refit.variance - part.variance) < 4 * error).all()
    elif event == "poisson":
        assert (np.abs(refit.rate - part.rate) < 4 * np.sqrt(part.rate / n)).all()
    else:
        p = part.probability
        throws = 100 * n if event == "multinomial" else n
        assert (np.abs(refit.probability - p) < 4 * np.sqrt(p * (1 - p) / throws)).all()


def test_a_sample_of_a_frame_is_a_frame():
    frame, y = mixed(rng(), 90)
    model = NaiveBayes({"rooms": "poisson"}).fit(frame, np.array(["a", "b", "c"])[y])
    drawn, labels = model.sample(20, random_state=0)
    assert isinstance(drawn, pd.DataFrame)
    assert list(drawn.columns) == list(frame.columns)
    assert set(drawn["colour"]) <= {"red", "green", "blue"}
    assert set(labels) <= {"a", "b", "c"}
    model.predict(drawn)


def test_counts_of_parameters_by_family():
    """NB-13: K(V − 1) for counts; sizes minus constraints for categories; 2KD for Gaussians."""
    X, y = counts(rng(), 60)
    assert NaiveBayes("multinomial").fit(X, y).n_parameters() == 2 + 3 * 3
    assert NaiveBayes().fit(X, y).n_parameters() == 2 + 2 * 3 * 4
    X, y = codes(rng(), 60)
    model = NaiveBayes("categorical").fit(X, y)
    assert model.n_parameters() == 2 + 3 * (2 + 3)
    assert model.n_parameters(naive=False) == 2 + 3 * (3 * 4 - 1)


def test_partial_fit_refuses_what_it_cannot_do_exactly():
    X, y = numbers(rng(), 30)
    with pytest.raises(InvalidInput, match=r"unlabelled=-1; set unlabelled=None"):
        NaiveBayes(unlabelled=-1).partial_fit(X, y, [0, 1, 2])
    with pytest.raises(InvalidInput, match=r"discretize='quantile'"):
        NaiveBayes(discretize="quantile").partial_fit(X, y, [0, 1, 2])
    with pytest.raises(InvalidInput, match=r"classes must be passed on the first call"):
        NaiveBayes().partial_fit(X, y)
    model = NaiveBayes().partial_fit(X, y, [0, 1, 2])
    with pytest.raises(InvalidInput, match=r"is not the same as on last call"):
        model.partial_fit(X, y, [0, 1])
    with pytest.raises(InvalidInput, match=r"label 7 in y does not exist in the initial classes"):
        model.partial_fit(X[:1], [7])


def test_equal_rates_are_no_evidence_however_large_they_are():
    """Three rows of 1,000 against 300 of them: the default prior has the column's own mean."""
    X, y = np.full((303, 1), 1000), np.repeat([0, 1], [3, 300])
    for smoothing in (1.0, 5.0, "auto"):
        model = NaiveBayes(event="poisson", prior="uniform", smoothing=smoothing).fit(X, y)
        assert_allclose(model.predict_proba([[1000], [900]]), 0.5, rtol=1e-9, atol=1e-9)


def test_smoothing_pulls_rare_and_frequent_counts_alike():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.poisson(np.where(y[:, None] == 1, [2.0, 200.0], [1.0, 100.0]))
    rate, raw = (
        NaiveBayes(event="poisson", smoothing=s).fit(X, y).distribution_.parts[0].rate
        for s in (20.0, 0.0)
    )
    assert_allclose(rate, (raw + X.mean(axis=0)) / 2)


@pytest.mark.parametrize("event", ["gaussian", "exponential", "laplace"])
@pytest.mark.parametrize("unit", [1e-6, 1e3])
def test_units_do_not_matter(event, unit):
    """Nor for a class that no row has, or in which a column is constant."""
    rng = np.random.default_rng(0)
    X, y = rng.exponential(2.0, (60, 3)), np.arange(60) % 3
    X[y == 1, 0] = 0.0
    new = rng.exponential(2.0, (10, 3))
    here, there = (
        NaiveBayes(event=event, prior="uniform").partial_fit(X * u, y, classes=[0, 1, 2, 3])
        for u in (1.0, unit)
    )
    expected = here.predict_proba(new)
    assert_allclose(there.predict_proba(new * unit), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"max_iter": -1}, "max_iter.*found -1"), ({"tol": "small"}, "tol.*found 'small'")],
)
def test_what_em_cannot_stop_by_is_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        NaiveBayes(unlabelled=-1, **arguments).fit(*half_labelled(rng(), 30))


def test_no_step_of_em_leaves_what_the_labelled_rows_say():
    X, y = half_labelled(rng(), 60)
    with pytest.warns(UserWarning, match="max_iter=0 was reached"):
        model = NaiveBayes(unlabelled=-1, max_iter=0).fit(X, y)
    alone = NaiveBayes().fit(X[y != -1], y[y != -1])
    assert_allclose(model.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize("event", ["bernoulli", "multinomial", "complement", "poisson"])
def test_counts_of_features_and_classes_are_there(event):
    """NB-5: N_k and N_kj, by weight, and after batches."""
    X, y = (binary if event == "bernoulli" else counts)(rng(), 60)
    weight = rng(1).integers(0, 3, 60).astype(float)
    expected = np.stack([weight[y == k] @ X[y == k] for k in range(3)])
    model = NaiveBayes(event).fit(X, y, sample_weight=weight)
    assert_allclose(model.class_count_, np.bincount(y, weight))
    assert_allclose(model.feature_count_, expected)
    batches = NaiveBayes(event)
    for rows in (slice(0, 25), slice(25, 60)):
        batches.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=weight[rows])
    assert_allclose(batches.feature_count_, expected)


def test_counts_are_in_the_order_of_the_columns_and_only_of_counts():
    frame = pd.DataFrame({"a": [1, 0, 1], "b": [3, 4, 5], "c": [0, 1, 1]})
    events = {"a": "bernoulli", "b": "poisson", "c": "bernoulli"}
    model = NaiveBayes(events).fit(frame, [0, 0, 1])
    assert_allclose(model.feature_count_, [[1, 7, 1], [1, 5, 1]])
    assert not hasattr(NaiveBayes().fit(frame, [0, 0, 1]), "feature_count_")


def test_unlabelled_rows_add_what_is_expected_of_them():
    X, y = binary(rng(), 60)
    model = NaiveBayes("bernoulli", unlabelled=-1).fit(X, np.where(np.arange(60) % 2, y, -1))
    assert_allclose(model.feature_count_.sum(axis=0), X.sum(axis=0))
    assert_allclose(model.class_count_.sum(), 60)


def test_one_hot_rows_are_labels_of_the_likelihood():
    """NB-2, per example and in total."""
    X, y = mixed(rng(), 40)
    model = NaiveBayes().fit(X, y)
    one_hot = (np.asarray(y)[:, None] == model.classes_).astype(int)
    assert_allclose(model.log_likelihoods(X, one_hot), model.log_likelihoods(X, y))
    assert_allclose(model.log_likelihood(X, one_hot.astype(bool)), model.log_likelihood(X, y))
    with pytest.raises(InvalidInput, match=r"shape \(40, 2\); expected \(40, 3\)"):
        model.log_likelihood(X, one_hot[:, :2])
    with pytest.raises(InvalidInput, match=r"Row 3 of y .*1 in sum"):
        model.log_likelihood(X, np.where(np.arange(40)[:, None] == 3, 0.5, one_hot))
    soft = rng().dirichlet(np.ones(3), 40)
    expected = (soft * model.predict_joint_log_proba(X)).sum(axis=1)
    assert_allclose(model.log_likelihoods(X, soft), expected)


SOFT_MODELS = {
    "mixed": (NaiveBayes(), mixed),
    "bernoulli": (NaiveBayes("bernoulli", smoothing=0.5), binary),
    "categorical": (NaiveBayes("categorical"), codes),
    "bins": (NaiveBayes(discretize="quantile"), numbers),
    "tied": (DiscriminantAnalysis(), numbers),
    "full": (DiscriminantAnalysis("full", ddof=1), numbers),
}


@pytest.mark.parametrize("name", SOFT_MODELS)
def test_one_hot_rows_are_labels_of_the_fit(name):
    """NB-2: T in place of the labels gives the same model."""
    model, draw = SOFT_MODELS[name]
    X, y = draw(rng(), 60)
    y = np.unique(y, return_inverse=True)[1]
    weight = rng().uniform(0.5, 2, 60)
    plain = clone(model).fit(X, y, weight)
    one_hot = clone(model).fit(X, np.eye(y.max() + 1)[y], weight)
    assert_array_equal(one_hot.classes_, plain.classes_)
    assert_allclose(
        one_hot.predict_log_proba(X), plain.predict_log_proba(X), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("name", SOFT_MODELS)
def test_soft_labels_are_weighted_rows_of_every_class(name):
    model, draw = SOFT_MODELS[name]
    X, _ = draw(rng(), 60)
    soft, weight = rng().dirichlet(np.ones(3), 60), rng().integers(1, 3, 60)
    soft[0] = [1.0, 0.0, 0.0]
    found = clone(model).fit(X, soft, weight)
    assert_array_equal(found.classes_, np.arange(3))
    assert_allclose(found.class_count_, weight @ soft)
    stacked = pd.concat([X] * 3) if isinstance(X, pd.DataFrame) else np.vstack([X] * 3)
    expanded = clone(model).fit(stacked, np.repeat(np.arange(3), 60), np.ravel(weight * soft.T))
    assert_allclose(found.predict_log_proba(X), expanded.predict_log_proba(X), rtol=1e-9, atol=1e-9)


def test_soft_labels_that_cannot_be_are_refused():
    X, _ = numbers(rng(), 30)
    soft = rng().dirichlet(np.ones(3), 30)
    with pytest.raises(InvalidInput, match="Row 0 of y"):
        NaiveBayes().fit(X, 2 * soft)
    with pytest.raises(InvalidInput, match="Column 1 of y is 0"):
        NaiveBayes().fit(
            X, np.insert(soft[:, :2] / soft[:, :2].sum(1, keepdims=True), 1, 0, axis=1)
        )
    with pytest.raises(InvalidInput, match="one class for each row"):
        NaiveBayes(calibrate="temperature").fit(X, soft)
    with pytest.raises(InvalidInput):
        NaiveBayes().fit(X, soft[:-1])


def test_a_gaussian_prior_is_imagined_rows():
    """EST-7: κ rows at the column's mean and ν with its variance; a flat one changes nothing."""
    X, y = numbers(rng(), 30)
    plain = NaiveBayes(variance_floor=0.0).fit(X, y).distribution_.parts[0]
    flat = NaiveBayes(variance_floor=0.0, gaussian_prior=GaussianPrior()).fit(X, y)
    assert_allclose(flat.distribution_.parts[0].mean, plain.mean, rtol=1e-12)
    assert_allclose(flat.distribution_.parts[0].variance, plain.variance, rtol=1e-12)
    prior = GaussianPrior(mean=2.0, variance=5.0)
    member = NaiveBayes(variance_floor=0.0, gaussian_prior=prior).fit(X, y).distribution_.parts[0]
    for k in range(3):
        rows = np.concatenate([X[y == k], [X.mean(axis=0)] * 2])
        assert_allclose(member.mean[k], rows.mean(axis=0), rtol=1e-10)
        scatter = len(rows) * rows.var(axis=0) + 5 * X.var(axis=0)
        assert_allclose(member.variance[k], scatter / (len(rows) + 5), rtol=1e-10)


def test_priors_shrink_a_class_of_few_rows_and_can_be_saved(tmp_path):
    X, y = numbers(rng(), 30)
    few = np.r_[np.flatnonzero(y == 0)[:2], np.flatnonzero(y > 0)]
    model = NaiveBayes(gaussian_prior=GaussianPrior(1.0, 1.0), prior=Dirichlet(2.0))
    model.fit(X[few], y[few])
    expected = np.bincount(y[few]) + 1.0
    assert_allclose(np.exp(model.class_log_prior_), expected / expected.sum())
    save(model, tmp_path / "model.likely")
    again = load(tmp_path / "model.likely")
    assert again.prior == Dirichlet(2.0)
    assert_allclose(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("unlabelled", [None, -1])
def test_a_strong_dirichlet_prior_decides_the_shares(unlabelled):
    X, y = half_labelled(rng(), 90)
    if unlabelled is None:
        X, y = X[y >= 0], y[y >= 0]
    model = NaiveBayes(prior=Dirichlet((1e6, 2e6, 1e6)), unlabelled=unlabelled).fit(X, y)
    assert_allclose(np.exp(model.class_log_prior_), [0.25, 0.5, 0.25], atol=1e-3)
    if unlabelled is not None:
        assert (np.diff(model.solution_.trace) <= 1e-6).all()  # the prior is in the objective


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (lambda: Dirichlet(0.5), "1 or more.*found 0.5"),
        (lambda: Dirichlet((2.0, np.inf)), "finite"),
        (lambda: GaussianPrior(-1.0), "mean of a GaussianPrior.*found -1"),
        (
            lambda: NaiveBayes(prior=Dirichlet((2.0, 2.0))).fit(*numbers(rng(), 30)),
            "2 concentrations and there are 3 classes",
        ),
    ],
)
def test_what_is_no_prior_is_refused(prior, message):
    with pytest.raises(InvalidInput, match=message):
        prior()
