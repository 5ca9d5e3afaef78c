"""Reference categories: named, by the order of the column's type, or the first when sorted."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose

import likely as lk
from likely.errors import InvalidInput, UnknownName, UnseenCategories

MODELS = {
    "linear": lambda **o: lk.LinearRegression(**o),
    "glm": lambda **o: lk.GLM("poisson", **o),
    "logistic": lambda **o: lk.LogisticRegression(l2=0.0, **o),
    "ordinal": lambda **o: lk.OrdinalRegression(l2=0.0, **o),
}
every_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    made = pd.DataFrame(
        {"a": rng.normal(size=300), "colour": rng.choice(["blue", "green", "red"], 300)}
    )
    made["shade"] = rng.choice(["dark", "light"], 300)
    made["y"] = rng.poisson(np.exp(0.3 * made.a + 0.7 * (made.colour == "red") + 0.5))
    return made


def answers(name, y):
    return {"logistic": y > 1, "ordinal": np.minimum(y, 3)}.get(name, y)


def fitted(name, frame, **options):
    return MODELS[name](**options).fit(frame[["a", "colour", "shade"]], answers(name, frame.y))


@every_model
def test_a_named_reference_changes_the_contrasts_and_not_the_model(name, frame):
    plain = fitted(name, frame)
    red = fitted(name, frame, reference={"colour": "red"})
    assert red.terms_ == ("a", "colour[blue]", "colour[green]", "shade[light]")
    X = frame[["a", "colour", "shade"]]
    predict = "predict_proba" if name in ("logistic", "ordinal") else "predict"
    assert_allclose(getattr(red, predict)(X), getattr(plain, predict)(X), rtol=1e-5, atol=1e-8)
    before, after = (dict(zip(m.terms_, np.ravel(m.coef_), strict=True)) for m in (plain, red))
    assert_allclose(after["colour[blue]"], -before["colour[red]"], rtol=1e-5, atol=1e-7)
    contrast = before["colour[green]"] - before["colour[red]"]
    assert_allclose(after["colour[green]"], contrast, rtol=1e-5, atol=1e-7)
    assert "no coefficient: colour = red, shade = dark." in " ".join(str(red.summary()).split())
    assert "colour = blue" in " ".join(str(plain.summary()).split())


def test_the_coefficients_are_those_of_statsmodels_treatment_coding(frame):
    model = fitted("glm", frame, reference={"colour": "green"})
    formula = "y ~ a + C(colour, Treatment('green')) + shade"
    them = smf.poisson(formula, frame).fit(disp=0)
    found = model.summary().to_frame("pandas")
    place = "C(colour, Treatment('green'))[T.{}]".format
    for term, other in (
        ("colour[red]", place("red")),
        ("colour[blue]", place("blue")),
        ("intercept", "Intercept"),
    ):
        assert_allclose(
            found.loc[term, ["coef", "se"]], [them.params[other], them.bse[other]], 1e-5
        )


ORDER = ["red", "yellow", "blue", "green"]  # yellow occurs in no row
FRAMES = {
    "pandas": lambda c: pd.DataFrame({"colour": pd.Categorical(c, categories=ORDER)}),
    "pandas ordered": lambda c: pd.DataFrame(
        {"colour": pd.Categorical(c, categories=ORDER, ordered=True)}
    ),
    "polars": lambda c: pl.DataFrame({"colour": pl.Series(c).cast(pl.Enum(ORDER))}),
    "arrow": lambda c: pa.table(
        {"colour": pa.DictionaryArray.from_arrays([ORDER.index(v) for v in c], ORDER, ordered=True)}
    ),
}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("prepared", [False, True])
def test_the_order_of_a_categorical_column_is_kept(library, prepared, frame):
    X = FRAMES[library](frame.colour.tolist())
    inner = lk.GLM("poisson")
    model = (lk.Prepared(inner) if prepared else inner).fit(X, frame.y.to_numpy())
    core = model.model_ if prepared else model
    assert core.terms_ == ("colour[blue]", "colour[green]")
    means = frame.groupby("colour").y.mean()
    assert_allclose(model.predict(X), means[frame.colour], rtol=1e-6)
    assert_allclose(np.exp(core.intercept_), means["red"], rtol=1e-6)
    plain = pd.DataFrame({"colour": ["green", "red"]})  # text, in any order
    assert_allclose(model.predict(plain), means[["green", "red"]], rtol=1e-6)


def test_categories_of_polars_in_the_order_of_their_first_row_are_no_order(frame):
    X = pl.DataFrame({"colour": pl.Series(["red", "blue", "green", "red"]).cast(pl.Categorical)})
    model = lk.LinearRegression().fit(X, [1.0, 2.0, 3.0, 1.0])
    assert model.terms_ == ("colour[green]", "colour[red]")


def test_a_named_reference_comes_before_the_order_of_the_column(frame):
    X = FRAMES["pandas"](frame.colour.tolist())
    model = lk.GLM("poisson", reference={"colour": "green"}).fit(X, frame.y)
    assert model.terms_ == ("colour[red]", "colour[blue]")


def test_with_a_penalty_every_category_has_a_coefficient(frame):
    X = FRAMES["pandas"](frame.colour.tolist())
    model = lk.GLM("poisson", l2=1.0).fit(X, frame.y)
    assert model.terms_ == ("colour[red]", "colour[blue]", "colour[green]")
    with pytest.raises(InvalidInput, match="'colour', which is penalised: with a penalty every"):
        lk.LogisticRegression(reference={"colour": "red"}).fit(X, frame.y > 1)


def test_a_penalty_by_name_leaves_other_columns_their_reference(frame):
    X = frame[["colour", "shade"]]
    model = lk.GLM("poisson", l2={"shade": 1.0}, reference={"colour": "red"}).fit(X, frame.y)
    assert model.terms_ == ("colour[blue]", "colour[green]", "shade[dark]", "shade[light]")


def test_without_an_intercept_the_column_with_a_named_reference_keeps_it(frame):
    X = frame[["colour", "shade"]]
    model = lk.GLM("poisson", fit_intercept=False, reference={"colour": "red"}).fit(X, frame.y)
    assert model.terms_ == ("colour[blue]", "colour[green]", "shade[dark]", "shade[light]")
    plain = lk.GLM("poisson").fit(X, frame.y)
    assert_allclose(model.predict(X), plain.predict(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("reference", "error", "words"),
    [
        ({"a": "red"}, InvalidInput, "column 'a', which holds numbers"),
        ({"color": "red"}, UnknownName, "no column for reference 'color'.*'colour'"),
        ({"colour": "rde"}, UnknownName, "no category of 'colour' for reference 'rde'.*'red'"),
        ("red", InvalidInput, "a mapping from columns to categories was expected"),
    ],
)
def test_a_reference_that_is_not_there_is_refused_in_words(reference, error, words, frame):
    with pytest.raises(error, match=words):
        fitted("linear", frame, reference=reference)


def test_a_reference_is_saved_and_an_unseen_category_still_warns(frame, tmp_path):
    model = fitted("linear", frame, reference={"colour": "red"})
    lk.save(model, tmp_path / "m.likely")
    again = lk.load(tmp_path / "m.likely")
    X = frame[["a", "colour", "shade"]]
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.terms_ == model.terms_
    assert again.reference == {"colour": "red"}
    with pytest.warns(UnseenCategories):
        new = again.predict(X[:1].assign(colour="violet"))
    assert_allclose(new, model.predict(X[:1].assign(colour="red")))


def test_files_and_codes_with_leading_zeros_have_a_reference_too(frame, tmp_path):
    frame[["a", "colour", "y"]].to_csv(tmp_path / "t.csv", index=False)
    model = lk.GLM("poisson", reference={"colour": "red"}).fit(tmp_path / "t.csv", "y")
    assert model.terms_ == ("a", "colour[blue]", "colour[green]")
    X = pd.DataFrame({"site": ["01", "02", "03", "01"]})
    coded = lk.LinearRegression(reference={"site": 2.0}).fit(X, [1.0, 2.0, 3.0, 1.0])
    assert coded.terms_ == ("site[01]", "site[03]")  # as --set reference.site=02 is read


def test_models_of_classes_go_by_the_order_of_the_frame(frame):
    X = FRAMES["pandas"](frame.colour.tolist())
    model = lk.SoftmaxRegression(l2=0.0, reference=0).fit(X, np.minimum(frame.y, 2))
    assert model.terms_ == ("colour[blue]", "colour[green]")
