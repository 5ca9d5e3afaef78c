"""What files of additive models may hold, and the terms of a model in a prepared table."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.additive.fitted_terms import TermEffect, draw_terms
from likely.errors import InvalidFile, OutsideFit
from tests.storage.test_checks import cell, forged, setting

rng = np.random.default_rng(0)
N = 60
FRAME = pd.DataFrame(
    {
        "a": rng.normal(size=N),
        "h": np.arange(N) % 24.0,
        "g": np.array(["x", "y", "z"])[np.arange(N) % 3],
    }
)
Y = FRAME["a"] * (FRAME["g"] == "x") + 0.1 * rng.normal(size=N)
WAVES = {"h": lk.Smooth(cyclic=24)}
MODEL = lk.AdditiveModel(terms=WAVES, interactions=[("a", "g")]).fit(FRAME, Y)
CLASSES = lk.AdditiveClassifier().fit(FRAME, np.array(["u", "v", "w"])[np.arange(N) // 20])


def field(place, name, value):
    """A change of the header: another value of a field of a term."""

    def edit(header):
        terms = header["fitted"]["terms_"]["part"][1]
        group = "pairs" if place == "pair" else "columns"
        terms[group]["tuple"][0 if place == "pair" else place]["part"][1][name] = value

    return edit


def other_linear(name):
    def edit(header):
        header["fitted"]["linear_"]["model"]["class"] = name

    return edit


A, H = "terms_.columns[0]", "terms_.columns[1]"


@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        (MODEL, setting(f"{A}.grid", lambda x: x[::-1]), "increasing order"),
        (MODEL, setting(f"{A}.grid", lambda x: x[:-1]), "rank has"),
        (MODEL, setting(f"{A}.grid", cell(-1e9)), "apart, from low to high"),
        (MODEL, setting(f"{A}.rank", cell(np.nan)), "rank must be from 0 to 1"),
        (MODEL, setting(f"{A}.turn", cell(np.nan)), "turn must be finite"),
        (MODEL, setting(f"{A}.turn", lambda x: x[:2]), "4 to 2,000 splines"),
        (MODEL, setting(f"{A}.turn", lambda x: np.tile(x, (300, 1))), "4 to 2,000 splines"),
        (MODEL, setting(f"{A}.line", lambda x: x[:, :-1]), "A row of line has"),
        (MODEL, setting(f"{A}.line", lambda x: 1e149 * x), "finite together"),
        (MODEL, setting(f"{H}.turn", lambda x: x[:-1]), "waves of a term"),
        (MODEL, setting("linear_.coef_", lambda x: 1e149 * np.ones_like(x)), None),
        (MODEL, setting("covariance_", lambda x: 1e150 * np.ones_like(x)), None),
        (MODEL, setting("covariance_", lambda x: x[:0]), "covariance_ has"),
        (MODEL, setting("covariance_", lambda x: x[0]), "covariance_"),
        (MODEL, setting("covariance_", lambda x: x[:, :-1, :-1]), "covariance_"),
        (MODEL, setting("tests_", np.zeros_like), "ranks of tests"),
        (MODEL, setting("tests_", lambda x: x[:, :1]), "tests_"),
        (MODEL, setting("strength_", lambda x: x[:-1]), "strength_ has"),
        (MODEL, setting("eta_range_", lambda x: x[::-1]), "eta_range_ must be in increasing"),
        (MODEL, setting("eta_range_", lambda x: x[:1]), "eta_range_ has"),
        (CLASSES, setting("covariance_", lambda x: x[:1]), "covariance_ has"),
    ],
)
def test_arrays_that_no_fit_gives_are_refused(tmp_path, model, change, message):
    """Or, where sizes are huge but finite together, answered without NaN."""
    path = forged(tmp_path, model, tensors=change)
    if message is None:
        loaded = lk.load(path)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", OutsideFit)
            assert not np.isnan(loaded.predict_interval(FRAME)).any()
        return
    with pytest.raises(InvalidFile, match=message):
        lk.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (field(0, "scale", 0.0), "scale above 0"),
        (field(0, "scale", 1e-320), "finite together"),
        (field(0, "low", 1e9), "from low to high"),
        (field(0, "column", 1), "each once"),
        (field(0, "column", 2**40), "each once"),
        (field(0, "place", 1), "Term 0 has"),
        (field(1, "period", 1e-300), "waves of a term"),
        (field(1, "period", -24.0), "period must be 0 or more"),
        (field(2, "n_levels", 2), "pair of the terms"),
        (field(2, "column", 0), "each once"),
        (field(2, "n_levels", -(2**40)), "at least one level"),
        (field("pair", "first", 2**40), "pair of the terms"),
        (field("pair", "sizes", {"tuple": [2**20, 2**20]}), "pair of the terms"),
        (other_linear("LinearRegression"), "linear_|LinearRegression"),
    ],
)
def test_terms_that_no_fit_gives_are_refused(tmp_path, change, message):
    with pytest.raises(InvalidFile, match=message):
        lk.load(forged(tmp_path, MODEL, header=change))


def test_the_library_of_a_frame_is_known(tmp_path):
    with pytest.raises(InvalidFile, match="has library_"):
        lk.load(forged(tmp_path, MODEL, header=lambda head: head["fitted"].pop("library_")))


def test_classes_are_those_of_the_linear_model(tmp_path):
    with pytest.raises(InvalidFile, match="classes_"):
        lk.load(forged(tmp_path, CLASSES, header=_other_classes))


def _other_classes(header):
    header["fitted"]["classes_"] = {"text": [[3], ["p", "q", "r"]]}


def test_the_effect_of_a_term_is_its_contribution_to_rows_on_the_grid():
    frame = FRAME.assign(g=np.repeat(["x", "y", "z"], [40, 15, 5]))  # so that their mean counts
    y = Y + frame["g"].map({"x": 0.0, "y": 1.0, "z": 3.0}) * (1 + frame["a"])
    model = lk.AdditiveModel(interactions=[("a", "g")]).fit(frame, y)
    for j, name in enumerate(model.term_names_):
        found = model.effect(name)
        rows = frame.iloc[np.zeros(len(found.effect), dtype=int)]
        rows = rows.assign(**dict(zip(found.columns, found.values, strict=True)))
        assert_allclose(found.effect, model.contributions(rows)[:, j, 0], atol=1e-9)


def test_a_long_circle_is_drawn_with_few_points():
    """Seconds of a day over years: a grid of whole seconds would not fit in memory."""
    x = 86_400.0 * 1e5 * rng.random(N)
    model = lk.AdditiveModel(terms={"x0": lk.Smooth(cyclic=86_400)}).fit(x[:, None], Y)
    assert len(model.effect("x0", points=50).effect) == 50


def test_intervals_far_outside_the_fit_are_numbers():
    model = lk.AdditiveModel(extrapolate="linear").fit(FRAME[["a"]], Y)
    near, far = model.predict_interval(pd.DataFrame({"a": [1e100, 1e200]}))
    assert_allclose(far, 1e100 * near, rtol=1e-6)


def test_a_prepared_model_explains_pairs_and_sums_up_its_terms():
    frame = FRAME.assign(h=FRAME["h"].where(FRAME["h"] != 3))
    plain = lk.AdditiveModel(interactions=[("a", "g")])
    prepared = lk.Prepared(plain).fit(frame, Y)
    found = prepared.explain(frame)
    assert found.names == ("a", "h", "g", "a × g")
    assert_allclose(found.total[:, 0], prepared.predict(frame), rtol=1e-9)
    direct = plain.fit(frame, Y)
    assert_allclose(found.contributions, direct.explain(frame).contributions, atol=1e-9)
    assert "deviance explained" in str(prepared.summary())
    assert "preparation" in str(prepared.summary())


def of_towns(*, missing: bool, n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    town = rng.choice(["Bonn", "Kiel", "Ulm"], n, p=[0.2, 0.3, 0.5]).astype(object)
    if missing:
        town[::10] = None
    frame = pd.DataFrame({"x": rng.normal(size=n), "town": town})
    return frame.assign(y=frame.x + (town == "Kiel") + rng.normal(size=n))


@pytest.mark.parametrize("missing", [False, True])
def test_each_level_of_a_category_is_shown_with_its_rows_and_what_it_adds(missing):
    frame = of_towns(missing=missing)
    weight = np.where(frame.x > 0, 2.0, 1.0)
    model = lk.AdditiveModel().fit(frame[["x", "town"]], frame.y, sample_weight=weight)
    (levels,) = (each for each in model.summary().tables if each.key == "levels of town")
    found = {row[0]: row[1:] for row in levels.rows}
    assert list(found) == ["Bonn", "Kiel", "Ulm"] + ["(missing)"] * missing
    added = model.contributions(frame[["x", "town"]])[:, 1, 0]
    for level, (rows, effect, se) in found.items():
        at = frame.town.isna() if level == "(missing)" else frame.town == level
        np.testing.assert_allclose(rows, weight[at].sum(), rtol=1e-9)
        np.testing.assert_allclose(added[at], effect, rtol=1e-9)
        assert se > 0
    curve = model.effect("town")
    np.testing.assert_allclose([found[name][1] for name in curve.values[0]], curve.effect)
    np.testing.assert_allclose([found[name][2] for name in curve.values[0]], curve.se)
    assert "town: what each level adds to the linear predictor" in str(model.summary())


def test_of_several_classes_each_level_has_an_effect_for_each_class():
    frame = of_towns(missing=False)
    labels = np.where(frame.y > 1, "c", np.where(frame.y > 0, "b", "a"))
    model = lk.AdditiveClassifier().fit(frame[["town"]], labels)
    (levels,) = (each for each in model.summary().tables if each.key == "levels of town")
    assert levels.groups == ("a", "b", "c")
    effects = np.array([row[2:] for row in levels.rows])
    np.testing.assert_allclose(effects, model.effect("town").effect)
    (first, *_) = model.describe().to_json()["levels of town"]
    assert set(first["effect"]) == {"a", "b", "c"}


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_a_picture_of_categories_has_the_points_of_its_classes_around_each(n_classes):
    words = np.array(["a", "b", "c", "d"])
    effect = np.arange(4.0) if n_classes == 1 else np.arange(4.0 * n_classes).reshape(4, -1)
    classes = [] if n_classes == 1 else list("xyz")[:n_classes]
    each = TermEffect("town", ("town",), (words,), effect, np.ones_like(effect))
    figure = draw_terms([each, each], classes, 0.95)
    alone = draw_terms([each], classes, 0.95)
    places = np.array([drawn.lines[0].get_xdata() for drawn in alone.axes[0].containers])
    assert_allclose(places.mean(axis=0), np.arange(4), atol=1e-12)
    assert_allclose(np.diff(places, axis=0), 0.15, atol=1e-12)
    wide, narrow = (one.get_size_inches() for one in (figure, alone))
    assert wide[0] - narrow[0] == pytest.approx(3.1) and wide[1] == narrow[1]
    for one in (figure, alone):
        plt.close(one)
