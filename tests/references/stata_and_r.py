"""Models that Stata and R fitted, as statsmodels ships their results, and our fits of them."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import pytest

import likely

pytest.importorskip("statsmodels", reason="statsmodels is not installed")
pytest.importorskip(
    "statsmodels.genmod.tests.results.results_glm", reason="statsmodels has no test results"
)

import pandas as pd  # after the checks
from statsmodels import datasets
from statsmodels.discrete.tests.results import results_count_robust_cluster as ships_results
from statsmodels.discrete.tests.results import results_glm_logit_constrained as spector_glm
from statsmodels.discrete.tests.results.results_discrete import Anes, RandHIE, Spector
from statsmodels.genmod.tests.results import res_R_var_weight as r_weights
from statsmodels.genmod.tests.results import results_glm
from statsmodels.genmod.tests.results import results_glm_poisson_weights as weights
from statsmodels.miscmodels.tests.results import results_ordinal_model as polr
from statsmodels.regression.tests.results import results_grunfeld_ols_robust_cluster as grunfeld
from statsmodels.regression.tests.results import results_macro_ols_robust as macro
from statsmodels.regression.tests.results.results_regression import Longley

FREQUENCIES = np.array([1, 1, 1, 2, 2, 2, 3, 3, 3, 1, 1, 1, 2, 2, 2, 3, 3])


@dataclass(frozen=True)
class Reference:
    """Estimates that another program printed, in the order of our coefficients and intercept."""

    source: str
    params: object
    errors: object
    fit: Callable[[], object]


REFERENCES: dict[str, Reference] = {}


def reference(name, source, params, errors):
    """Register the fit below under a name, with what another program printed of it."""

    def register(fit):
        REFERENCES[name] = Reference(source, params, errors, fit)
        return fit

    return register


def array(table):
    return np.asarray(table, dtype=float)


def constant_last(values):
    return np.roll(np.asarray(values, dtype=float), -1)


def loaded(name):
    data = getattr(datasets, name).load()
    return array(data.exog).copy(), array(data.endog).copy()


# ── least squares ────────────────────────────────────────────────────────────────────

LONGLEY = Longley()
reference("OLS", "NIST", LONGLEY.params, LONGLEY.bse)(
    lambda: likely.LinearRegression().fit(*loaded("longley"))
)


def _longley(kind):
    return lambda: likely.LinearRegression(standard_errors=kind).fit(*loaded("longley"))


for _kind in ("HC0", "HC1", "HC2", "HC3"):
    _errors = getattr(Longley, f"{_kind}_se")
    reference(f"OLS, {_kind}", "R", LONGLEY.params, _errors)(_longley(_kind))


def _macro(kind):
    table = datasets.macrodata.load_pandas().data
    growth = 400 * np.diff(np.log(table[["realgdp", "realinv"]].to_numpy()), axis=0)
    X = np.column_stack([growth[:, 0], table["realint"].to_numpy()[:-1]])
    return likely.LinearRegression(standard_errors=kind).fit(X, growth[:, 1])


reference("OLS, robust", "Stata", macro.results_hc0.params, macro.results_hc0.bse)(
    lambda: _macro("HC1")
)
reference(
    "OLS, robust without a factor",
    "Stata",
    macro.results_ivhc0_large.params,
    macro.results_ivhc0_large.bse,
)(lambda: _macro("HC0"))


def _grunfeld(by_firm, *, weighted):
    table = datasets.grunfeld.load_pandas().data.iloc[:200]
    X = table[["value", "capital"]].to_numpy()
    weight = 200 / X[:, 0] / (1 / X[:, 0]).sum() if weighted else None  # aweights: the mean is 1
    groups = table["firm"].to_numpy() if by_firm else np.arange(200)
    model = likely.LinearRegression(standard_errors="clustered")
    return model.fit(X, table["invest"].to_numpy(), sample_weight=weight, groups=groups)


for _name, _result, _by_firm, _weighted in (
    ("OLS, clustered", grunfeld.results_cluster, True, False),
    # our HC1 takes weights for frequencies; a cluster for each row takes them for precisions
    ("WLS, robust", grunfeld.results_hc1_wls_small, False, True),
    ("WLS, clustered", grunfeld.results_cluster_wls_small, True, True),
):
    reference(_name, "Stata", _result.params, _result.bse)(
        lambda by_firm=_by_firm, weighted=_weighted: _grunfeld(by_firm, weighted=weighted)
    )


def _curve(kind):
    """The curves of statsmodels' tests: the noise is theirs, by its seed."""
    x, noise = np.arange(100), np.random.RandomState(54321)
    X = np.column_stack([x, x**2]).astype(float)
    if kind == "log":
        mean = np.exp(-(-1.0 + 0.02 * x + 0.0001 * x**2))
    else:
        noise.randn(100)
        mean = (1.0 + 0.02 * x + 0.001 * x**2) ** -1
    return likely.GLM("gaussian", kind).fit(X, mean + 0.001 * noise.randn(100))


