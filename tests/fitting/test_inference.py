"""Inference about linear models: by hand, under scalings, penalties, redundancy and weights."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import ndtri, stdtrit
from sklearn.exceptions import NotFittedError

import likely
from likely.compute.executor import Serial, Threads
from likely.data.block import ArrayBlocks, CountedBlocks
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.errors import InvalidInput, RedundantColumns, UnknownName
from likely.fitting.covariance import COVARIANCES, infer
from likely.fitting.inference import likelihood_ratio_test
from likely.likelihoods.responses import likelihood_of
from likely.links import LINKS
from likely.objectives.linear import LinearObjective
from likely.penalties import L2, NoPenalty
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton

N = 80
every_covariance = pytest.mark.parametrize("covariance", COVARIANCES)


def data(seed=0, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, p))
    y = rng.poisson(np.exp(X[:, 0] / 2 + 0.3)).astype(float)
    return X, y, rng.integers(0, 12, N)


def inferred(
    X, y, *, response="poisson", l2=0.0, weight=None, group=None, held=(), passes=None,
    executor=None, **options,
):  # fmt: skip
    likelihood, kept = likelihood_of(response), np.setdiff1d(np.arange(X.shape[1] + 1), held)
    executor = executor or Serial()
    blocks = ArrayBlocks(Intercept(Dense(X)), y, weight=weight, group=group, rows_per_block=16)
    theta = solved(likelihood, X, y, l2, weight, kept)
    objective = LinearObjective(likelihood, NoPenalty(), blocks, Serial())
    return infer(
        likelihood,
        theta,
        objective.second_order(theta).hessian,
        np.append(np.full(X.shape[1], l2), 0.0),
        (*(f"x{j}" for j in range(X.shape[1])), "intercept"),
        blocks if passes is None else CountedBlocks(blocks, passes),
        executor,
        redundant=held,
        **options,
    )


def solved(likelihood, X, y, l2, weight, kept):
    columns = np.column_stack([X, np.ones(len(X))])[:, kept]
    strengths = np.where(kept == X.shape[1], 0.0, l2)
    blocks = ArrayBlocks(Dense(columns), y, weight=weight)
    objective = LinearObjective(likelihood, L2(strengths), blocks, Serial())
    start = np.zeros(kept.size)
    start[-1] = likelihood.eta_of_mean(np.asarray(np.average(y, weights=weight)))
    theta = np.zeros(X.shape[1] + 1)
    theta[kept] = minimise(Newton(), objective, start, tol=1e-22, max_iter=30).theta
    return theta


def test_worked_example_log_odds_ratio_of_a_table():
    """10 of 30 and 24 of 36: se = √(1/10 + 1/20 + 1/24 + 1/12), Woolf (1955)."""
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    fit = inferred(
        X, np.array([1.0, 0, 1, 0]), response="bernoulli", weight=np.array([10.0, 20, 24, 12])
    )
    assert_allclose(fit.theta, [np.log(24 / 12) - np.log(10 / 20), np.log(10 / 20)])
    assert_allclose(fit.standard_errors[0], np.sqrt(1 / 10 + 1 / 20 + 1 / 24 + 1 / 12))
    assert (fit.n, fit.df_residual) == (66, 64)


def test_worked_example_mean_of_a_sample():
    """The intercept alone of 1, 2, 6: se = s/√n = √7/√3, t with 2 degrees of freedom."""
    X, y = np.empty((3, 0)), np.array([1.0, 2.0, 6.0])
    fit = inferred(X, y, response="gaussian", distribution="t")
    assert_allclose(fit.standard_errors, np.sqrt(7 / 3))
    assert_allclose(fit.interval()[0], 3 + np.array([-1, 1]) * 4.302653 * np.sqrt(7 / 3), rtol=1e-6)


@every_covariance
@given(seed=st.integers(0, 20), power=st.sampled_from([-8, 8]))
def test_units_do_not_matter(covariance, seed, power):
    X, y, group = data(seed)
    units = np.array([10.0**power, 1.0, 1.0])
    fit = inferred(X, y, group=group, standard_errors=covariance)
    other = inferred(X * units, y, group=group, standard_errors=covariance)
    # looser than rounding: 1e8 is seen by the search, which stops elsewhere
    assert_allclose(other.standard_errors[:3] * units, fit.standard_errors[:3], rtol=1e-6)
    assert_allclose(other.z, fit.z, rtol=1e-5, atol=1e-5)


@every_covariance
def test_a_weight_is_a_number_of_equal_rows(covariance):
    X, y, group = data()
    weight = np.random.default_rng(1).integers(0, 4, N)
    fit = inferred(X, y, weight=weight.astype(float), group=group, standard_errors=covariance)
    X, y, group = (np.repeat(part, weight, axis=0) for part in (X, y, group))
    rows = inferred(X, y, group=group, standard_errors=covariance)
    assert_allclose(fit.covariance, rows.covariance, rtol=1e-7, atol=1e-12)
    assert_allclose(fit.log_likelihood, rows.log_likelihood)
    assert_allclose([fit.aic, fit.bic], [rows.aic, rows.bic])
    assert fit.n == rows.n == weight.sum()


@every_covariance
def test_centred_blocks_with_their_jacobian_give_the_errors_of_the_data(covariance):
    X, y, group = data()
    centre = np.array([50.0, -3.0, 0.0])
    jacobian = np.eye(4)
    jacobian[3, :3] = -centre
    far = inferred(X + centre, y, group=group, standard_errors=covariance)
    near = inferred(X, y, group=group, standard_errors=covariance, jacobian=jacobian)
    assert_allclose(near.theta, far.theta, rtol=1e-6, atol=1e-9)
    assert_allclose(near.covariance, far.covariance, rtol=1e-6, atol=1e-10)


@every_covariance
def test_executors_agree(covariance):
    X, y, group = data()
    fits = [
        inferred(X, y, group=group, standard_errors=covariance, executor=executor)
        for executor in (Serial(), Threads(2))
    ]
    assert_allclose(fits[0].covariance, fits[1].covariance, rtol=1e-9)


@every_covariance
@pytest.mark.parametrize("response", ["poisson", "gaussian", "gamma"])
def test_model_errors_cost_one_pass_and_robust_ones_two(covariance, response):
    X, y, group = data()
    passes = []
    inferred(X, y + 1, response=response, group=group, standard_errors=covariance, passes=passes)
    one = covariance in ("model", "quasi") and response != "gamma"  # its constant needs ψ first
    assert len(passes) == (1 if one else 2)


def test_a_redundant_column_has_no_error_and_takes_none_from_the_others():
    X, y, _ = data()
    without = inferred(X, y)
    fit = inferred(np.column_stack([X[:, 0] + 1, X]), y, held=(0,))
    assert np.isnan(fit.standard_errors[0])
    assert_allclose(fit.standard_errors[1:], without.standard_errors, rtol=1e-7)
    assert fit.n_parameters == without.n_parameters
    assert_allclose(fit.eta_standard_errors(Intercept(Dense(np.column_stack([X[:, 0] + 1, X])))),
                    without.eta_standard_errors(Intercept(Dense(X))), rtol=1e-7)  # fmt: skip


def test_columns_that_the_data_cannot_tell_apart_have_no_errors_though_nobody_said_so():
    X, y, _ = data()
    twice = np.column_stack([X, X[:, 0]])
    theta = inferred(twice, y, held=(3,)).theta
    blocks = ArrayBlocks(Intercept(Dense(twice)), y)
    likelihood = likelihood_of("poisson")
    hessian = LinearObjective(likelihood, NoPenalty(), blocks, Serial()).second_order(theta).hessian
    fit = infer(likelihood, theta, hessian, np.zeros(5), "abcde", blocks, Serial())
    assert list(np.isnan(fit.standard_errors)) == [True, False, False, True, False]
    assert_allclose(fit.standard_errors[[1, 2, 4]], inferred(X, y).standard_errors[1:], rtol=1e-7)


@given(l2=st.floats(0.01, 1e4))
def test_ridge_errors_are_those_of_a_linear_estimator(l2):
    """β̂ = (XᵀX + P)⁻¹Xᵀy has the covariance ψ(XᵀX + P)⁻¹XᵀX(XᵀX + P)⁻¹."""
    X, y, _ = data()
    fit = inferred(X, y, response="gaussian", l2=l2)
    design = np.column_stack([X, np.ones(N)])
    inverse = np.linalg.inv(design.T @ design + np.diag([l2, l2, l2, 0.0]))
    hat = design @ inverse @ design.T
    psi = np.square(y - hat @ y).sum() / (N - np.trace(hat))
    assert_allclose(fit.n_parameters, np.trace(hat))
    assert_allclose(
        fit.covariance, psi * inverse @ design.T @ design @ inverse, rtol=1e-14, atol=1e-14
    )
    assert fit.penalised


def test_a_lasso_that_drops_a_column_gives_it_no_error():
    X, y, _ = data()
    fit = inferred(X, y, held=(1,))
    again = infer(
        likelihood_of("poisson"),
        fit.theta,
        np.eye(4),
        np.zeros(4),
        fit.names,
        ArrayBlocks(Intercept(Dense(X)), y),
        Serial(),
        at_kink=np.array([False, True, False, False]),
        penalised=True,
    )
    assert again.penalised and again.excluded == (1,)
    assert list(np.isnan(again.standard_errors)) == [False, True, False, False]


def test_as_many_parameters_as_examples_leave_no_error():
    fit = inferred(np.array([[0.0], [1.0]]), np.array([1.0, 3.0]), response="gaussian")
    assert np.isnan(fit.dispersion)
    assert np.isnan(fit.standard_errors).all()


def test_a_wald_test_of_one_coefficient_is_its_z_squared():
    X, y, _ = data()
    fit = inferred(X, y)
    test = fit.wald_test("x1")
    assert_allclose([test.statistic, test.p], [fit.z[1] ** 2, fit.p[1]])
    assert str(test).startswith("χ²(1) = ")
    student = replace(fit, distribution="t").wald_test("x1")
    assert_allclose(student.p, replace(fit, distribution="t").p[1])
    assert str(student).startswith(f"F(1, {N - 4}) = ")


def test_wald_tests_refuse_what_they_cannot_test():
    X, y, _ = data()
    fit = inferred(X, y, held=(2,))
    with pytest.raises(UnknownName, match="no coefficient 'x9'"):
        fit.wald_test(["x0", "x9"])
    with pytest.raises(InvalidInput, match="'x2' was not estimated"):
        fit.wald_test(["x0", "x2"])
    with pytest.raises(InvalidInput, match="2 constraints were given, of which 1"):
        fit.wald_test(["x0", "x0"])
    with pytest.raises(InvalidInput, match="have 2 columns; the model has 4"):
        fit.wald_test(np.eye(2))


def test_a_likelihood_ratio_needs_nested_fits_of_the_same_data():
    X, y, _ = data()
    small, large = inferred(X[:, :1], y), inferred(X, y)
    assert likelihood_ratio_test(small, large).df == 2
    with pytest.raises(InvalidInput, match="Pass the smaller one first"):
        likelihood_ratio_test(large, small)
    with pytest.raises(InvalidInput, match="different data"):
        likelihood_ratio_test(inferred(X[:, :1], y + 1), large)
    with pytest.raises(InvalidInput, match="penalised"):
        likelihood_ratio_test(small, inferred(X, y, l2=1.0))


def test_a_likelihood_ratio_is_about_the_wald_test_when_examples_are_many():
    X, y, _ = data()
    weight = np.full(N, 50.0)
    small, large = inferred(X[:, [0, 2]], y, weight=weight), inferred(X, y, weight=weight)
    ratio, wald = likelihood_ratio_test(small, large), large.wald_test("x1")
    assert_allclose(ratio.statistic, wald.statistic, rtol=0.02)


def test_a_likelihood_ratio_of_least_squares_is_the_f_test_of_an_analysis_of_variance():
    X, y, _ = data()
    found = likelihood_ratio_test(
        inferred(X[:, :1], y, response="gaussian"), inferred(X, y, response="gaussian")
    )
    small, large = (np.column_stack([np.ones(N), each]) for each in (X[:, :1], X))
    rss = [np.linalg.lstsq(each, y, rcond=None)[1][0] for each in (small, large)]
    F = (rss[0] - rss[1]) / 2 / (rss[1] / (N - 4))
    assert_allclose(found.statistic, F, rtol=1e-9)
    assert_allclose(found.p, stats.f(2, N - 4).sf(F), rtol=1e-9)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_is_a_probability(level):
    X, y, _ = data()
    with pytest.raises(InvalidInput, match=r"between 0 and 1.*Use level=0\.95"):
        inferred(X, y).interval(level)


def test_intervals_of_the_mean_stay_valid_and_in_order():
    X, y, _ = data()
    fit, eta, se = inferred(X, y), np.array([0.1, 2.0]), np.array([1.0, 0.1])
    interval = fit.mean_interval(eta, se, link=LINKS["inverse"])
    assert interval[0, 1] == np.inf  # 1/η as η falls to 0
    assert (interval[:, 0] < 1 / eta).all() and (1 / eta < interval[:, 1]).all()


def test_unknown_covariances_and_missing_clusters_are_refused():
    X, y, group = data()
    with pytest.raises(UnknownName, match=r"'HC5'.*HC3"):
        inferred(X, y, standard_errors="HC5")
    with pytest.raises(InvalidInput, match="needs two clusters or more; found 0"):
        inferred(X, y, standard_errors="clustered", n_groups=0)
    with pytest.raises(InvalidInput, match="two or more are needed"):
        inferred(X, y, standard_errors="clustered", group=np.zeros_like(group))


@pytest.mark.parametrize("covariance", ["model", "HC0", "HC3"])
def test_intervals_of_rows_do_not_know_of_a_column_that_is_there_twice(covariance):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)) + 2
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=100)
    twice = np.column_stack([X, X[:, 0]])
    single = likely.LinearRegression(standard_errors=covariance).fit(X, y)
    once = single.predict_interval(X, of="mean")
    with pytest.warns(RedundantColumns):
        model = likely.LinearRegression(standard_errors=covariance).fit(twice, y)
    assert_allclose(model.predict_interval(twice, of="mean"), once, rtol=1e-9)
    assert np.isnan(model.inference_.standard_errors[[0, 3]]).all()
    with pytest.warns(RedundantColumns):
        held = likely.GLM(standard_errors=covariance, tol=1e-13).fit(twice, y)
    # by the normal, not by Student's t
    reach = np.diff(held.predict_interval(twice, of="mean"), axis=1)
    ratio = stdtrit(96, 0.975) / ndtri(0.975)
    assert_allclose(ratio * reach, np.diff(once, axis=1), rtol=1e-6)


@pytest.mark.parametrize(("response", "link"), [("gaussian", "identity"), ("gamma", "log")])
def test_as_many_parameters_as_examples_leave_no_interval(response, link):
    X, y = np.random.default_rng(1).normal(size=(3, 2)), np.array([1.0, 2.0, 3.0])
    model = likely.GLM(response, link).fit(X, y)
    assert np.isnan(model.predict_interval(X, of="mean")).all()


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
@pytest.mark.parametrize("covariance", ["model", "HC0", "HC1", "HC2", "HC3"])
def test_proportions_of_trials_have_the_errors_of_the_single_outcomes(covariance, link):
    rng = np.random.default_rng(2)
    X, trials = rng.normal(size=(60, 2)), rng.integers(1, 20, 60)
    successes = rng.binomial(trials, 1 / (1 + np.exp(-X[:, 0])))
    one = np.concatenate([np.arange(t) < k for k, t in zip(successes, trials, strict=True)])
    options = {"standard_errors": covariance, "tol": 1e-14}
    shares = likely.GLM("bernoulli", link, **options).fit(
        X, successes / trials, sample_weight=trials
    )
    rows = likely.GLM("bernoulli", link, **options).fit(np.repeat(X, trials, axis=0), one * 1.0)
    assert_allclose(shares.inference_.covariance, rows.inference_.covariance, rtol=1e-7)
    mean = shares.predict(X)
    total = stats.binom.logpmf(successes, trials, mean).sum()  # of the counts, not of an order
    assert_allclose(shares.inference_.log_likelihood, total, rtol=1e-9)
    assert_allclose(shares.log_likelihood(X, successes / trials, trials), total, rtol=1e-9)


BEETLES = (  # Bliss (1935): log dose, beetles, killed
    (1.6907, 59, 6), (1.7242, 60, 13), (1.7552, 62, 18), (1.7842, 56, 28),
    (1.8113, 63, 52), (1.8369, 59, 53), (1.8610, 62, 61), (1.8839, 60, 60),
)  # fmt: skip


def test_the_dispersion_of_grouped_trials_is_that_of_the_groups():
    """Dobson, An Introduction to Generalized Linear Models, §7.3; R's quasibinomial: 1.671."""
    dose, beetles, killed = np.array(BEETLES).T
    model = likely.GLM("bernoulli", standard_errors="quasi", tol=1e-14)
    fit = model.fit(dose[:, None], killed / beetles, sample_weight=beetles).inference_
    assert_allclose(fit.theta, [34.27, -60.72], rtol=1e-3)
    assert_allclose([fit.deviance, fit.null_deviance], [11.23, 284.20], atol=0.005)
    assert_allclose(fit.aic, 41.43, atol=0.005)
    assert (fit.df_residual, fit.n, fit.n_grouped) == (6.0, 481.0, 8.0)
    mean = model.predict(dose[:, None])
    pearson = np.sum(beetles * (killed / beetles - mean) ** 2 / (mean * (1 - mean)))
    assert_allclose(fit.dispersion, pearson / 6)
    assert_allclose(fit.dispersion, 1.671, atol=0.001)
    plain = likely.GLM("bernoulli", tol=1e-14).fit(
        dose[:, None], killed / beetles, sample_weight=beetles
    )
    ratio = fit.standard_errors / plain.inference_.standard_errors
    assert_allclose(ratio, np.sqrt(fit.dispersion), rtol=1e-7)
    assert "those of 8 groups" in " ".join(model.summary().notes)


