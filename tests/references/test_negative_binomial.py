"""Negative binomial regression with an estimated α: R's glm.nb and Stata's nbreg, live data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely

pytest.importorskip("statsmodels", reason="statsmodels is not installed")

from statsmodels.datasets import randhie  # after the check
from statsmodels.discrete.tests.results.results_discrete import RandHIE


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
