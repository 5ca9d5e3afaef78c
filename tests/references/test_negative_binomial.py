"""Negative binomial regression with an estimated α: R's glm.nb and Stata's nbreg, live data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely

pytest.importorskip("statsmodels", reason="statsmodels is not installed")

from statsmodels.datasets import randhie  # after the check
from statsmodels.discrete.discrete_model import NegativeBinomial
from statsmodels.discrete.tests.results.results_discrete import RandHIE
from statsmodels.tools import add_constant


def test_doctor_visits_are_those_of_r_and_stata():
    """MASS 7.3 glm.nb prints θ = 1/α; Stata adds ln α, its error, and the null model.

    Stata's error of ln α has the cross terms of the observed information, which R leaves out as
    they are 0 in expectation: 1.43932e-2 for 1.43927e-2 here.
    """
    data = randhie.load()
    X, y = np.asarray(data.exog, dtype=float), np.asarray(data.endog, dtype=float)
    theirs = RandHIE.negativebinomial_nb2_bfgs
    ours = likely.GLM("negative-binomial", tol=1e-13).fit(X, y)
    inference = ours.inference_
    off = (inference.theta - theirs.params[:-1]) / theirs.bse[:-1]
    assert np.abs(off).max() < 2e-6  # R stops there
    assert_allclose(inference.standard_errors, theirs.bse[:-1], rtol=5e-6)
    assert_allclose(ours.alpha_, theirs.params[-1], rtol=1e-8)
    assert_allclose(inference.alpha.log_error, theirs.lnalpha_std_err, rtol=5e-5)
    assert_allclose(inference.alpha.standard_error, theirs.bse[-1], rtol=5e-5)
    assert_allclose(inference.log_likelihood, theirs.llf, rtol=1e-11)
    assert_allclose(inference.null_log_likelihood, theirs.llnull, rtol=1e-11)
    assert_allclose([inference.aic, inference.bic], [theirs.aic, theirs.bic], rtol=1e-11)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("exposed", [False, True])
def test_simulated_counts_have_the_alpha_and_error_of_statsmodels(alpha, exposed):
    """Their error of α is from the joint information; ours leaves out the cross terms: 2 %."""
    rng = np.random.default_rng(1)
    X, time = rng.normal(size=(500, 2)), rng.uniform(0.5, 3, 500) if exposed else np.ones(500)
    mean = time * np.exp(1 + 0.5 * X[:, 0])
    y = rng.negative_binomial(1 / alpha, 1 / (1 + alpha * mean))
    ours = likely.GLM("negative-binomial", tol=1e-12).fit(X, y, exposure=time)
    them = NegativeBinomial(y, add_constant(X), exposure=time if exposed else None).fit(
        disp=0, maxiter=500, gtol=1e-5
    )
    assert_allclose(ours.alpha_, them.params[-1], rtol=1e-4)
    assert_allclose(ours.inference_.alpha.standard_error, them.bse[-1], rtol=0.02)
    assert_allclose(ours.coef_, them.params[1:-1], rtol=1e-3, atol=1e-4)
    assert f"(std err {ours.inference_.alpha.standard_error:.4g})" in str(ours.summary())


def test_underdispersed_counts_have_alpha_0_and_no_error():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 1))
    y = rng.binomial(10, 0.5, 300)  # a variance of half the mean
    model = likely.GLM("negative-binomial").fit(X, y)
    assert model.alpha_ == 0
    assert np.isnan(model.inference_.alpha.standard_error)
    assert "the likelihood is largest at alpha = 0" in " ".join(str(model.summary()).split())
    poisson = likely.GLM("poisson").fit(X, y)
    assert_allclose(model.coef_, poisson.coef_, rtol=1e-6, atol=1e-9)
