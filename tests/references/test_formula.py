"""Formulas, against statsmodels' formula interface."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from sklearn.base import clone

import likely as lk
from likely.errors import InvalidInput, UnseenCategories


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    made = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(list("uvw"), 200)})
    made["t"] = rng.uniform(1, 2, 200)
    made["w"] = rng.integers(1, 4, 200)
    made["y"] = rng.poisson(made.t * np.exp(0.5 * made.a + (made.b == "v")))
    made["z"] = made.a + rng.normal(size=200)
    made["ill"] = (rng.random(200) < 0.5).astype(int)
    return made


def in_their_order(model, them):
    """Our coefficients and errors, by their names."""
    table = model.summary().to_frame("pandas").rename(index={"intercept": "Intercept"})
    return table.loc[list(them.params.index)]


@pytest.mark.parametrize("formula", ["y ~ a + C(b)", "y ~ a*b", "y ~ a + b + a:b", "y ~ 0 + b + a"])
def test_counts_with_an_exposure_are_statsmodels(frame, formula):
    model = lk.GLM.from_formula(formula, frame, response="poisson", exposure="t", tol=1e-13)
    family = sm.families.Poisson()
    them = smf.glm(formula, frame, family=family, exposure=frame.t).fit(tol=1e-13)
    found = in_their_order(model, them)
    assert_allclose(found["coef"], them.params, rtol=1e-6, atol=1e-9)
    assert_allclose(found["se"], them.bse, rtol=1e-6)
    assert_allclose(model.inference_.log_likelihood, them.llf)
    new = frame[["b", "a", "w"]][:7]
    assert_allclose(model.predict(new, exposure=np.ones(7)), them.predict(new, exposure=np.ones(7)))


def test_least_squares_with_transforms_is_statsmodels(frame):
    model = lk.LinearRegression.from_formula("z ~ a + I(a**2) + np.log(t) + b", frame)
    them = smf.ols("z ~ a + I(a**2) + np.log(t) + b", frame).fit()
    by_hand = [them.params["I(a ** 2)"], them.bse["I(a ** 2)"]]
    table = model.summary().to_frame("pandas")
    assert_allclose(table.loc["I(a ** 2)", ["coef", "se"]], by_hand, rtol=1e-9)
    assert_allclose(model.inference_.r_squared, them.rsquared)
    assert_allclose(model.inference_.overall_test().statistic, them.fvalue)
    assert "Note: formula: z ~ a + I(a**2) + np.log(t) + b" in str(model.summary())


def test_two_classes_and_ordered_classes_have_formulas(frame):
    model = lk.LogisticRegression.from_formula("ill ~ a*b", frame, l2=0.0, tol=1e-13)
    them = smf.logit("ill ~ a*b", frame).fit(disp=0, tol=1e-13)
    found = in_their_order(model, them)
    assert_allclose(found["coef"], them.params, rtol=1e-5, atol=1e-8)
    assert_allclose(model.predict_proba(frame)[:, 1], them.predict(), rtol=1e-6)
    few = frame.assign(size=np.minimum(frame.y, 3))
    ordinal = lk.OrdinalRegression.from_formula("size ~ a + b", few, l2=0.0, tol=1e-12)
    plain = lk.OrdinalRegression(l2=0.0, tol=1e-12).fit(few[["a", "b"]], few["size"])
    assert_allclose(ordinal.predict_proba(few), plain.predict_proba(few[["a", "b"]]), rtol=1e-5)
    with pytest.raises(InvalidInput, match="thresholds, which cannot be left out"):
        lk.OrdinalRegression.from_formula("size ~ 0 + a", few)


@pytest.mark.parametrize("term", ["poly(a, 3)", "scale(a)", "center(a)", "bs(a, df=5)"])
def test_transforms_keep_what_they_learned(frame, term):
    model = lk.LinearRegression.from_formula(f"z ~ {term} + b", frame)
    whole = model.predict(frame)
    assert_allclose(model.predict(frame[:3]), whole[:3], rtol=1e-9)
    assert_allclose(model.predict(frame[::-1].reset_index(drop=True)), whole[::-1], rtol=1e-9)


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas, lambda frame: frame])
def test_every_library_gives_the_same_model(frame, make):
    plain = lk.LinearRegression.from_formula("z ~ a*b + poly(t, 2)", frame)
    model = lk.LinearRegression.from_formula("z ~ a*b + poly(t, 2)", make(frame))
    assert model.terms_ == plain.terms_
    assert_allclose(model.predict(make(frame)), plain.predict(frame), rtol=1e-9)
    assert (
        type(model.summary().to_frame()).__module__.split(".")[0]
        == type(make(frame)).__module__.split(".")[0]
    )


def test_weights_and_groups_may_be_names_of_columns(frame):
    model = lk.LinearRegression.from_formula("z ~ a + b", frame, sample_weight="w")
    again = frame.loc[frame.index.repeat(frame.w)]
    them = smf.ols("z ~ a + b", again).fit()
    assert_allclose(in_their_order(model, them)["se"], them.bse, rtol=1e-8)
    clustered = lk.LinearRegression.from_formula(
        "z ~ a", frame, groups="w", standard_errors="clustered"
    )
    assert clustered.inference_.n_clusters == 3


def test_categories_keep_the_order_of_the_frame_and_interactions_are_tested_together(frame):
    ordered = frame.assign(b=pd.Categorical(frame.b, categories=["w", "v", "u"]))
    model = lk.LinearRegression.from_formula("z ~ a*b", ordered)
    assert model.terms_ == ("a", "b[T.v]", "b[T.u]", "a:b[T.v]", "a:b[T.u]")
    assert model.wald_test("a:b").df == 2
    small = lk.LinearRegression.from_formula("z ~ a + b", ordered)
    f = lk.likelihood_ratio_test(small, model)
    them = sm.stats.anova_lm(*(smf.ols(text, frame).fit() for text in ("z ~ a + b", "z ~ a * b")))
    assert_allclose(f.statistic, them["F"].iloc[1], rtol=1e-9)


def test_an_unseen_category_warns_and_is_the_reference(frame):
    model = lk.LinearRegression.from_formula("z ~ a + C(b)", frame)
    with pytest.warns(UnseenCategories, match="'q'"):
        found = model.predict(frame[:2].assign(b="q"))
    assert_allclose(found, model.predict(frame[:2].assign(b="u")))


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("z ~ a + q", "names 'q', which is neither a column nor a known function"),
        ("z ~ a + offset(t)", "Give offset= an array"),
        ("a + b", "has no response"),
        ("z ~ 1", "no term but the intercept"),
        ("z ~ a +", "cannot be used: Operator"),
        ("b ~ a", "gives 3 columns; numbers in one column were expected"),
        ("z ~ log(b)", "cannot be used"),
    ],
)
def test_a_bad_formula_is_refused_in_words(frame, formula, words):
    with pytest.raises(InvalidInput, match=words):
        lk.LinearRegression.from_formula(formula, frame)


def test_bad_data_and_arguments_are_refused_in_words(frame):
    gaps = frame.assign(a=frame.a.where(frame.index != 4))
    with pytest.raises(InvalidInput, match=r"Column 'a' has no value in row 4.*Prepared"):
        lk.LinearRegression.from_formula("z ~ a", gaps)
    model = lk.LinearRegression.from_formula("z ~ a", frame)
    with pytest.raises(InvalidInput, match="no value in row 4"):
        model.predict(gaps)
    with pytest.raises(InvalidInput, match="names 'a', which is neither"):
        model.predict(frame[["b"]])
    with pytest.raises(InvalidInput, match="a data frame was expected"):
        model.predict(np.ones((2, 1)))
    with pytest.raises(InvalidInput, match="fit_intercept was given with a formula"):
        lk.LinearRegression.from_formula("z ~ a", frame, fit_intercept=False)
    with pytest.raises(InvalidInput, match="exposure was given, which LinearRegression does not"):
        lk.LinearRegression.from_formula("z ~ a", frame, exposure="t")
    with pytest.raises(InvalidInput, match=r"left side of 'I\(y > 1\) ~ a' is no column"):
        lk.LogisticRegression.from_formula("I(y > 1) ~ a", frame)
    with pytest.raises(InvalidInput, match=r"log\(a\)|infinity|NaN"):
        lk.LinearRegression.from_formula("z ~ log(a)", frame)


def test_a_formula_is_not_saved_because_it_is_python(frame, tmp_path):
    model = lk.LinearRegression.from_formula("z ~ a", frame)
    with pytest.raises(InvalidInput, match="fitted by the formula 'z ~ a', which is Python"):
        lk.save(model, tmp_path / "m.likely")
    assert not (tmp_path / "m.likely").exists()
    model.fit(frame[["a"]], frame.z)  # a fit without one forgets it
    lk.save(model, tmp_path / "m.likely")
    assert "formula_" not in vars(clone(model))


def test_without_formulaic_the_extra_is_named(frame, monkeypatch):
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(InvalidInput, match=r"pip install 'likely\[formula\]'"):
        lk.GLM.from_formula("z ~ a", frame)


def test_intervals_for_y_come_from_formulas_too(frame):
    model = lk.GLM.from_formula("y ~ a*b", frame, response="poisson", exposure="t")
    low, high = model.predict_interval(frame, exposure="t", of="y").T
    assert np.mean((low <= frame.y) & (frame.y <= high)) > 0.93
