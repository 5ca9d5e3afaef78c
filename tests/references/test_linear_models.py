"""Coefficients of linear models, against statsmodels and scikit-learn.

Every family and link of statsmodels is met: fitted where the link's means suit the family, refused
where they do not.  Both sides search to a tolerance far below what is compared, so 1e-6 is what the
slower of the two searches leaves; closed forms are compared to 1e-9.
"""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from sklearn import linear_model

import likely
from likely.errors import InvalidInput
from likely.likelihoods import NegativeBinomial, Tweedie, fits, likelihood_of
from likely.likelihoods.responses import RESPONSES
from likely.links import LINKS, Power

pytestmark = [  # statsmodels warns of links that can leave the family's means, and divides by 0
    pytest.mark.filterwarnings("ignore:The .* link function does not respect the domain"),
    pytest.mark.filterwarnings("ignore:divide by zero encountered in power"),
    pytest.mark.filterwarnings("ignore:Negative binomial dispersion parameter"),
]
RTOL = 1e-6
TIGHT = (
    1e-15  # the gap of our search, relative: scoring with other links is linear, and stops early
)
N = 300
F, L = sm.families, sm.families.links
THEIR_LINKS = {
    "identity": L.Identity(),
    "inverse": L.InversePower(),
    "inverse-squared": L.InverseSquared(),
    "log": L.Log(),
    "loglog": L.LogLog(),
    "cloglog": L.CLogLog(),
    "logit": L.Logit(),
    "probit": L.Probit(),
    "cauchit": L.Cauchy(),
    "sqrt": L.Sqrt(),
}
FAMILIES = {
    "gaussian": (F.Gaussian, RESPONSES["gaussian"]),
    "bernoulli": (F.Binomial, RESPONSES["bernoulli"]),
    "poisson": (F.Poisson, RESPONSES["poisson"]),
    "gamma": (F.Gamma, RESPONSES["gamma"]),
    "inverse-gaussian": (F.InverseGaussian, RESPONSES["inverse-gaussian"]),
    "negative-binomial": (lambda link: F.NegativeBinomial(link, alpha=0.7), NegativeBinomial(0.7)),
    "tweedie": (lambda link: F.Tweedie(link, var_power=1.5), Tweedie(1.5)),
}
STATSMODELS_CLASSES = {
    "gaussian": F.Gaussian,
    "bernoulli": F.Binomial,
    "poisson": F.Poisson,
    "gamma": F.Gamma,
    "inverse-gaussian": F.InverseGaussian,
    "negative-binomial": F.NegativeBinomial,
    "tweedie": F.Tweedie,
}


def pairs():
    """(family, link) that statsmodels lists, less the links that only it has."""
    for name, kind in STATSMODELS_CLASSES.items():
        for link_name, link in THEIR_LINKS.items():
            if type(link) in kind.links:
                yield name, link_name


PAIRS = list(pairs())
FITTED = [(name, link) for name, link in PAIRS if fits(FAMILIES[name][1], LINKS[link])]
REFUSED = [("bernoulli", link) for link in ("inverse", "inverse-squared", "sqrt")]


def shown(pairs):
    return ["-".join(pair) for pair in pairs]


def data(response, link, seed=0, n=N):
    """X without the constant, and y whose mean the link allows everywhere."""
    rng = np.random.default_rng(seed)
    likelihood = likelihood_of(response, link)
    X = rng.uniform(-1, 1, (n, 3))
    level, steep = 1.0, 1.0
    if response.means.high == 1:
        level, steep = {"log": (-0.8, 1.0), "identity": (0.5, 0.7)}.get(link.name, (1.0, 1.0))
    eta = steep * (X @ np.array([0.3, -0.2, 0.0])) + level
    return X, likelihood.sample(eta, rng, 1.0 if response.dispersion_is_known else 0.3)


def theirs(family, X, y, *, start=None, **options):
    model = sm.GLM(y, np.column_stack([X, np.ones(len(X))]), family=family, **options)
    return model.fit(tol=1e-10, tol_criterion="params", maxiter=300, start_params=start)


def coefficients(model):
    return np.append(np.ravel(model.coef_), model.intercept_)


def test_every_link_that_statsmodels_has_too_is_compared_with_it():
    """A link that is new here may have no partner; the laws of links are its tests."""
    assert set(THEIR_LINKS) <= set(LINKS)
    assert len(THEIR_LINKS) >= 10
    assert len(FITTED) >= 23


