"""The α of a negative binomial: found with the coefficients, or 0 where counts are Poisson."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats

import likely
from likely.errors import InvalidInput
from likely.fitting.goodness import boundary_test
from likely.likelihoods import NegativeBinomial, Poisson

TIGHT = 1e-14


def counts(alpha, n=300, seed=0, level=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    mean = np.exp(level + 0.5 * X[:, 0] - 0.3 * X[:, 1])
    return X, rng.poisson(rng.gamma(1 / alpha, alpha * mean)).astype(float)


def fit(X, y, response="negative-binomial", **options):
    beside = {k: options.pop(k) for k in ("sample_weight", "offset", "exposure") if k in options}
    return likely.GLM(response, tol=TIGHT, **options).fit(X, y, **beside)


def joint_maximum(X, y, offset=0.0, weight=1.0, penalty=0.0):
    """(β, b, ln α) by a general optimiser, and the log-likelihood."""

    def minus(theta):
        mean, a = np.exp(X @ theta[:-2] + theta[-2] + offset), np.exp(-theta[-1])
        each = stats.nbinom.logpmf(y, a, a / (a + mean))
        return -np.sum(weight * each) + penalty * theta[:-2] @ theta[:-2] / 2

    start = np.append(np.zeros(X.shape[1]), [np.log(y.mean()), 0.0])
    options = {"xatol": 1e-9, "fatol": 1e-11, "maxiter": 20_000, "maxfev": 20_000}
    rough = optimize.minimize(minus, start, method="BFGS")
    found = optimize.minimize(minus, rough.x, method="Nelder-Mead", options=options)
    return found.x, -found.fun


@pytest.mark.parametrize("alpha", [0.05, 0.7, 4.0])
def test_alpha_and_coefficients_are_at_the_joint_maximum(alpha):
    X, y = counts(alpha)
    model, (best, value) = fit(X, y), joint_maximum(X, y)
    assert_allclose(model.alpha_, np.exp(best[-1]), rtol=1e-5)
    assert_allclose(model.coef_, best[:2], atol=1e-5)
    assert_allclose(model.inference_.log_likelihood, value, rtol=1e-10)
    assert model.likelihood_.response == NegativeBinomial(model.alpha_)


def test_alpha_follows_weights_offsets_and_penalties():
    X, y = counts(0.7)
    weight = (np.arange(len(y)) % 3).astype(float)
    offset = np.linspace(-0.5, 0.5, len(y))
    best, value = joint_maximum(X, y, offset, weight)
    model = fit(X, y, sample_weight=weight, offset=offset)
    assert_allclose(model.alpha_, np.exp(best[-1]), rtol=1e-5)
    assert_allclose(model.inference_.log_likelihood, value, rtol=1e-10)
    exposed = fit(X, y, sample_weight=weight, exposure=np.exp(offset))
    assert_allclose(exposed.alpha_, model.alpha_, rtol=1e-8)
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    again = fit(X[repeated], y[repeated], offset=offset[repeated])
    assert_allclose(again.alpha_, model.alpha_, rtol=1e-8)
    assert_allclose(again.inference_.alpha.log_error, model.inference_.alpha.log_error, rtol=1e-8)
    ridge, (best, _) = fit(X, y, l2=30.0), joint_maximum(X, y, penalty=30.0)
    assert_allclose(ridge.alpha_, np.exp(best[-1]), rtol=1e-5)
    assert ridge.inference_.alpha.test is None


def test_alpha_of_a_file_is_that_of_memory(tmp_path):
    X, y = counts(0.7, n=9000)
    path = tmp_path / "counts.csv"
    np.savetxt(
        path, np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="", fmt="%.17g"
    )
    memory, file = fit(X, y), fit(path, "y")
    assert_allclose(file.alpha_, memory.alpha_, rtol=1e-9)
    assert_allclose(file.coef_, memory.coef_, rtol=1e-9)
    assert_allclose(
        file.inference_.null_log_likelihood, memory.inference_.null_log_likelihood, rtol=1e-9
    )


def test_the_error_of_alpha_is_that_of_its_observed_information():
    X, y = counts(0.7)
    model = fit(X, y)
    mean, step = model.predict(X), 1e-4
    at = [
        NegativeBinomial(model.alpha_ * np.exp(move)).log_prob(y, mean).sum()
        for move in (-step, 0.0, step)
    ]
    curvature = (at[0] - 2 * at[1] + at[2]) / step**2
    alpha = model.inference_.alpha
    assert_allclose(alpha.log_error, 1 / np.sqrt(-curvature), rtol=1e-5)
    assert_allclose(alpha.standard_error, model.alpha_ * alpha.log_error)
    low, high = alpha.interval(0.9)
    assert_allclose(np.sqrt(low * high), model.alpha_)


def test_the_test_of_alpha_is_against_the_poisson_with_half_its_weight_at_zero():
    X, y = counts(0.02, n=150, seed=3)
    wide, poisson = fit(X, y), fit(X, y, "poisson")
    statistic = 2 * (wide.inference_.log_likelihood - poisson.inference_.log_likelihood)
    test = wide.inference_.alpha.test
    assert_allclose(test.statistic, statistic, rtol=1e-6)
    assert_allclose(test.p, stats.chi2.sf(statistic, 1) / 2, rtol=1e-6)
    same = likely.likelihood_ratio_test(poisson, wide)
    assert_allclose(same.p, test.p, rtol=1e-6)
    assert boundary_test(0.0).p == 1.0
    both = boundary_test(3.0, 2)
    assert_allclose(both.p, (stats.chi2.sf(3.0, 1) + stats.chi2.sf(3.0, 2)) / 2)


def test_nested_negative_binomials_are_compared_each_at_its_own_alpha():
    X, y = counts(0.7)
    small, large = fit(X[:, :1], y), fit(X, y)
    test = likely.likelihood_ratio_test(small, large)
    gain = 2 * (large.inference_.log_likelihood - small.inference_.log_likelihood)
    assert_allclose(test.statistic, gain)
    assert (test.distribution, test.df) == ("chi2", 1)
    with pytest.raises(InvalidInput, match="different data"):
        likely.likelihood_ratio_test(small, fit(X, y + 1))
    with pytest.raises(InvalidInput, match="'alpha', which the larger one lacks"):
        likely.likelihood_ratio_test(small, fit(np.c_[X, X[:, 0] ** 2], y, "poisson"))


def test_counts_that_are_not_overdispersed_end_at_the_poisson_and_say_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.binomial(10, 0.4, 200).astype(float)
    model, poisson = fit(X, y), fit(X, y, "poisson")
    assert model.alpha_ == 0.0
    assert model.likelihood_.response == Poisson()
    assert_allclose(model.coef_, poisson.coef_, rtol=1e-9)
    assert np.isnan(model.inference_.alpha.standard_error)
    assert model.inference_.alpha.test.p == 1.0
    assert "alpha = 0" in str(model.summary())
    assert model.inference_.aic == poisson.inference_.aic + 2


def test_a_maximum_far_from_zero_is_found_though_the_likelihood_falls_at_zero():
    """A large group that is hardly spread hides the spread of a small one from the score at 0."""
    x = np.r_[np.ones(5), np.zeros(300)][:, None]
    y = np.r_[np.full(5, 1000.0), np.tile([0.0, 0, 0, 0, 0, 0, 0, 0, 0, 6], 30)]
    model, (best, value) = fit(x, y), joint_maximum(x, y)
    assert_allclose(model.inference_.log_likelihood, value, rtol=1e-9)
    assert_allclose(model.alpha_, np.exp(best[-1]), rtol=1e-4)
    assert model.alpha_ > 1


def test_the_null_model_has_an_alpha_of_its_own():
    X, y = counts(0.7)
    offset = np.linspace(-0.5, 0.5, len(y))
    empty = np.empty((len(y), 0))
    for moved in (None, offset):
        model = fit(X, y, offset=moved)
        _, value = joint_maximum(empty, y, 0.0 if moved is None else moved)
        assert_allclose(model.inference_.null_log_likelihood, value, rtol=1e-8)


def test_alpha_is_counted_by_aic_and_shown_by_the_summary():
    X, y = counts(0.7)
    model, given = fit(X, y), fit(X, y, NegativeBinomial(0.7))
    inference = model.inference_
    assert inference.aic == 2 * 4 - 2 * inference.log_likelihood
    assert given.inference_.alpha is None
    assert "alpha_" not in vars(given)
    facts = {fact.key: fact for fact in model.summary().describe().fit}
    assert facts["parameters"].value == 4  # the number that AIC and BIC use
    assert facts["alpha"].value == model.alpha_
    assert "std err" in facts["alpha"].text
    assert "χ²(1)" in facts["alpha_test"].text


def test_alpha_is_given_by_a_part_or_by_its_name():
    X, y = counts(0.7)
    assert fit(X, y, "negative-binomial(0.5)").likelihood_.response == NegativeBinomial(0.5)
    with pytest.raises(InvalidInput, match=r"GLM.fit estimates it.*NegativeBinomial\(1.0\)"):
        NegativeBinomial().variance(np.ones(2))


def test_a_search_without_errors_estimates_alpha_too(tmp_path):
    X, y = counts(0.7)
    model = fit(X, y, standard_errors=None)
    assert_allclose(model.alpha_, fit(X, y).alpha_, rtol=1e-9)
    likely.save(fit(X, y), tmp_path / "model.likely")
    loaded = likely.load(tmp_path / "model.likely")
    assert loaded.inference_.alpha == fit(X, y).inference_.alpha


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "n"), [(0.5, 200), (0.2, 400), (2.0, 400)])
def test_intervals_of_alpha_and_of_coefficients_cover(alpha, n):
    """95 % of them, within three standard errors of 400 draws."""
    covered = np.zeros(2)
    for seed in range(400):
        X, y = counts(alpha, n, seed)
        inference = likely.GLM("negative-binomial").fit(X, y).inference_
        low, high = inference.alpha.interval()
        ends = inference.interval()[0]
        covered += [low <= alpha <= high, ends[0] <= 0.5 <= ends[1]]
    assert (np.abs(covered / 400 - 0.95) < 0.033).all()
