"""Pictures of explanations: names, fonts, and warnings about characters."""

import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import likely
from likely.errors import InvalidInput, MissingFont
from likely.output import pictures

mpl.use("agg")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def explained(names):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, len(names))), columns=names)
    model = likely.LogisticRegression(l2=1.0).fit(X, X[names[0]] > 0)
    return model, X


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_a_row_is_drawn_from_its_base_to_its_total():
    model, X = explained([f"column {j}" for j in range(30)])
    ax = likely.explain(model, X).plot(row=2, top=10)
    names = labels(ax)
    assert (names[0], names[-2], names[-1]) == ("base", "20 other columns", "total")
    assert " = " in names[1]
    assert ax.get_xlabel() == "Log-odds of True against False"
    with pytest.raises(InvalidInput, match="40 rows, numbered from 0"):
        model.explain(X).plot(row=40)


def test_long_names_keep_both_ends():
    name = "a_rather_long_column_name_number_17"
    assert pictures.shortened_name(name, 20) == "a_rather_…_number_17"
    assert pictures.shortened_name("short") == "short"


def test_dollars_are_not_mathematics():
    model, X = explained(["$x_{", "y"])
    model.explain(X).plot().figure.canvas.draw()


def test_characters_without_a_font_are_noted_once(monkeypatch):
    monkeypatch.setattr(pictures, "FALLBACKS", ())
    pictures._warn_of_missing.cache_clear()
    model, X = explained(["身長", "y"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            model.explain(X).plot().figure.canvas.draw()
    assert [warning.category for warning in caught] == [MissingFont]
    assert "身長" in str(caught[0].message) or "長身" in str(caught[0].message)


def test_an_installed_font_that_has_the_characters_is_chosen(monkeypatch):
    known = {"DejaVu Sans": frozenset(range(0x250)), "Other": frozenset(map(ord, "身長"))}
    monkeypatch.setattr(pictures, "FALLBACKS", ("Missing", "Other"))
    monkeypatch.setattr(pictures, "_characters", lambda font: known.get(font, frozenset()))
    assert pictures.fonts_for(["身長"]) == (["Other"], "")
    assert pictures.fonts_for(["size é"]) == ([], "")
    assert pictures.fonts_for(["身木"]) == (["Other"], "木")


def test_importance_and_effects_are_drawn():
    model, X = explained(["size", "age"])
    found = likely.permutation_importance(model, X, X["size"] > 0)
    assert labels(found.plot()) == list(found.names)
    X["town"] = "a"
    effects = likely.partial_effects(model, X[["size", "age"]], ["size", "age"])
    grid = effects.plot()
    assert [ax.get_xlabel() for ax in grid.flat] == ["size", "age"]
    assert effects.plot(column="age").get_ylabel() == "Probability of True"


def test_coefficients_are_drawn_without_the_intercept():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 35)))
    X.columns = [f"column {j}" for j in range(35)]
    y = X["column 3"] + np.random.default_rng(1).normal(size=90)
    summary = likely.LinearRegression().fit(X, y).summary()
    ax = summary.plot()
    assert len(labels(ax)) == 30
    assert "column 3" in labels(ax)
    assert "intercept" not in labels(ax)
    assert "column 3" in labels(summary.plot(top=1))


def test_calibration_is_drawn_before_and_after():
    _, X = explained(["size", "age"])
    y = X["size"] + np.random.default_rng(1).normal(size=len(X)) > 0
    scaled = likely.PlattScaling(likely.NaiveBayes(), cv=3).fit(X, y)
    ax = scaled.plot(X, y)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["NaiveBayes", "after PlattScaling"]
    after = ax.get_lines()[-1].get_xydata()
    p = np.sort(scaled.predict_proba(X)[:, 1])
    np.testing.assert_allclose(after[0, 0], p[:4].mean())  # ten bins of four rows


@pytest.mark.parametrize("kind", [likely.GaussianMixture, likely.MixtureModel])
def test_mixtures_name_their_columns(kind):
    _, X = explained(["size", "age"])
    ax = kind(2).fit(X).plot(X)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("size", "age")
    with pytest.raises(InvalidInput, match=r"columns of categories|numbers"):
        likely.MixtureModel(1).fit(X.assign(town="a")).plot(X.assign(town="a"))


def test_a_comparison_is_drawn_with_its_baseline():
    _, X = explained(["size", "age"])
    found = likely.compare(
        X, (X["size"] > 0).to_numpy(), models=["naive-bayes"], folds=3, repeats=1
    )
    ax = found.plot()
    assert set(labels(ax)) == {"naive-bayes", "constant"}
    assert ax.get_xlabel() == "Log loss (lower is better)"
