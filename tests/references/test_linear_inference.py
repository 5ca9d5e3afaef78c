"""Standard errors, tests and intervals of linear models, against statsmodels.

Tolerances are 1e-6 relative and not tighter because both searches stop at a tolerance of their
own.  statsmodels' GLM gives HC0 for every HC name and its HC0 is made of the observed information:
for HC1–HC3 its scores and leverages are put together here, and links that are not canonical are
compared through its expected information.
"""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose

import likely
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.fitting.covariance import infer
from likely.fitting.inference import likelihood_ratio_test
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.responses import likelihood_of
from likely.likelihoods.tweedie import Tweedie
from likely.objectives.linear import LinearObjective
from likely.penalties import NoPenalty
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton

pytestmark = [  # statsmodels warns of links that can leave the family's means, and divides by 0
    pytest.mark.filterwarnings("ignore:The (Sqrt|InversePower) link function"),
    pytest.mark.filterwarnings("ignore:divide by zero encountered in power"),
]
RTOL = 1e-6
N = 300
F = sm.families
L = F.links
FAMILIES = {
    "gaussian-identity": (F.Gaussian(), likelihood_of("gaussian")),
    "gaussian-log": (F.Gaussian(L.Log()), likelihood_of("gaussian", "log")),
    "bernoulli-logit": (F.Binomial(), likelihood_of("bernoulli")),
    "bernoulli-probit": (F.Binomial(L.Probit()), likelihood_of("bernoulli", "probit")),
    "bernoulli-cloglog": (F.Binomial(L.CLogLog()), likelihood_of("bernoulli", "cloglog")),
    "poisson-log": (F.Poisson(), likelihood_of("poisson")),
    "poisson-sqrt": (F.Poisson(L.Sqrt()), likelihood_of("poisson", "sqrt")),
    "gamma-inverse": (F.Gamma(), likelihood_of("gamma")),
    "gamma-log": (F.Gamma(L.Log()), likelihood_of("gamma", "log")),
    "inverse_gaussian-log": (F.InverseGaussian(L.Log()), likelihood_of("inverse-gaussian", "log")),
    "inverse_gaussian-inverse_squared": (F.InverseGaussian(), likelihood_of("inverse-gaussian")),
    "negative_binomial-log": (
        F.NegativeBinomial(alpha=0.7),
        likelihood_of(NegativeBinomial(0.7), "log"),
    ),
    "tweedie-log": (F.Tweedie(L.Log(), 1.5, eql=False), likelihood_of(Tweedie(1.5), "log")),
}
CANONICAL = [
    "gaussian-identity",
    "bernoulli-logit",
    "poisson-log",
    "gamma-inverse",
    "inverse_gaussian-inverse_squared",
]
every_family = pytest.mark.parametrize("name", FAMILIES)
every_canonical = pytest.mark.parametrize("name", CANONICAL)


def data(name, seed=0):
    """X without the constant, and y whose mean the link allows everywhere."""
    rng = np.random.default_rng(seed)
    likelihood = FAMILIES[name][1]
    X = rng.uniform(-1, 1, (N, 3))
    eta = X @ np.array([0.3, -0.2, 0.0]) + 1.0
    return X, likelihood.sample(eta, rng, 1.0 if likelihood.response.dispersion_is_known else 0.3)


def theirs(name, X, y, **options):
    at_fit = {k: options.pop(k) for k in ("cov_type", "cov_kwds") if k in options}
    model = sm.GLM(y, np.column_stack([X, np.ones(len(X))]), family=FAMILIES[name][0], **options)
    return model.fit(tol=1e-12, maxiter=200, **at_fit)


def ours(likelihood, X, y, *, weight=None, offset=None, group=None, **options):
    """Solved by Newton's method, from blocks of 64 rows."""
    blocks = ArrayBlocks(
        Intercept(Dense(X)), y, weight=weight, offset=offset, group=group, rows_per_block=64
    )
    objective = LinearObjective(likelihood, NoPenalty(), blocks, Serial())
    mean = np.average(y, weights=weight)
    start = np.append(np.zeros(X.shape[1]), likelihood.eta_of_mean(np.asarray(mean)))
    theta = minimise(Newton(), objective, start, tol=1e-20, max_iter=30).theta
    return infer(
        likelihood,
        theta,
        objective.second_order(theta).hessian,
        np.zeros(theta.size),
        [f"x{j}" for j in range(X.shape[1])] + ["intercept"],
        blocks,
        Serial(),
        **options,
    )


