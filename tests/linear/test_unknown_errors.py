"""Robust standard errors do not exist where responses are separated or one row decides."""

import numpy as np
import pandas as pd
import pytest

from likely import GLM, LinearRegression, LogisticRegression
from likely.errors import InvalidInput, Separation

ROBUST = ("HC0", "HC1", "HC2", "HC3")


def counts(*empty: str) -> pd.DataFrame:
    """Counts in four groups, some of which have only zeros."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "g": list("abcd") * 15})
    frame["y"] = rng.poisson(np.exp(0.3 * frame.x) + 0.5)
    frame.loc[frame.g.isin(empty), "y"] = 0
    return frame


@pytest.mark.parametrize("kind", ROBUST)
def test_separated_coefficients_have_no_robust_error(kind: str) -> None:
    frame = counts("c", "d")
    with pytest.warns(Separation):
        model = GLM("poisson", standard_errors=kind).fit(frame, "y")
    table = model.summary().to_frame("pandas")
    assert table.loc[["g[c]", "g[d]"], ["se", "p", "low", "high"]].isna().all(axis=None)
    with pytest.raises(InvalidInput, match="no standard error"):
        model.wald_test("g")
    assert model.inference_.overall_test() is None
    assert model.summary().ratios().loc["g[c]", ["low", "high"]].isna().all()
    for of in ("mean", "y"):
        interval = model.predict_interval(frame[["x", "g"]][:4], of=of)
        assert np.isfinite(interval[:2]).all()
        assert np.isnan(interval[2:]).all()


@pytest.mark.parametrize("kind", ["HC0", "HC3"])
def test_other_coefficients_have_the_errors_of_the_rows_that_are_not_separated(kind: str) -> None:
    frame = counts("c")
    with pytest.warns(Separation):
        model = GLM("poisson", standard_errors=kind).fit(frame, "y")
    kept = GLM("poisson", standard_errors=kind).fit(frame[frame.g != "c"], "y")
    names = ["x", "g[b]", "g[d]", "intercept"]
    found, expected = (each.summary().to_frame("pandas").loc[names, "se"] for each in (model, kept))
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_clustered_errors_do_not_exist_along_a_separation() -> None:
    frame = counts("c")
    with pytest.warns(Separation):
        model = GLM("poisson", standard_errors="clustered").fit(
            frame[["x", "g"]], frame.y, groups=np.arange(60) // 4
        )
    assert np.isnan(model.summary().to_frame("pandas").loc["g[c]", "se"])


def test_quasi_separated_classes_have_no_robust_error() -> None:
    x = np.array([0, 0, 0, 0, 1, 1, 1, 1.0, 0, 1])
    z = np.array([0.3, -1, 2, 0.5, 0, 1, -2, 0.7, 1, 0])
    y = np.array([0, 1, 0, 1, 1, 1, 1, 1, 0, 1])
    with pytest.warns(Separation):
        model = LogisticRegression(l2=0.0, standard_errors="HC3").fit(
            pd.DataFrame({"x": x, "z": z}), y
        )
    errors = model.summary().to_frame("pandas").se
    assert np.isnan(errors["x"])
    assert np.isfinite(errors["z"])


@pytest.mark.parametrize("kind", ["HC2", "HC3"])
@pytest.mark.parametrize("response", ["gaussian", "poisson"])
def test_a_level_with_one_row_has_no_leverage_corrected_error(kind: str, response: str) -> None:
    frame = counts()
    frame.loc[5, "g"], frame.loc[5, "y"] = "z", 7
    frame = frame.sample(frac=1.0, random_state=0)
    model = (
        LinearRegression(standard_errors=kind)
        if response == "gaussian"
        else GLM(response, standard_errors=kind)
    ).fit(frame, "y")
    summary = model.summary()
    errors = summary.to_frame("pandas").se
    assert np.isnan(errors["g[z]"])
    assert any("g[z]" in note and "single row" in note for note in summary.notes)
    other = model.__class__(**model.get_params()).fit(frame[frame.g != "z"], "y")
    expected = other.summary().to_frame("pandas").se
    np.testing.assert_allclose(errors[expected.index], expected, rtol=1e-6)
    interval = model.predict_interval(frame[["x", "g"]], of="mean")
    np.testing.assert_array_equal(np.isnan(interval).any(axis=1), frame.g == "z")
