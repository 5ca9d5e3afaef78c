"""A model that was fitted with an exposure or an offset is judged with one, or not at all."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from likely import (
    GLM,
    LinearRegression,
    LogisticRegression,
    PenaltyPath,
    partial_effects,
    permutation_importance,
)
from likely.errors import InvalidInput

rng = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {"age": rng.normal(size=120), "noise": rng.normal(size=120), "years": rng.uniform(1, 50, 120)}
)
FRAME["claims"] = rng.poisson(0.2 * np.exp(0.6 * FRAME.age) * FRAME.years)
X = FRAME[["age", "noise"]]


@pytest.fixture(scope="module")
def rates() -> GLM:
    return GLM("poisson").fit(FRAME, "claims", exposure="years")


@pytest.mark.parametrize("method", ["score", "deviance", "log_likelihood", "log_likelihoods"])
def test_a_score_without_the_exposure_of_the_fit_is_refused(rates: GLM, method: str) -> None:
    judged = getattr(rates, method)
    with pytest.raises(InvalidInput, match="fitted with exposure"):
        judged(X, FRAME.claims)
    by_name = judged(FRAME, "claims", exposure="years")
    np.testing.assert_allclose(by_name, judged(X, FRAME.claims, exposure=FRAME.years))


def test_a_score_without_the_offset_of_the_fit_is_refused() -> None:
    y = np.asarray(FRAME.claims > 1).astype(int)
    for model in (LogisticRegression(l2=0.0), LinearRegression()):
        fitted = model.fit(X, y, offset=FRAME.years / 50)
        for method in ("score", "log_likelihood", "log_likelihoods"):
            with pytest.raises(InvalidInput, match="fitted with offset"):
                getattr(fitted, method)(X, y)
        fitted.score(X, y, offset=FRAME.years / 50)
        model.fit(X, y).score(X, y)  # fitted again without one


def test_the_chosen_model_of_a_path_needs_its_exposure() -> None:
    path = PenaltyPath(GLM("poisson"), along="l2", cv=2, penalties=[1.0, 0.1]).fit(
        X, FRAME.claims, exposure=FRAME.years
    )
    with pytest.raises(InvalidInput, match="fitted with exposure"):
        path.score(X, FRAME.claims)
    with pytest.raises(InvalidInput, match="fitted with exposure"):
        permutation_importance(path, X, FRAME.claims)


def test_importance_uses_the_exposure(rates: GLM) -> None:
    with pytest.raises(InvalidInput, match="fitted with exposure"):
        permutation_importance(rates, X, FRAME.claims)
    found = permutation_importance(rates, FRAME, "claims", exposure="years")
    mean = rates.predict(X, exposure=FRAME.years)
    assert found.loss == pytest.approx(-stats.poisson.logpmf(FRAME.claims, mean).mean())
    assert found.names[0] == "age"
    assert "years" not in found.names
    again = permutation_importance(rates, X, FRAME.claims, exposure=FRAME.years)
    np.testing.assert_array_equal(again.increase, found.increase)
    some = permutation_importance(rates, FRAME, "claims", exposure="years", rows=60)
    assert some.names[0] == "age"
    assert some.n_rows == 60


def test_importance_of_classes_uses_the_offset() -> None:
    y = np.asarray(FRAME.claims > 1).astype(int)
    model = LogisticRegression(l2=0.0).fit(X, y, offset=FRAME.years / 50)
    found = permutation_importance(model, X, y, offset=FRAME.years / 50)
    assert found.loss == pytest.approx(
        -model.log_likelihood(X, y, offset=FRAME.years / 50) / len(y)
    )


def test_partial_effects_use_the_exposure_or_say_that_they_are_rates(rates: GLM) -> None:
    found = partial_effects(rates, FRAME, "age", exposure="years", points=2)
    low = X.assign(age=X.age.min())
    expected = rates.predict(low, exposure=FRAME.years).mean()
    assert found["age"].mean[0, 0] == pytest.approx(expected)
    assert not found.notes
    assert "exposure of 1" in " ".join(partial_effects(rates, X, "age", points=2).notes)


def test_an_exposure_that_the_model_does_not_take_is_refused() -> None:
    model = LinearRegression().fit(X, FRAME.claims)
    with pytest.raises(InvalidInput, match="does not take"):
        permutation_importance(model, X, FRAME.claims, exposure=FRAME.years)