@pytest.mark.parametrize(("name", "link"), FITTED, ids=shown(FITTED))
def test_every_family_and_link_of_statsmodels(name, link):
    family, response = FAMILIES[name]
    X, y = data(response, LINKS[link])
    ours = likely.GLM(response, link, tol=TIGHT).fit(X, y)
    # counts above 1 and means below it: statsmodels' own start leads it to overflow
    start = (
        np.append(np.zeros(3), 0.5) if (name, link) == ("negative-binomial", "cloglog") else None
    )
    them = theirs(family(THEIR_LINKS[link]), X, y, start=start)
    assert_allclose(coefficients(ours), them.params, rtol=RTOL, atol=RTOL)
    assert_allclose(ours.predict(X), them.fittedvalues, rtol=RTOL)
    assert_allclose(ours.deviance(X, y), them.deviance, rtol=RTOL)
    assert_allclose(ours.dispersion_, them.scale, rtol=RTOL)


@pytest.mark.parametrize(("name", "link"), REFUSED, ids=shown(REFUSED))
def test_links_that_can_leave_the_means_of_a_family_are_refused_with_those_that_cannot(name, link):
    """statsmodels fits them with a warning, and predicts probabilities above 1."""
    response = FAMILIES[name][1]
    expected = rf"The link '{link}' gives means in .*; a {name} response needs them in .*Choose one"
    with pytest.raises(InvalidInput, match=expected):
        likely.GLM(response, link).fit([[0.0], [1.0]], [0.5, 0.7])


@pytest.mark.parametrize("power", [0.5, -0.5, 2.0])
def test_power_links_of_statsmodels(power):
    X, y = data(Tweedie(1.5), Power(power))
    ours = likely.GLM(Tweedie(1.5), Power(power), tol=TIGHT).fit(X, y)
    them = theirs(F.Tweedie(L.Power(power), var_power=1.5), X, y)
    assert_allclose(coefficients(ours), them.params, rtol=RTOL, atol=RTOL)


@pytest.mark.parametrize("power", [1.1, 1.9, 3.0])
def test_powers_of_the_tweedie_variance(power):
    X, y = data(Tweedie(power) if power < 2 else RESPONSES["inverse-gaussian"], LINKS["log"])
    ours = likely.GLM(Tweedie(power), "log", tol=TIGHT).fit(X, y)
    them = theirs(F.Tweedie(L.Log(), var_power=power), X, y)
    assert_allclose(coefficients(ours), them.params, rtol=RTOL, atol=RTOL)


EXPONENTIAL = [("poisson", "log"), ("bernoulli", "logit"), ("gamma", "log"), ("gaussian", "log")]


@pytest.mark.parametrize(("name", "link"), EXPONENTIAL, ids=shown(EXPONENTIAL))
def test_offsets_and_frequencies(name, link):
    family, response = FAMILIES[name]
    X, y = data(response, LINKS[link], seed=1)
    rng = np.random.default_rng(2)
    offset, weight = rng.normal(0, 0.3, N), rng.integers(1, 5, N)
    ours = likely.GLM(response, link, tol=TIGHT).fit(X, y, weight, offset=offset)
    them = theirs(family(THEIR_LINKS[link]), X, y, offset=offset, freq_weights=weight)
    assert_allclose(coefficients(ours), them.params, rtol=RTOL, atol=RTOL)
    assert_allclose(ours.predict(X, offset=offset), them.fittedvalues, rtol=RTOL)
    assert_allclose(ours.deviance(X, y, weight, offset=offset), them.deviance, rtol=RTOL)


def test_exposures():
    rng = np.random.default_rng(3)
    X, exposure = rng.normal(size=(N, 2)), rng.uniform(0.1, 5, N)
    y = rng.poisson(exposure * np.exp(0.5 * X[:, 0] - 1))
    ours = likely.GLM("poisson", tol=TIGHT).fit(X, y, exposure=exposure)
    them = theirs(F.Poisson(), X, y, exposure=exposure)
    assert_allclose(coefficients(ours), them.params, rtol=RTOL)
    assert_allclose(ours.predict(X, exposure=exposure), them.fittedvalues, rtol=RTOL)
    assert_allclose(ours.predict(X[:3]), ours.predict(X[:3], exposure=np.ones(3)))


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog", "cauchit"])
def test_proportions_with_their_trials_for_weights(link):
    rng = np.random.default_rng(4)
    X, trials = rng.uniform(-1, 1, (N, 2)), rng.integers(1, 30, N)
    mean = LINKS[link].inverse(0.6 * X[:, 0] - 0.3)
    hits = rng.binomial(trials, mean)
    ours = likely.GLM("bernoulli", link, tol=TIGHT).fit(X, hits / trials, sample_weight=trials)
    them = theirs(F.Binomial(THEIR_LINKS[link]), X, np.column_stack([hits, trials - hits]))
    assert_allclose(coefficients(ours), them.params, rtol=RTOL, atol=RTOL)


