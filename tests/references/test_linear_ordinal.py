"""Agreement with statsmodels' OrderedModel, to what its quasi-Newton search reaches.

There P(Y ≤ j) = F(c_j − xᵀβ), so b_j = −c_j and w = β; for a link that is not symmetric F is the
distribution of the noise mirrored: G(η) = 1 − F(−η).
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from likely.linear.ordinal import OrdinalRegression

miscmodels = pytest.importorskip("statsmodels.miscmodels.ordinal_model")

# g(P(Y > j)) = b_j + wᵀx against the distribution F of the noise
NOISE = {
    "logit": "logit",
    "probit": "probit",
    "loglog": stats.gumbel_l,
    "cloglog": stats.gumbel_r,
    "cauchit": stats.cauchy,
}
SEARCH = 1e-5  # BFGS there stops at a gradient of 1e-8 per example


def some_data(n=800, K=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 2.0, 0.5]
    latent = X @ [1.0, -0.4, 0.6] + rng.logistic(size=n)
    return X, np.searchsorted([-1.5, 0.2, 1.4][: K - 1], latent)


@pytest.mark.parametrize("link", NOISE)
@pytest.mark.parametrize("K", [3, 4])
def test_coefficients_thresholds_and_errors_are_those_of_statsmodels(link, K):
    X, y = some_data(K=K)
    model = miscmodels.OrderedModel(y, X, distr=NOISE[link])
    theirs = model.fit(method="bfgs", disp=False, maxiter=2000, gtol=1e-8)
    cuts = model.transform_threshold_params(theirs.params)[1:-1]
    ours = OrdinalRegression(link, l2=0.0, tol=1e-14).fit(X, y)
    assert_allclose(ours.coef_, theirs.params[:3], rtol=SEARCH, atol=SEARCH)
    assert_allclose(ours.thresholds_, -cuts, rtol=SEARCH, atol=SEARCH)
    assert_allclose(ours.inference_.log_likelihood, theirs.llf, rtol=1e-9)
    assert_allclose(ours.inference_.null_log_likelihood, theirs.llnull, rtol=1e-6)
    # theirs come from a numerical Hessian, in other parameters for all thresholds but the first
    errors = ours.inference_.standard_errors
    assert_allclose(errors[:4], theirs.bse[:4], rtol=1e-5)
    assert_allclose(ours.predict_proba(X), theirs.predict(), atol=SEARCH)


@pytest.mark.parametrize("kind", ["model", "HC0", "clustered"])
def test_errors_of_all_thresholds_are_those_of_statsmodels(kind):
    """By the delta method: there all thresholds but the first are logs of the gaps between them."""
    X, y = some_data()
    groups = np.random.default_rng(1).integers(0, 30, len(y))
    robust = {
        "model": {},
        "HC0": {"cov_type": "HC0"},
        "clustered": {"cov_type": "cluster", "cov_kwds": {"groups": groups}},
    }
    model = miscmodels.OrderedModel(y, X, distr="logit")
    theirs = model.fit(method="bfgs", disp=False, maxiter=2000, gtol=1e-9, **robust[kind])
    jacobian = np.eye(6)
    jacobian[3:, 3:] = -np.tril(np.ones((3, 3))) * np.append(1.0, np.exp(theirs.params[4:]))
    expected = jacobian @ theirs.cov_params() @ jacobian.T
    ours = OrdinalRegression(l2=0.0, standard_errors=kind, tol=1e-14)
    ours.fit(X, y, groups=groups if kind == "clustered" else None)
    errors = ours.inference_.standard_errors
    assert_allclose(errors, np.sqrt(np.diag(expected)), rtol=SEARCH)
