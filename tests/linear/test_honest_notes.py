"""What summaries and warnings say about fits that mislead: perfect, underdispersed, separated."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from likely import GLM, LinearRegression
from likely.errors import InvalidInput, NarrowIntervals, Separation
from likely.likelihoods import NegativeBinomial

LINE = np.arange(10.0)[:, None]


def counts(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=n), "g": list("abc") * (n // 3)})
    frame["y"] = rng.poisson(np.exp(1 + 0.3 * frame.x))
    return frame


def test_alpha_of_0_is_no_proof_of_equal_dispersion() -> None:
    """Large counts that vary little, and one small mean with a large count: χ²/df 2.8, α 0."""
    y = np.append(np.tile([98.0, 102.0], 15), 3.0)
    exposure = np.append(np.ones(30), 0.001)
    x = np.tile([0.0, 0.0, 1.0], 11)[:31, None]
    model = GLM("negative-binomial").fit(x, y, exposure=exposure)
    summary = model.summary()
    notes = " ".join(summary.notes)
    assert model.alpha_ == 0
    assert model.inference_.pearson_dispersion > 2
    assert "the likelihood is largest at alpha = 0" in notes
    assert "not overdispersed" not in notes
    assert "standard_errors='quasi'" in notes
    assert "negative-binomial" in summary.title
    even = GLM("negative-binomial").fit(x[:30], y[:30]).summary()
    assert "quasi" not in " ".join(even.notes)


def test_intervals_for_overdispersed_counts_have_the_estimated_spread() -> None:
    frame = counts()
    model = GLM("poisson").fit(frame, "y")
    model.predict_interval(frame[["x", "g"]][:2], of="y")  # no warning: they are errors here
    assert model.count_alpha_ == 0
    frame["y"] *= np.tile([1, 4, 9], 20)
    X, y = frame[["x"]], frame.y.to_numpy()
    wide = GLM("poisson").fit(X, y)
    assert wide.inference_.pearson_dispersion > 1.5
    assert wide.predictive_family().response == NegativeBinomial(wide.count_alpha_)
    low, high = wide.predict_interval(X, 0.9, of="y").T
    poisson = stats.poisson(wide.predict(X))
    assert ((low <= y) & (y <= high)).mean() >= 0.87
    assert ((poisson.ppf(0.05) <= y) & (y <= poisson.ppf(0.95))).mean() < 0.6


def test_intervals_for_overdispersed_means_of_counts_warn() -> None:
    frame = counts()
    halves = frame.y * np.tile([1.5, 4, 9], 20)
    wide = GLM("poisson").fit(frame[["x"]], halves)
    assert wide.count_alpha_ == 0  # what is not whole is no count
    with pytest.warns(NarrowIntervals, match="negative-binomial"):
        wide.predict_interval(frame[["x"]][:2], of="y")


def test_a_perfect_fit_is_said() -> None:
    notes = " ".join(LinearRegression().fit(LINE, 1 + 2 * LINE[:, 0]).summary().notes)
    assert "essentially perfect fit" in notes
    constant = LinearRegression().fit(LINE, np.full(10, 3.0)).summary()
    assert "essentially perfect fit" in " ".join(constant.notes)
    assert "∞" not in str(constant).partition("coef")[0]
    near = 1 + 2 * LINE[:, 0] + 1e-6 * np.sin(LINE[:, 0])
    assert not LinearRegression().fit(LINE, near).summary().notes


def test_levels_without_an_intercept_are_no_ratios() -> None:
    frame = counts()
    model = GLM("poisson", fit_intercept=False).fit(frame, "y")
    summary = model.summary()
    assert summary.ratios("pandas").index.tolist() == ["x"]
    assert "left out of the rate ratios" in " ".join(summary.notes)
    assert "left out" not in " ".join(GLM("poisson").fit(frame, "y").summary().notes)


def test_levels_of_a_formula_without_an_intercept_are_no_ratios() -> None:
    pytest.importorskip("formulaic")
    model = GLM.from_formula("y ~ 0 + g + x", counts(), response="poisson")
    assert model.summary().ratios("pandas").index.tolist() == ["x"]


def test_a_formula_drops_categories_that_no_row_has() -> None:
    pytest.importorskip("formulaic")
    frame = counts()
    plain = GLM.from_formula("y ~ x + g", frame, response="poisson")
    frame["g"] = pd.Categorical(frame.g, categories=list("zabcq"))
    model = GLM.from_formula("y ~ x + g", frame, response="poisson")
    assert model.terms_ == plain.terms_
    np.testing.assert_allclose(model.coef_, plain.coef_)
    np.testing.assert_allclose(model.predict(frame), plain.predict(counts()))


def test_a_reference_beside_a_formula_points_to_treatment() -> None:
    pytest.importorskip("formulaic")
    with pytest.raises(InvalidInput, match=r"C\(g, Treatment\('b'\)\)"):
        GLM.from_formula("y ~ g", counts(), response="poisson", reference={"g": "b"})


def test_responses_that_are_all_0_are_told_what_helps() -> None:
    zeros = np.zeros(10)
    with pytest.warns(Separation, match="penalise_intercept=True"):
        GLM("poisson").fit(LINE, zeros)
    model = GLM("poisson", l2=1.0, penalise_intercept=True).fit(LINE, zeros)  # no warning
    assert np.isfinite(model.intercept_)


def test_a_separated_reference_is_named() -> None:
    frame = counts()
    frame.loc[frame.g == "a", "y"] = 0
    with pytest.warns(Separation, match="'g', at its reference 'a'"):
        GLM("poisson").fit(frame, "y")
    frame = counts()
    frame.loc[frame.g == "b", "y"] = 0
    with pytest.warns(Separation, match=r"along 'g\[b\]'"):
        GLM("poisson").fit(frame, "y")


def test_the_references_of_a_formula_are_noted() -> None:
    pytest.importorskip("formulaic")
    notes = " ".join(GLM.from_formula("y ~ x + g", counts(), response="poisson").summary().notes)
    assert "g = a" in notes
    chosen = "y ~ x + C(g, contr.treatment('b'))"
    notes = " ".join(GLM.from_formula(chosen, counts(), response="poisson").summary().notes)
    assert "= b" in notes