def test_exponential_responses_are_gammas_of_scale_one():
    """GLM-3: coefficients of Gamma(InversePower), whose scale does not move them."""
    X, y = data(RESPONSES["exponential"], LINKS["inverse"], seed=5)
    ours = likely.GLM("exponential", tol=TIGHT).fit(X, y)
    model = sm.GLM(y, np.column_stack([X, np.ones(N)]), family=F.Gamma())
    them = model.fit(tol=1e-10, tol_criterion="params", scale=1.0)
    assert_allclose(coefficients(ours), them.params, rtol=RTOL, atol=RTOL)
    se = ours.summary().to_frame("pandas")["se"]
    assert_allclose(sorted(se), sorted(them.bse), rtol=RTOL)
    assert ours.dispersion_ == 1.0


def labels(seed=6, n=N, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X @ np.linspace(1.5, -0.5, p) + rng.logistic(size=n) > 0.3).astype(int)


def test_maximum_likelihood_is_that_of_statsmodels_logit_and_probit():
    """LR-2, GLM-7."""
    X, y = labels()
    A = np.column_stack([X, np.ones(N)])
    for link, model in (("logit", sm.Logit), ("probit", sm.Probit)):
        ours = likely.LogisticRegression(link, l2=0.0, tol=TIGHT).fit(X, y)
        them = model(y, A).fit(disp=0, tol=1e-12)
        assert_allclose(coefficients(ours), them.params, rtol=RTOL)
        assert_allclose(ours.log_likelihood(X, y), them.llf, rtol=1e-9)


def numbers(seed=7, n=120, p=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + np.arange(p)
    weight = rng.uniform(0.2, 3, n)
    return X, X @ np.array([2.0, 0, -1, 0, 0.3, 0]) + 4 + rng.normal(size=n), weight


def assert_same_line(ours, them, rtol, atol=0.0):
    assert_allclose(np.squeeze(ours.coef_), np.squeeze(them.coef_), rtol=rtol, atol=atol)
    assert_allclose(ours.intercept_, them.intercept_, rtol=rtol, atol=atol)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_least_squares_of_scikit_learn(intercept, weighted):
    X, y, weight = numbers()
    w = weight if weighted else None
    ours = likely.LinearRegression(fit_intercept=intercept).fit(X, y, w)
    them = linear_model.LinearRegression(fit_intercept=intercept).fit(X, y, w)
    assert_same_line(ours, them, 1e-9, 1e-11)


def test_several_responses_of_scikit_learn():
    X, y, weight = numbers()
    Y = np.column_stack([y, y[::-1], np.sin(y)])
    for l2, them in ((0.0, linear_model.LinearRegression()), (3.0, linear_model.Ridge(3.0))):
        ours = likely.LinearRegression(l2=l2).fit(X, Y, weight)
        them.fit(X, Y, weight)
        assert_allclose(ours.coef_, them.coef_, rtol=1e-9, atol=1e-11)
        assert_allclose(ours.intercept_, them.intercept_, rtol=1e-9)
        assert_allclose(ours.predict(X), them.predict(X), rtol=1e-9)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [True, False])
def test_ridge_of_scikit_learn_is_l2_equal_to_alpha(alpha, weighted):
    """REG-5."""
    X, y, weight = numbers()
    w = weight if weighted else None
    ours = likely.LinearRegression(l2=alpha).fit(X, y, w)
    assert_same_line(ours, linear_model.Ridge(alpha).fit(X, y, w), 1e-9, 1e-11)