def test_outcomes_of_zero_and_one_keep_frequencies_for_weights():
    x, y, times = np.array([[0.0], [0], [1], [1]]), [0.0, 1, 0, 1], [20, 10, 12, 24]
    model = likely.GLM("bernoulli", standard_errors="quasi").fit(x, y, sample_weight=times)
    assert model.inference_.df_residual == 64
    assert model.inference_.n_grouped == 0


def test_a_name_of_two_coefficients_is_refused():
    frame = pd.DataFrame({"s[q]": np.arange(6.0) ** 2, "s": list("pqpqqp")})
    model = likely.GLM().fit(frame, np.array([1.0, 3.0, 2.0, 5.0, 4.0, 9.0]))
    assert model.terms_ == ("s[q]", "s[q]")
    with pytest.raises(InvalidInput, match=r"'s\[q\]' names 2 coefficients"):
        model.wald_test("s[q]")
    assert model.wald_test(np.array([[1.0, 0.0, 0.0]])).df == 1


def test_a_model_without_errors_says_why():
    X, y, _ = data()
    with_errors = likely.GLM("poisson").fit(X, y)
    rng = np.random.default_rng(0)
    wide = likely.LinearRegression(l1=50.0).fit(rng.normal(size=(30, 2100)), rng.normal(size=30))
    reasons = {
        "fitted with standard_errors=None": likely.GLM("poisson", standard_errors=None).fit(X, y),
        "fitted to 2 responses": likely.LinearRegression().fit(X, np.column_stack([y, y])),
        "2,100 coefficients": wide,
    }
    for reason, model in reasons.items():
        for ask in (model.summary, lambda model=model: likelihood_ratio_test(model, with_errors)):
            with pytest.raises(InvalidInput, match=reason):
                ask()
    objective = with_errors.objective(X, y)
    with pytest.raises(InvalidInput, match="were not estimated from rows: the parameters were giv"):
        objective.fitted_model(objective.start).summary()
    softmax = likely.SoftmaxRegression(standard_errors=None).fit(X, np.minimum(y, 2))
    with pytest.raises(InvalidInput, match="fitted with standard_errors=None"):
        softmax.summary()
    with pytest.raises(InvalidInput, match="NaiveBayes has no inference_"):
        likelihood_ratio_test(likely.NaiveBayes().fit(X, y > 1), with_errors)
    with pytest.raises(NotFittedError):
        likelihood_ratio_test(likely.GLM(), with_errors)


def test_rows_with_an_unseen_category_are_told_of_once():
    frame = pd.DataFrame({"s": list("pqpqqp")})
    model = likely.GLM().fit(frame, np.array([1.0, 3.0, 2.0, 5.0, 4.0, 9.0]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict_interval(pd.DataFrame({"s": ["new", "p"]}), of="mean")
    assert len(caught) == 1