@every_family
def test_the_table_of_coefficients_is_statsmodels(name):
    X, y = data(name)
    fit, them = ours(FAMILIES[name][1], X, y), theirs(name, X, y)
    assert_allclose(fit.theta, them.params, rtol=RTOL, atol=1e-8)
    assert_allclose(fit.covariance, them.cov_params(), rtol=RTOL, atol=1e-10)
    assert_allclose(fit.z, them.tvalues, rtol=RTOL, atol=1e-6)
    assert_allclose(fit.p, them.pvalues, rtol=1e-5, atol=1e-12)
    assert_allclose(fit.interval(0.9), them.conf_int(0.1), rtol=RTOL, atol=1e-7)


@every_family
def test_measures_of_fit_are_statsmodels(name):
    X, y = data(name)
    fit, them = ours(FAMILIES[name][1], X, y), theirs(name, X, y)
    assert_allclose(fit.deviance, them.deviance, rtol=RTOL)
    assert_allclose(fit.pearson, them.pearson_chi2, rtol=RTOL)
    assert_allclose(fit.dispersion, them.scale, rtol=RTOL)
    assert_allclose(fit.null_deviance, them.null_deviance, rtol=RTOL)
    assert fit.df_residual == them.df_resid


@pytest.mark.parametrize("name", [n for n in FAMILIES if not n.startswith(("tweedie", "gaussian"))])
def test_likelihoods_and_criteria_are_statsmodels(name):
    X, y = data(name)
    fit, them = ours(FAMILIES[name][1], X, y), theirs(name, X, y)
    assert_allclose(fit.log_likelihood, them.llf, rtol=RTOL)
    # a model of its own, with its own dispersion: llnull of the larger one has that of the larger
    null = theirs(name, X[:, :0], y)
    assert_allclose(fit.null_log_likelihood, null.llf, rtol=RTOL)
    assert_allclose(fit.aic, them.aic, rtol=RTOL)
    assert_allclose(fit.bic, them.bic_llf, rtol=RTOL)


def test_a_gaussian_likelihood_is_at_the_maximum_as_that_of_ols():
    X, y = data("gaussian-identity")
    fit = ours(likelihood_of("gaussian"), X, y, distribution="t")
    them = sm.OLS(y, np.column_stack([X, np.ones(N)])).fit()
    assert_allclose(fit.log_likelihood, them.llf)
    assert_allclose(fit.null_log_likelihood, sm.OLS(y, np.ones(N)).fit().llf)
    assert_allclose([fit.aic, fit.bic], [them.aic, them.bic])
    assert_allclose(fit.deviance_explained, them.rsquared)
    assert_allclose(fit.p, them.pvalues)
    assert_allclose(fit.interval(), them.conf_int())


@every_canonical
def test_hc0_is_statsmodels(name):
    X, y = data(name)
    fit = ours(FAMILIES[name][1], X, y, standard_errors="HC0")
    them = theirs(name, X, y, cov_type="HC0")
    assert_allclose(fit.covariance, them.cov_params(), rtol=1e-5, atol=1e-9)