for _name, _result, _kind in (
    ("Gaussian, log", results_glm.GaussianLog(), "log"),
    ("Gaussian, inverse", results_glm.GaussianInverse(), "inverse"),
):
    reference(_name, "R", constant_last(_result.params), constant_last(_result.bse))(
        lambda kind=_kind: _curve(kind)
    )

# ── binary and grouped responses ─────────────────────────────────────────────────────


def _spector(link, **settings):
    return likely.LogisticRegression(link, l2=0.0, **settings).fit(*loaded("spector"))


reference("logit", "Stata", Spector.logit.params, Spector.logit.bse)(lambda: _spector("logit"))
reference("probit", "Stata", Spector.probit.params, Spector.probit.bse)(lambda: _spector("probit"))
reference(
    "logit, by glm",
    "Stata",
    spector_glm.results_noconstraint.params,
    spector_glm.results_noconstraint.bse,
)(lambda: likely.GLM("bernoulli").fit(*loaded("spector")))
reference(
    "logit, robust",
    "Stata",
    spector_glm.results_noconstraint_robust.params,
    spector_glm.results_noconstraint_robust.bse * np.sqrt(31 / 32),  # Stata's factor is n/(n − 1)
)(lambda: _spector("logit", standard_errors="HC0"))

LBW = results_glm.Lbw()
reference("logit, low birth weight", "Stata", LBW.params, LBW.bse)(
    lambda: likely.GLM("bernoulli").fit(array(LBW.exog)[:, :-1], array(LBW.endog))
)

STAR = results_glm.Star98()


@reference("binomial, grouped", "R", STAR.params, STAR.bse)
def _star98():
    X, counts = loaded("star98")
    trials = counts.sum(axis=1)
    return likely.GLM("bernoulli").fit(X, counts[:, 0] / trials, sample_weight=trials)


# ── counts ───────────────────────────────────────────────────────────────────────────


def punishments():
    X, y = loaded("cpunish")
    X[:, 3] = np.log(X[:, 3])
    return X, y


CPUNISH, OFFSET = results_glm.Cpunish(), results_glm.Cpunish_offset()
reference("Poisson", "R", CPUNISH.params, CPUNISH.bse)(
    lambda: likely.GLM("poisson").fit(*punishments())
)
reference("Poisson, exposure", "R", constant_last(OFFSET.params), constant_last(OFFSET.bse))(
    lambda: likely.GLM("poisson").fit(*punishments(), exposure=np.full(17, 100.0))
)
reference("Poisson, doctor visits", "Stata", RandHIE.poisson.params, RandHIE.poisson.bse)(
    lambda: likely.GLM("poisson").fit(*loaded("randhie"))
)


def _weighted(kind):
    groups = np.arange(1, 18) // 2 if kind == "clustered" else None
    model = likely.GLM("poisson", standard_errors=kind)
    return model.fit(*punishments(), sample_weight=FREQUENCIES, groups=groups)


_fw = FREQUENCIES.sum()
for _name, _result, _kind, _factor in (
    ("Poisson, frequencies", weights.results_poisson_fweight_nonrobust, "model", 1.0),
    # Stata's factors are n/(n − 1) and G/(G − 1)
    (
        "Poisson, frequencies, robust",
        weights.results_poisson_fweight_hc1,
        "HC0",
        np.sqrt((_fw - 1) / _fw),
    ),
):
    reference(_name, "Stata", _result.params, _factor * _result.bse)(
        lambda kind=_kind: _weighted(kind)
    )


def _ships(response, kind, *, exposure):
    folder = files("statsmodels.discrete.tests.results")
    table = pd.read_csv(str(folder.joinpath("ships.csv")), index_col=False).dropna()
    return likely.GLM(response, standard_errors=kind).fit(
        table[["yr_con", "op_75_79"]].to_numpy(float),
        table["accident"].to_numpy(float),
        exposure=table["service"].to_numpy(float) if exposure else None,
        groups=table["ship"].to_numpy() if kind == "clustered" else None,
    )


_SHIPS = 34
_ROBUST = np.sqrt((_SHIPS - 1) / _SHIPS)  # Stata's factor is n/(n − 1)
_CLUSTERED = np.sqrt((_SHIPS - 1) / (_SHIPS - 3))  # and leaves this one out of the clustered errors
for _name, _result, _response, _kind, _exposure, _factor in (
    ("Poisson, robust", "poisson_hc1", "poisson", "HC0", False, _ROBUST),
    ("Poisson, clustered", "poisson_clu", "poisson", "clustered", False, _CLUSTERED),
    (
        "Poisson, exposure, ships",
        "poisson_exposure_nonrobust",
        "poisson",
        "model",
        True,
        1.0,
    ),
    ("Poisson, exposure, robust", "poisson_exposure_hc1", "poisson", "HC0", True, _ROBUST),
    (
        "Poisson, exposure, clustered",
        "poisson_exposure_clu",
        "poisson",
        "clustered",
        True,
        _CLUSTERED,
    ),
    (
        "negative binomial, exposure, ships",
        "negbin_exposure_nonrobust",
        "negative_binomial",
        "model",
        True,
        1.0,
    ),
):
    _result = getattr(ships_results, f"results_{_result}")
    reference(_name, "Stata", _result.params[:3], _factor * _result.bse[:3])(
        lambda response=_response, kind=_kind, exposure=_exposure: _ships(
            response, kind, exposure=exposure
        )
    )

