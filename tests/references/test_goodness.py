"""R², pseudo-R², tests of all coefficients and ratios, against statsmodels.

Tolerances are 1e-7 and not tighter because both searches stop at a tolerance of their own; least
squares has a closed form and agrees to rounding.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from statsmodels.discrete.discrete_model import NegativeBinomial
from statsmodels.miscmodels.ordinal_model import OrderedModel

import likely as lk
from likely.errors import InvalidInput, RedundantColumns, Separation

N = 150
RTOL = 1e-7
pytestmark = pytest.mark.filterwarnings("ignore:Inverting hessian failed")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 3))
    eta = 0.4 + 0.5 * X[:, 0] - 0.3 * X[:, 1]
    return {
        "X": X,
        "with_one": sm.add_constant(X),
        "real": 2 + eta + rng.normal(size=N),
        "binary": (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(int),
        "count": rng.poisson(np.exp(eta)),
        "wide": rng.negative_binomial(2, 2 / (2 + np.exp(eta))),
        "weight": rng.integers(1, 4, N),
        "offset": rng.normal(size=N) / 3,
        "exposure": rng.uniform(0.5, 3, N),
        "group": rng.integers(0, 30, N),
    }


def overall(fit):
    test = fit.overall_test()
    return [test.statistic, test.p, test.df, test.df_residual]


def squares(fit):
    return [fit.r_squared, fit.adjusted_r_squared]


@pytest.mark.parametrize("case", ["plain", "no intercept", "weights", "offset", "redundant"])
def test_r_squared_and_f_of_least_squares_are_those_of_ols(rows, case):
    X, y, design = rows["X"], rows["real"], rows["with_one"]
    model, given = lk.LinearRegression(fit_intercept=case != "no intercept"), {}
    if case == "no intercept":  # statsmodels' uncentered R²
        design = X
    elif case == "weights":  # frequencies: each row so many times
        given = {"sample_weight": rows["weight"]}
        design, y = np.repeat(design, rows["weight"], axis=0), np.repeat(y, rows["weight"])
    elif case == "offset":
        given, y = {"offset": rows["offset"]}, y - rows["offset"]
    if case == "redundant":
        X = np.column_stack([X, X[:, 0] - X[:, 1]])
        with pytest.warns(RedundantColumns):
            fit = model.fit(X, rows["real"]).inference_
    else:
        fit = model.fit(X, rows["real"], **given).inference_
    them = sm.OLS(y, design).fit()
    assert_allclose(squares(fit), [them.rsquared, them.rsquared_adj], rtol=1e-11)
    assert_allclose(
        overall(fit), [them.fvalue, them.f_pvalue, them.df_model, them.df_resid], rtol=1e-9
    )


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3", "clustered"])
def test_robust_covariances_have_the_wald_test_of_ols(rows, kind):
    groups = {"groups": rows["group"]} if kind == "clustered" else {}
    fit = lk.LinearRegression(standard_errors=kind).fit(rows["X"], rows["real"], **groups)
    name, how = ("cluster", {"cov_kwds": groups}) if kind == "clustered" else (kind, {})
    them = sm.OLS(rows["real"], rows["with_one"]).fit(cov_type=name, use_t=True, **how)
    assert_allclose(overall(fit.inference_)[:2], [them.fvalue, them.f_pvalue], rtol=1e-9)
    df = len(set(rows["group"].tolist())) - 1 if kind == "clustered" else N - 4
    assert fit.inference_.overall_test().df_residual == df
    said = str(fit.summary())
    assert f"Wald F(3, {df}), " in said
    assert ("by cluster" if kind == "clustered" else kind) in said


@pytest.mark.parametrize("kind", ["plain", "weights", "offset"])
def test_pseudo_r_squared_of_two_classes_is_that_of_statsmodels(rows, kind):
    ours = {"weights": {"sample_weight": rows["weight"]}, "offset": {"offset": rows["offset"]}}
    theirs = {"weights": {"freq_weights": rows["weight"]}, "offset": {"offset": rows["offset"]}}
    model = lk.LogisticRegression(l2=0, tol=1e-13).fit(
        rows["X"], rows["binary"], **ours.get(kind, {})
    )
    them = sm.GLM(
        rows["binary"], rows["with_one"], sm.families.Binomial(), **theirs.get(kind, {})
    ).fit(tol=1e-13)
    fit, n = model.inference_, model.inference_.n
    assert_allclose(fit.mcfadden, them.pseudo_rsquared("mcf"), rtol=RTOL)
    ratio = 2 * (them.llf - them.llnull)
    cox_snell = 1 - np.exp(-ratio / n)  # statsmodels divides by rows, not by the sum of weights
    assert_allclose(fit.cox_snell, cox_snell, rtol=RTOL)
    assert_allclose(fit.nagelkerke, cox_snell / (1 - np.exp(2 * them.llnull / n)), rtol=RTOL)
    assert_allclose(overall(fit)[0], ratio, rtol=RTOL)
    if kind == "plain":
        logit = sm.Logit(rows["binary"], rows["with_one"]).fit(disp=0, tol=1e-13)
        assert_allclose(
            [fit.mcfadden, *overall(fit)[:2]], [logit.prsquared, logit.llr, logit.llr_pvalue], RTOL
        )
        assert_allclose(fit.cox_snell, them.pseudo_rsquared("cs"), rtol=RTOL)


def test_counts_with_an_exposure_have_statsmodels_rate_ratios_and_pseudo_r_squared(rows):
    model = lk.GLM("poisson", tol=1e-13).fit(rows["X"], rows["count"], exposure=rows["exposure"])
    them = sm.GLM(
        rows["count"], rows["with_one"], sm.families.Poisson(), exposure=rows["exposure"]
    ).fit(tol=1e-13)
    fit = model.inference_
    measures = [fit.mcfadden, fit.cox_snell, fit.deviance_explained, fit.pearson_dispersion]
    expected = [
        them.pseudo_rsquared("mcf"),
        them.pseudo_rsquared("cs"),
        1 - them.deviance / them.null_deviance,
        them.pearson_chi2 / them.df_resid,
    ]
    assert_allclose(measures, expected, rtol=RTOL)
    found = model.summary(0.9).ratios("pandas")
    assert list(found.index) == ["x0", "x1", "x2"]
    assert_allclose(found["ratio"], np.exp(them.params[1:]), rtol=RTOL)
    assert_allclose(found[["low", "high"]], np.exp(them.conf_int(0.1)[1:]), rtol=RTOL)
    assert_allclose(found["p"], them.pvalues[1:], rtol=1e-5, atol=1e-12)
    said = str(model.summary())
    assert "Rate ratios: exp(coef)" in said
    assert "intercept" not in said.partition("Rate ratios")[2]


def test_an_estimated_alpha_has_statsmodels_pseudo_r_squared_and_test(rows):
    fit = lk.GLM("negative-binomial", tol=1e-12).fit(rows["X"], rows["wide"]).inference_
    them = NegativeBinomial(rows["wide"], rows["with_one"]).fit(disp=0, gtol=1e-10, maxiter=200)
    assert_allclose(fit.mcfadden, them.prsquared, rtol=1e-6)
    assert_allclose(overall(fit)[:2], [them.llr, them.llr_pvalue], rtol=1e-5)
    assert_allclose(fit.alpha.alpha, them.params[-1], rtol=1e-5)


def test_several_classes_have_the_measures_of_mnlogit_and_of_an_ordered_model(rows):
    y = np.minimum(rows["count"], 2)
    softmax = lk.SoftmaxRegression(l2=0, reference=0, tol=1e-12).fit(rows["X"], y)
    them = sm.MNLogit(y, rows["with_one"]).fit(disp=0)
    fit = softmax.inference_
    assert_allclose([fit.mcfadden, *overall(fit)[:2]], [them.prsquared, them.llr, them.llr_pvalue])
    ratios = softmax.summary().ratios("pandas")["ratio"].to_numpy().reshape(2, 3)
    assert_allclose(ratios, np.exp(them.params[1:].T), rtol=1e-5)
    ordinal = lk.OrdinalRegression(l2=0, tol=1e-12).fit(rows["X"], y)
    them = OrderedModel(y, rows["X"], distr="logit").fit(method="bfgs", disp=0, gtol=1e-8)
    assert_allclose(ordinal.inference_.mcfadden, them.prsquared, rtol=1e-6)
    found = ordinal.summary().ratios("pandas")
    assert_allclose(found["ratio"], np.exp(them.params[:3]), rtol=1e-4)
    assert ordinal.summary().ratio == "odds ratio"


@pytest.mark.parametrize(
    ("response", "link", "name"),
    [
        ("bernoulli", "logit", "odds ratio"),
        ("bernoulli", "log", "risk ratio"),
        ("bernoulli", "cloglog", "hazard ratio"),
        ("poisson", "log", "rate ratio"),
        ("negative-binomial", "log", "rate ratio"),
        ("gamma", "log", "ratio of means"),
        ("gaussian", "identity", ""),
        ("bernoulli", "probit", ""),
        ("poisson", "sqrt", ""),
    ],
)
def test_a_ratio_is_named_after_what_it_compares(response, link, name):
    X = np.repeat([[0.0], [1.0]], 4, axis=0)
    y = np.array([1.0, 0, 0, 1, 1, 0, 1, 1]) + (response == "gamma")
    summary = lk.GLM(response, link).fit(X, y).summary()
    assert summary.ratio == name
    if name:
        frame = summary.ratios("pandas")
        assert_allclose(frame["ratio"], np.exp(summary.to_frame("pandas")["coef"].iloc[:1]))
        assert f">{name}<" in summary._repr_html_()
        return
    with pytest.raises(InvalidInput, match="exp\\(coef\\) is a ratio for the logit, log and"):
        summary.ratios()
    assert "ratio" not in str(summary)


def test_the_f_test_of_an_estimated_dispersion_is_that_of_the_deviances(rows):
    y = np.exp(rows["real"])
    fit = lk.GLM("gamma", "log", tol=1e-13).fit(rows["X"], y).inference_
    them = sm.GLM(y, rows["with_one"], sm.families.Gamma(sm.families.links.Log())).fit(tol=1e-13)
    f = (them.null_deviance - them.deviance) / 3 / them.scale
    assert_allclose(overall(fit)[0], f, rtol=RTOL)
    assert np.isnan([fit.mcfadden, fit.cox_snell, fit.nagelkerke, fit.r_squared]).all()


def test_measures_of_likelihoods_that_no_fit_has_are_numbers(rows):
    fit = lk.LinearRegression().fit(rows["X"], rows["real"]).inference_
    assert np.isnan(replace(fit, null_log_likelihood=1e12).nagelkerke)
    extreme = replace(fit, largest_eta=1e300)
    assert extreme.is_perfect and np.isnan(extreme.r_squared)
    counts = lk.GLM("poisson").fit(rows["X"], np.rint(np.exp(rows["real"]))).inference_
    other = replace(counts, null_log_likelihood=1e12)
    assert other.cox_snell == 0 and np.isnan(other.nagelkerke)


def keys(model):
    return {fact.key for fact in model.summary().describe().fit}


MEASURES = {"adjusted_r_squared", "mcfadden", "cox_snell", "nagelkerke", "overall_p"}


def test_what_a_penalty_leaves_undefined_is_left_out_and_said(rows):
    ridge = lk.LinearRegression(l2=1.0).fit(rows["X"], rows["real"])
    shrunk = lk.LogisticRegression(l2=1.0).fit(rows["X"], rows["binary"])
    firth = lk.LogisticRegression(firth=True).fit(rows["X"], rows["binary"])
    for model in (ridge, shrunk, firth):
        assert not keys(model) & MEASURES
    assert "r_squared" in keys(ridge)
    assert "pseudo-R² and the test of all coefficients are defined for maximum" in " ".join(
        ridge.summary().notes
    )


def test_separated_classes_and_saturated_fits_do_not_fail():
    X = np.array([[0.0], [1], [2], [3], [4], [5]])
    with pytest.warns(Separation):
        model = lk.LogisticRegression(l2=0).fit(X, [0, 0, 0, 1, 1, 1])
    assert model.inference_.mcfadden == pytest.approx(1, abs=1e-3)
    assert "the responses are separated" in str(model.summary())
    line = lk.LinearRegression().fit([[0.0], [1.0]], [1.0, 2.0])
    assert not keys(line) & {"adjusted_r_squared", "overall_p"}
    assert "no data are left to estimate the dispersion" in str(line.summary())
    flat = lk.LinearRegression().fit(X, np.ones(6))
    assert not keys(flat) & {"r_squared", "adjusted_r_squared"}


def test_responses_that_do_not_vary_leave_nothing_to_explain(rows):
    threes = lk.GLM("poisson").fit(rows["X"], np.full(N, 3.0))
    assert "deviance_explained" not in keys(threes)
    with pytest.warns(Separation):
        zeros = lk.GLM("poisson").fit(rows["X"], np.zeros(N))
    assert not keys(zeros) & {"mcfadden", "nagelkerke", "deviance_explained"}
    tenths = lk.LinearRegression().fit(rows["X"], np.full(N, 0.1))
    assert not keys(tenths) & {"r_squared"}


def test_a_null_model_of_mean_0_is_no_model_to_compare_with(rows):
    X = np.abs(rows["X"])
    fit = lk.GLM("poisson", "identity", fit_intercept=False).fit(X, rows["count"]).inference_
    assert np.isnan([fit.null_deviance, fit.mcfadden, fit.deviance_explained]).all()
    assert fit.overall_test() is None


def test_too_few_clusters_leave_the_test_out(rows):
    few = rows["group"] % 3
    model = lk.LinearRegression(standard_errors="clustered").fit(
        rows["X"], rows["real"], groups=few
    )
    assert model.inference_.overall_test() is None
    assert "r_squared" in keys(model)


def test_students_t_is_called_t_and_the_normal_z(rows):
    linear = lk.LinearRegression().fit(rows["X"], rows["real"]).summary()
    glm = lk.GLM().fit(rows["X"], rows["real"]).summary()
    assert list(linear.to_frame("pandas"))[2] == "t"
    assert list(glm.to_frame("pandas"))[2] == "z"
    assert {"t", "p"} < set(linear.describe().to_json()["terms"][0])


def test_r_squared_without_an_intercept_says_that_it_is_around_0(rows):
    frame = pd.DataFrame(rows["X"], columns=list("abc"))
    model = lk.LinearRegression(fit_intercept=False).fit(frame, rows["real"])
    assert "R² (around 0)" in str(model.summary())
    assert "R² (around 0)" in model.summary()._repr_html_()