@every_family
@pytest.mark.parametrize(("kind", "exponent"), [("HC0", 0), ("HC1", 0), ("HC2", 1), ("HC3", 2)])
def test_robust_covariances_are_made_of_statsmodels_scores_and_leverages(name, kind, exponent):
    X, y = data(name)
    fit, them = ours(FAMILIES[name][1], X, y, standard_errors=kind), theirs(name, X, y)
    scores = them.model.score_obs(them.params, scale=1.0)
    bread = np.linalg.inv(-them.model.hessian(them.params, scale=1.0, observed=False))
    left = 1 - them.get_hat_matrix_diag(observed=False)
    middle = scores.T @ (scores / left[:, None] ** exponent)
    factor = N / (N - 4) if kind == "HC1" else 1.0
    assert_allclose(fit.covariance, factor * bread @ middle @ bread, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3"])
def test_robust_covariances_of_least_squares_are_those_of_ols(kind):
    X, y = data("gaussian-identity")
    fit = ours(likelihood_of("gaussian"), X, y, standard_errors=kind)
    them = sm.OLS(y, np.column_stack([X, np.ones(N)])).fit(cov_type=kind)
    assert_allclose(fit.covariance, them.cov_params(), rtol=1e-14, atol=1e-14)


@every_canonical
def test_clustered_covariances_are_statsmodels(name):
    X, y = data(name)
    group = np.random.default_rng(1).integers(0, 40, N)
    fit = ours(FAMILIES[name][1], X, y, group=group, standard_errors="clustered")
    them = theirs(name, X, y, cov_type="cluster", cov_kwds={"groups": group})
    assert_allclose(fit.covariance, them.cov_params(), rtol=1e-5, atol=1e-9)


@every_family
def test_weights_are_the_frequencies_of_statsmodels(name):
    X, y = data(name)
    weight = np.random.default_rng(2).integers(1, 4, N).astype(float)
    fit = ours(FAMILIES[name][1], X, y, weight=weight)
    them = theirs(name, X, y, freq_weights=weight)
    assert_allclose(fit.standard_errors, them.bse, rtol=RTOL)
    assert_allclose(fit.dispersion, them.scale, rtol=RTOL)
    assert_allclose(fit.null_deviance, them.null_deviance, rtol=RTOL)
    assert (fit.n, fit.df_residual) == (weight.sum(), them.df_resid)


@pytest.mark.parametrize("name", ["poisson-log", "gamma-log", "negative_binomial-log"])
def test_an_offset_is_in_the_model_and_in_the_null_model(name):
    X, y = data(name)
    exposure = np.random.default_rng(3).uniform(0.5, 2.0, N)
    fit = ours(FAMILIES[name][1], X, y, offset=np.log(exposure))
    them = theirs(name, X, y, exposure=exposure)
    assert_allclose(fit.standard_errors, them.bse, rtol=RTOL)
    assert_allclose(fit.null_deviance, them.null_deviance, rtol=RTOL)
    null = theirs(name, X[:, :0], y, exposure=exposure)
    assert_allclose(fit.null_log_likelihood, null.llf, rtol=RTOL)


def test_wald_tests_are_statsmodels():
    X, y = data("poisson-log")
    fit, them = ours(likelihood_of("poisson"), X, y), theirs("poisson-log", X, y)
    R = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    mine, other = fit.wald_test(R, value=[0.1, 0.0]), them.wald_test((R, [0.1, 0.0]), scalar=True)
    assert_allclose([mine.statistic, mine.p], [other.statistic, other.pvalue], rtol=1e-5)
    assert mine.distribution == "chi2"


def test_wald_tests_of_least_squares_are_f_tests():
    X, y = data("gaussian-identity")
    fit = ours(likelihood_of("gaussian"), X, y, distribution="t")
    them = sm.OLS(y, np.column_stack([X, np.ones(N)])).fit()
    mine, other = fit.wald_test(["x0", "x1"]), them.f_test(np.eye(4)[:2])
    assert_allclose([mine.statistic, mine.p], [other.fvalue, other.pvalue])
    assert (mine.distribution, mine.df, mine.df_residual) == ("F", 2, N - 4)


def test_the_likelihood_ratio_of_least_squares_is_the_f_test_of_nested_models():
    X, y = data("gaussian-identity")
    small, large = (ours(likelihood_of("gaussian"), part, y) for part in (X[:, :1], X))
    designs = [np.column_stack([part, np.ones(N)]) for part in (X[:, :1], X)]
    fits = [sm.OLS(y, design).fit() for design in designs]
    statistic, p, _ = fits[1].compare_f_test(fits[0])
    test = likelihood_ratio_test(small, large)
    assert_allclose([test.statistic, test.p], [statistic, p])


def test_the_likelihood_ratio_of_counts_is_statsmodels():
    X, y = data("poisson-log")
    small, large = (ours(likelihood_of("poisson"), part, y) for part in (X[:, :1], X))
    log_likelihoods = [theirs("poisson-log", part, y).llf for part in (X[:, :1], X)]
    test = likelihood_ratio_test(small, large)
    assert_allclose(test.statistic, 2 * np.diff(log_likelihoods)[0], rtol=1e-6)
    assert test.df == 2


@every_family
def test_intervals_of_the_mean_are_statsmodels(name):
    X, y = data(name)
    likelihood = FAMILIES[name][1]
    fit, them = ours(likelihood, X, y), theirs(name, X, y)
    new = np.random.default_rng(4).uniform(-1, 1, (20, 3))
    frame = them.get_prediction(np.column_stack([new, np.ones(20)])).summary_frame()
    design = Intercept(Dense(new))
    eta, se = design.matmat(fit.theta), fit.eta_standard_errors(design)
    found = fit.mean_interval(eta, se, link=likelihood.link)
    expected = np.sort(frame[["mean_ci_lower", "mean_ci_upper"]].to_numpy(), axis=1)
    assert_allclose(found, expected, rtol=1e-5)
    assert_allclose(np.abs(likelihood.link.slope(eta)) * se, frame["mean_se"], rtol=1e-5)


def test_quasi_errors_estimate_the_dispersion_of_counts():
    """statsmodels: Poisson with scale="X2"."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 2))
    y = rng.negative_binomial(2, 2 / (2 + np.exp(0.3 * X[:, 0])))
    model = likely.GLM("poisson", standard_errors="quasi", tol=1e-13).fit(X, y)
    theirs = sm.GLM(y, sm.add_constant(X), family=sm.families.Poisson()).fit(scale="X2", tol=1e-13)
    found = model.inference_.standard_errors
    assert_allclose(found, np.roll(theirs.bse, -1), rtol=1e-6)
    assert_allclose(model.dispersion_, theirs.scale, rtol=1e-6)


DEFAULTS = {  # the estimators as a user has them: none of their settings for the search
    "linear": (lambda **o: likely.LinearRegression(**o), "gaussian-identity"),
    "logistic": (lambda **o: likely.LogisticRegression(l2=0.0, **o), "bernoulli-logit"),
    "probit": (lambda **o: likely.LogisticRegression("probit", l2=0.0, **o), "bernoulli-probit"),
    "gaussian-log": (lambda **o: likely.GLM("gaussian", "log", **o), "gaussian-log"),
    "poisson": (lambda **o: likely.GLM("poisson", **o), "poisson-log"),
    "poisson-sqrt": (lambda **o: likely.GLM("poisson", "sqrt", **o), "poisson-sqrt"),
    "gamma": (lambda **o: likely.GLM("gamma", "inverse", **o), "gamma-inverse"),
    "gamma-log": (lambda **o: likely.GLM("gamma", "log", **o), "gamma-log"),
    "inverse-gaussian": (
        lambda **o: likely.GLM("inverse-gaussian", "log", **o),
        "inverse_gaussian-log",
    ),
    "negative-binomial": (
        lambda **o: likely.GLM(NegativeBinomial(0.7), "log", **o),
        "negative_binomial-log",
    ),
    "tweedie": (lambda **o: likely.GLM(Tweedie(1.5), "log", **o), "tweedie-log"),
}


@pytest.mark.parametrize("model", DEFAULTS)
def test_errors_at_the_default_tolerance_are_statsmodels(model):
    """To 1e-4: tol=1e-8 of some 500 nats leaves θ̂ up to √(2·5e-6) ≈ 3e-3 of its error away.

    The errors move with it, by a small part of that.
    """
    make, name = DEFAULTS[model]
    X, y = data(name)
    fit, them = make().fit(X, y).inference_, theirs(name, X, y)
    assert_allclose(fit.standard_errors, them.bse, rtol=1e-4)
    assert_allclose(fit.theta / them.bse, them.params / them.bse, atol=5e-3)


@pytest.mark.parametrize("model", ["linear", "logistic", "poisson", "gamma"])
def test_robust_errors_at_the_default_tolerance_are_statsmodels(model):
    """Of canonical links, where statsmodels' information is the expected one."""
    make, name = DEFAULTS[model]
    X, y = data(name)
    fit = make(standard_errors="HC0").fit(X, y).inference_
    assert_allclose(fit.standard_errors, theirs(name, X, y, cov_type="HC0").bse, rtol=1e-4)