NB2 = RandHIE.negativebinomial_nb2_bfgs
reference("negative binomial", "R", NB2.params[:-1], NB2.bse[:-1])(
    lambda: likely.GLM("negative_binomial").fit(*loaded("randhie"))
)

COMMITTEE = results_glm.Committee()


def committees():
    X, y = loaded("committee")
    X[:, 2] = np.log(X[:, 2])
    return np.column_stack([X, X[:, 2] * X[:, 1]]), y


reference("negative binomial, α = 1, quasi", "R", COMMITTEE.params, COMMITTEE.bse)(
    lambda: likely.GLM("negative_binomial(1.0)", standard_errors="quasi").fit(*committees())
)


# ── positive responses ───────────────────────────────────────────────────────────────

SCOTLAND = results_glm.Scotvote()
reference("gamma, inverse", "R", SCOTLAND.params, SCOTLAND.bse)(
    lambda: likely.GLM("gamma").fit(*loaded("scotland"))
)

for _name, _result, _response, _link in (
    ("gamma, log", results_glm.CancerLog(), "gamma", "log"),
    ("gamma, identity", results_glm.CancerIdentity(), "gamma", "identity"),
    ("inverse Gaussian", results_glm.InvGauss(), "inverse_gaussian", None),
    ("inverse Gaussian, log", results_glm.InvGaussLog(), "inverse_gaussian", "log"),
    ("inverse Gaussian, identity", results_glm.InvGaussIdentity(), "inverse_gaussian", "identity"),
):
    _data = _result if "exog" in vars(_result) else results_glm.Medpar1()
    reference(_name, "Stata and R", _result.params, _result.bse)(
        lambda data=_data, response=_response, link=_link: likely.GLM(response, link).fit(
            array(data.exog)[:, :-1], array(data.endog)
        )
    )

AWEIGHTED = r_weights.results_gamma_aweights_nonrobust


PRIOR_WEIGHT = np.ones(48)
PRIOR_WEIGHT[::5], PRIOR_WEIGHT[::13] = 5, 3


@reference(
    "gamma, log, weights",
    "R",
    constant_last(AWEIGHTED.params),
    # R divides Pearson's χ² by the rows less the coefficients, we by the sum of the weights
    constant_last(AWEIGHTED.bse) * np.sqrt((48 - 4) / (PRIOR_WEIGHT.sum() - 4)),
)
def _weighted_gamma():
    data = results_glm.CancerLog()
    return likely.GLM("gamma", "log").fit(
        array(data.exog)[:, :-1], array(data.endog), sample_weight=PRIOR_WEIGHT
    )


# ── Tweedie ──────────────────────────────────────────────────────────────────────────


def executions():
    table = datasets.cpunish.load_pandas()
    return array(table.exog[["INCOME", "SOUTH"]]), array(table.endog)


def _tweedie(response, link):
    model = likely.GLM(response, link, fit_intercept=False, standard_errors="quasi")
    return model.fit(*executions())


for _name, _result, _response, _link in (
    ("Tweedie 1.5, identity", results_glm.CpunishTweediePower15(), "tweedie(1.5)", "identity"),
    ("Tweedie 2, identity", results_glm.CpunishTweediePower2(), "gamma", "identity"),
    ("Tweedie 1, log", results_glm.CpunishTweedieLog1(), "poisson", "log"),
):
    reference(_name, "R", _result.params, _result.bse)(
        lambda response=_response, link=_link: _tweedie(response, link)
    )

FAIR = results_glm.FairTweedieLog15()


def affairs():
    table = datasets.fair.load_pandas()
    return array(table.exog[["rate_marriage", "age", "yrs_married"]]), array(table.endog)


reference("Tweedie 1.5, log", "R", FAIR.params, FAIR.bse)(
    lambda: likely.GLM("tweedie(1.5)", "log", fit_intercept=False).fit(*affairs())
)


# ── classes ──────────────────────────────────────────────────────────────────────────

ANES = Anes.mnlogit_basezero


@reference("multinomial logit", "Stata and R", ANES.params.T.ravel(), ANES.bse.T.ravel())
def _anes():
    X, y = loaded("anes96")
    return likely.SoftmaxRegression(l2=0.0, reference=0).fit(X, y.astype(int))


for _name, _result, _link in (
    ("ordered logit", polr.res_ord_logit, "logit"),
    ("ordered probit", polr.res_ord_probit, "probit"),
    ("ordered, polr's cloglog", polr.res_ord_cloglog, "loglog"),
):

    @reference(
        _name,
        "R",
        np.append(_result.coefficients_val, -_result.thresholds),
        np.append(_result.coefficients_stdE, [np.nan, np.nan]),
    )
    def _ordered(link=_link):
        table = polr.data_store.df
        X = table[["pared", "public", "gpa"]].to_numpy(float)
        return likely.OrdinalRegression(link, l2=0.0).fit(X, table["apply"].cat.codes.to_numpy())
