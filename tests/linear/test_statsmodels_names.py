"""``bse``, ``pvalues``, ``aic`` and others beside the summary, under statsmodels' names."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from likely import GLM, LinearRegression, LogisticRegression, MaxEntropy
from likely.errors import InvalidInput

RNG = np.random.default_rng(4)
X = pd.DataFrame(RNG.normal(size=(90, 2)), columns=["a", "b"])
ETA = 0.4 + X["a"] - 0.5 * X["b"]
Y = ETA + RNG.normal(size=90)
BINARY = (Y > 0).astype(int)
COUNTS = RNG.poisson(np.exp(0.4 * ETA))
DESIGN = sm.add_constant(X)


@pytest.mark.parametrize(
    ("model", "y", "theirs"),
    [
        (LinearRegression(), Y, lambda: sm.OLS(Y, DESIGN).fit()),
        (LogisticRegression(l2=0), BINARY, lambda: sm.Logit(BINARY, DESIGN).fit(disp=0, tol=1e-14)),
        (
            GLM("poisson"),
            COUNTS,
            lambda: sm.Poisson(COUNTS, DESIGN).fit(disp=0, method="newton", tol=1e-14),
        ),
    ],
    ids=["least squares", "logit", "poisson"],
)
def test_attributes_are_those_of_statsmodels(model, y, theirs):
    ours, other = model.fit(X, y), theirs()
    for name in ("llf", "aic", "bic"):
        assert_allclose(getattr(ours, name), getattr(other, name), rtol=1e-9)
    for name in ("bse", "tvalues", "pvalues"):
        found = getattr(ours, name)
        assert isinstance(found, pd.Series)
        for term, theirs_is in {"intercept": "const", "a": "a", "b": "b"}.items():
            assert_allclose(found[term], getattr(other, name)[theirs_is], rtol=1e-6)
    assert_allclose(ours.pvalues, ours.summary().to_frame()["p"], rtol=0)


def test_the_share_of_squares_is_that_of_statsmodels_and_of_score():
    ours = LinearRegression().fit(X, Y)
    assert_allclose(ours.rsquared, sm.OLS(Y, DESIGN).fit().rsquared, rtol=1e-12)
    assert_allclose(ours.rsquared, ours.score(X, Y), rtol=1e-12)


def test_arrays_in_arrays_out_in_the_order_of_the_summary():
    ours = LinearRegression().fit(X.to_numpy(), Y.to_numpy())
    assert type(ours.bse) is type(ours.pvalues) is np.ndarray
    assert_allclose(ours.bse, ours.summary().inference.standard_errors, rtol=0)
    before = ours.bse.copy()
    ours.bse[:] = 0.0
    assert_allclose(ours.bse, before, rtol=0)


def test_where_there_are_none_the_reason_is_given():
    with pytest.raises(NotFittedError):
        _ = LinearRegression().pvalues
    with pytest.raises(InvalidInput, match="poisson response; R² is the share"):
        _ = GLM("poisson").fit(X, COUNTS).rsquared
    penalised = LogisticRegression(l1=1.0).fit(X, BINARY)
    for name in ("pvalues", "tvalues"):
        with pytest.raises(InvalidInput, match=rf"{name} were asked of a penalised fit \(l1=1"):
            getattr(penalised, name)
    for name in ("aic", "bic"):
        assert getattr(penalised, name) == getattr(penalised.summary().inference, name)
    without = LinearRegression(standard_errors=None).fit(X, Y)
    for name in ("pvalues", "bse", "tvalues", "aic", "bic", "llf", "rsquared"):
        with pytest.raises(InvalidInput, match="standard_errors=None"):
            getattr(without, name)


def test_maximum_entropy_has_them_too():
    model = MaxEntropy().fit(X, BINARY)
    assert len(model.bse) == len(model.summary().inference.names)
    assert_allclose(model.aic, model.summary().inference.aic, rtol=0)


def test_what_a_fit_does_not_have_is_no_attribute_of_it():
    """``hasattr`` asks, and must not fail."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    penalised = LogisticRegression(l2=1.0).fit(X, np.arange(60) % 2)
    assert not any(hasattr(penalised, name) for name in ("pvalues", "tvalues", "rsquared"))
    assert hasattr(penalised, "aic")
    with pytest.raises(InvalidInput, match="penalised fit"):
        penalised.pvalues  # noqa: B018