@pytest.mark.parametrize("alpha", [0.01, 0.3])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_elastic_nets_of_scikit_learn(alpha, ratio):
    """REG-8, REG-9: l1 = nαρ and l2 = nα(1 − ρ); a Lasso is ρ = 1."""
    X, y, _ = numbers()
    n = len(X)
    ours = likely.LinearRegression(l1=n * alpha * ratio, l2=n * alpha * (1 - ratio), tol=TIGHT)
    them = linear_model.ElasticNet(alpha, l1_ratio=ratio, tol=1e-14, max_iter=100_000).fit(X, y)
    assert_same_line(ours.fit(X, y), them, RTOL, 1e-7)
    assert_allclose(ours.coef_ == 0, them.coef_ == 0)


def test_weights_of_a_lasso_count_for_alpha():
    """l1 = alpha Σw."""
    X, y, weight = numbers()
    ours = likely.LinearRegression(l1=0.1 * weight.sum(), tol=TIGHT).fit(X, y, weight)
    them = linear_model.Lasso(0.1, tol=1e-14, max_iter=100_000).fit(X, y, weight)
    assert_same_line(ours, them, RTOL, 1e-7)


@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_logistic_regression_of_scikit_learn_is_l2_equal_to_one_over_c(C, intercept):
    """LR-16: SPEC's C = 1/(2 λ₂), with l2 = 2 λ₂."""
    X, y = labels()
    weight = np.random.default_rng(8).uniform(0.1, 2, N)
    ours = likely.LogisticRegression(l2=1 / C, fit_intercept=intercept, tol=TIGHT)
    them = linear_model.LogisticRegression(
        C=C, fit_intercept=intercept, tol=1e-12, solver="newton-cholesky"
    )
    assert_same_line(ours.fit(X, y, weight), them.fit(X, y, weight), RTOL, 1e-8)
    assert_allclose(ours.predict_proba(X), them.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_sparse_logistic_regression_of_scikit_learn(ratio):
    """saga stops at 1e-7 after a while and no lower: hence 1e-5."""
    X, y = labels()
    C = 0.05
    ours = likely.LogisticRegression(l1=ratio / C, l2=(1 - ratio) / C, tol=TIGHT).fit(X, y)
    them = linear_model.LogisticRegression(
        C=C, l1_ratio=ratio, solver="saga", tol=1e-9, max_iter=10_000, random_state=0
    ).fit(X, y)
    assert_same_line(ours, them, 1e-5, 1e-6)
    assert (ours.coef_ == 0).any()
    assert_allclose(ours.coef_ == 0, them.coef_ == 0)


def test_liblinear_penalises_the_intercept_and_so_may_we():
    X, y = labels()
    ours = likely.LogisticRegression(l1=10.0, l2=0.0, penalise_intercept=True, tol=TIGHT).fit(X, y)
    them = linear_model.LogisticRegression(
        C=0.1, l1_ratio=1.0, solver="liblinear", tol=1e-10, max_iter=5000, random_state=0
    ).fit(X, y)
    assert_same_line(ours, them, 1e-5, 1e-6)


REGRESSORS = {
    "poisson": (linear_model.PoissonRegressor, "poisson", None),
    "gamma": (linear_model.GammaRegressor, "gamma", "log"),
    "tweedie": (lambda **o: linear_model.TweedieRegressor(power=1.5, **o), Tweedie(1.5), "log"),
    "normal": (lambda **o: linear_model.TweedieRegressor(power=0, **o), "gaussian", "identity"),
    "inverse gaussian": (
        lambda **o: linear_model.TweedieRegressor(power=3, **o),
        "inverse-gaussian",
        "log",
    ),
}


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_generalized_regressors_of_scikit_learn(name, alpha):
    """l2 = alpha Σw; its deviance is twice our objective, and halved there."""
    them, response, link = REGRESSORS[name]
    family = RESPONSES[response] if isinstance(response, str) else response
    X, y = data(family, LINKS[link or "log"], seed=9)
    weight = np.random.default_rng(10).uniform(0.1, 2, N)
    # its Newton uses the observed Hessian, which is indefinite for inverse Gaussians
    solver = "lbfgs" if name == "inverse gaussian" else "newton-cholesky"
    them = them(alpha=alpha, solver=solver, tol=1e-10, max_iter=5000).fit(X, y, weight)
    ours = likely.GLM(response, link, l2=alpha * weight.sum(), tol=TIGHT).fit(X, y, weight)
    assert_same_line(ours, them, 1e-5 if solver == "lbfgs" else RTOL, 1e-7)
    assert_allclose(ours.score(X, y, weight), them.score(X, y, weight), rtol=1e-6)
