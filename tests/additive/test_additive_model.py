"""Additive models: curves that are found, bands that cover, pairs, ends, and what they say."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.stats import f as fisher

import likely as lk
from likely.errors import (
    ContinuousColumn,
    InvalidInput,
    OutsideFit,
    Separation,
    UnknownName,
    UnseenCategories,
)
from likely.likelihoods.negative_binomial import NegativeBinomial

RNG = np.random.default_rng


def curve(x):
    return np.sin(6 * x)


def table(seed=0, n=800):
    rng = RNG(seed)
    frame = pd.DataFrame(rng.uniform(size=(n, 3)), columns=["a", "b", "c"])
    frame["g"] = rng.choice(["x", "y", "z"], n)
    eta = curve(frame["a"]) + 4 * (frame["b"] - 0.5) ** 2 + 0.5 * (frame["g"] == "x")
    return frame, eta.to_numpy(), rng


DRAWS = {
    "gaussian": lambda eta, rng: eta + 0.3 * rng.normal(size=len(eta)),
    "poisson": lambda eta, rng: rng.poisson(np.exp(eta)),
    "negative-binomial": lambda eta, rng: rng.negative_binomial(3, 3 / (3 + np.exp(eta))),
    "gamma": lambda eta, rng: rng.gamma(4, np.exp(eta) / 4),
    "inverse-gaussian": lambda eta, rng: rng.wald(np.exp(eta), 4 * np.exp(eta)),
    "log-normal": lambda eta, rng: rng.lognormal(eta, 0.5),
    "tweedie": lambda eta, rng: rng.gamma(2, np.exp(eta) / 2) * (rng.random(len(eta)) < 0.8),
    "bernoulli": lambda eta, rng: (rng.random(len(eta)) < 1 / (1 + np.exp(1 - 2 * eta))) * 1,
}


@pytest.mark.parametrize("response", DRAWS)
def test_curves_of_every_response_are_near_the_truth(response):
    frame, eta, rng = table(n=1500)
    model = lk.AdditiveModel(response).fit(frame, DRAWS[response](eta, rng))
    found = model.effect("a")
    truth = curve(found.values[0])
    truth *= 2 if response == "bernoulli" else 1
    centred = found.effect - found.effect.mean() - (truth - truth.mean())
    scale = 2 if response == "bernoulli" else 1
    assert np.abs(centred).mean() < 0.12 * scale
    assert model.term_test("a").p < 1e-3
    assert model.term_test("a").edf > 3
    assert model.term_test("c").edf < 4


def test_bands_cover_the_curve_as_often_as_they_say():
    inside = []
    for seed in range(30):
        rng = RNG(seed)
        x = rng.uniform(size=(200, 1))
        model = lk.AdditiveModel().fit(x, curve(x[:, 0]) + 0.5 * rng.normal(size=200))
        found = model.effect("x0")
        at = found.values[0]
        truth = curve(at) - curve(x[:, 0]).mean()
        inside.append(np.abs(found.effect - truth) < 1.96 * found.se)
    assert 0.9 < np.mean(inside) < 0.99


@pytest.mark.parametrize("response", ["gaussian", "gamma", "log-normal", "negative-binomial"])
def test_intervals_of_a_new_response_cover_it(response):
    frame, eta, rng = table(1, 2000)
    y = DRAWS[response](eta, rng)
    model = lk.AdditiveModel(response).fit(frame[:1000], y[:1000])
    low, high = model.predict_interval(frame[1000:], 0.9).T
    covered = np.mean((y[1000:] >= low) & (y[1000:] <= high))
    assert 0.86 < covered < (0.98 if response == "negative-binomial" else 0.94)  # no count splits
    mean_low, mean_high = model.predict_interval(frame[1000:], 0.9, of="mean").T
    assert (mean_low >= low - 1e-9).mean() > 0.95
    assert (mean_high - mean_low).mean() < 0.5 * (high - low).mean()


def test_contributions_add_up_to_the_predictor():
    frame, eta, rng = table()
    model = lk.AdditiveModel("poisson", interactions=[("a", "b")]).fit(
        frame, rng.poisson(np.exp(eta))
    )
    found = model.explain(frame[:20])
    assert found.names == ("a", "b", "c", "g", "a × b")
    assert_allclose(found.total[:, 0], model.linear_predictor(frame[:20]), rtol=1e-10)
    assert_allclose(model.explain(frame).contributions.mean(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("response", ["gaussian", "poisson", "gamma", "bernoulli"])
def test_the_planted_pair_and_no_other_is_found(response):
    frame, eta, rng = table(3, 3000)
    eta = eta + 4 * (frame["a"] - 0.5) * (frame["c"] - 0.5) * 2
    y = DRAWS[response](eta.to_numpy(), rng)
    model = lk.AdditiveModel(response, interactions=10).fit(frame, y)
    assert model.term_names_[4:] == ("a × c",)
    plain = lk.AdditiveModel(response).fit(frame, y)
    assert model.deviance_explained_ > plain.deviance_explained_ + 0.005
    noise = DRAWS[response](0 * eta.to_numpy(), rng)
    nothing = lk.AdditiveModel(response, interactions=10).fit(frame, noise)
    assert nothing.term_names_[4:] == ()


def test_a_pair_with_a_category_is_found():
    frame, _, rng = table(4, 2000)
    y = np.where(frame["g"] == "x", 1, -1) * curve(frame["a"]) + 0.3 * rng.normal(size=2000)
    model = lk.AdditiveModel(interactions=5).fit(frame, y)
    assert "a × g" in model.term_names_
    assert model.deviance_explained_ > 0.8


def test_predictions_stay_near_the_rows_of_the_fit():
    """A straight line under a log link would say 10⁵ times the largest count."""
    rng = RNG(0)
    x = rng.uniform(0, 2, (500, 1))
    y = rng.poisson(np.exp(2 * x[:, 0]))
    model = lk.AdditiveModel("poisson").fit(x, y)
    far = np.array([[8.0], [-5.0], [1.0]])
    with pytest.warns(OutsideFit, match=r"2 of 3 rows are far outside the rows of the fit \(x0\)"):
        assert model.predict(far).max() <= y.max()
    assert model.n_bounded(far) == 2
    free = lk.AdditiveModel("poisson", extrapolate="linear").fit(x, y)
    assert free.predict(far).max() > 100 * y.max()
    assert_allclose(free.predict(x), model.predict(x), rtol=0.2)
    flat = lk.AdditiveModel().fit(x, 3 * x[:, 0])
    with pytest.warns(OutsideFit, match="2 of 2 rows"):
        low, high = flat.predict([[-50.0], [50.0]])
    assert -0.7 < low < 0.1
    assert 5.9 < high < 6.7


ANSWERS = ("predict", "predict_interval", "predict_distribution", "sample", "linear_predictor")


@pytest.mark.parametrize("method", ANSWERS)
def test_every_prediction_warns_once_of_bounded_rows(method, monkeypatch):
    frame, eta, _ = table(n=300)
    model = lk.AdditiveModel().fit(frame, eta)
    monkeypatch.setattr("likely.additive.fitted_terms.PART", 5000)  # some tens of rows at a time
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(model, method)(frame)
    far = frame.assign(b=np.where(np.arange(300) < 7, 9.0, frame["b"]))
    far.loc[3, "b"] = np.nan  # missing is not far
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(model, method)(far)
    assert [each.category for each in caught] == [OutsideFit]
    assert str(caught[0].message).startswith(
        "6 of 300 rows are far outside the rows of the fit (b)"
    )
    assert caught[0].filename == __file__
    assert model.n_bounded(far) == 6
    free = lk.AdditiveModel(extrapolate="linear").fit(frame, eta)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(free, method)(far)


def test_constants_are_not_bounded_by_rounding():
    frame, _, _ = table(n=60)
    model = lk.AdditiveModel().fit(frame, np.full(60, 0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)


def test_scores_explanations_and_comparisons_are_quiet_about_bounded_rows():
    frame, eta, rng = table(n=200)
    frame.loc[::50, "a"] = [-9.0, 9.0, -4.0, 4.0]
    data = frame.assign(y=eta + 0.3 * rng.normal(size=200))
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutsideFit)
        lk.compare(data, "y", models=["additive", "linear"], folds=3)
        model = lk.AdditiveModel().fit(data[1:150], "y")
        lk.permutation_importance(model, frame, data["y"], repeats=1)
        lk.partial_effects(model, frame, ["a", "g"])
        model.explain(frame)
        model.plot()
    with pytest.warns(OutsideFit):
        model.predict(frame)


def test_alpha_is_estimated_at_the_means_of_the_quasi_poisson_fit():
    frame, eta, rng = table(5, 4000)
    y = rng.negative_binomial(2, 2 / (2 + np.exp(eta)))
    model = lk.AdditiveModel("negative-binomial").fit(frame, y)
    assert 0.4 < model.alpha_ < 0.6
    poisson = lk.AdditiveModel("poisson").fit(frame, y)
    assert_allclose(model.predict(frame), poisson.predict(frame), rtol=1e-9)
    assert model.log_likelihood(frame, y) > poisson.log_likelihood(frame, y) + 100
    given = lk.AdditiveModel(NegativeBinomial(0.3)).fit(frame, y)
    assert given.alpha_ == given.predictive_family().response.alpha == 0.3
    assert model.predictive_family().response.alpha == model.alpha_
    counts = lk.AdditiveModel("negative-binomial").fit(frame, rng.poisson(np.exp(eta)))
    assert counts.alpha_ < 0.05


def test_an_estimated_alpha_is_counted_at_0_too_as_in_a_glm():
    x = RNG(0).uniform(size=(400, 1))
    y = RNG(1).binomial(6, 0.3 + 0.3 * x[:, 0])  # less spread than a Poisson's
    poisson = lk.AdditiveModel("poisson").fit(x, y)
    for response, one_more in (("negative-binomial", 1), (NegativeBinomial(0.1), 0)):
        model = lk.AdditiveModel(response).fit(x, y)
        line = lk.GLM(response).fit(x, y)
        assert model.n_counted_ == pytest.approx(poisson.n_counted_ + one_more, abs=0.2)
        assert line.aic == pytest.approx(2 * (2 + one_more) - 2 * line.llf)
    model = lk.AdditiveModel("negative-binomial").fit(x, y)
    assert model.alpha_ == 0
    assert model.aic == pytest.approx(poisson.aic + 2)


@pytest.mark.long
def test_alpha_allows_for_the_coefficients_that_were_estimated():
    """By maximum likelihood it is 0.42 on average, where 0.5 is true and mgcv finds 0.50."""
    found, restricted = [], []
    for seed in range(20):
        rng = RNG(seed)
        frame = pd.DataFrame(rng.uniform(size=(80, 3)), columns=["a", "b", "c"])
        eta = 1 + np.sin(6 * frame["a"]) + frame["b"]
        y = rng.negative_binomial(2, 2 / (2 + np.exp(eta)))
        model = lk.AdditiveModel("negative-binomial").fit(frame, y)
        found.append(model.alpha_)
        if seed >= 3:
            continue
        # the restricted likelihood over a grid of ln α, with H of the rows
        none = np.zeros((80, 0), dtype=int)
        Phi = np.column_stack([model.terms_.features(frame.to_numpy(), none), np.ones(80)])
        strength = model.strength_[model.terms_.group_of_column] / model.dispersion_
        grid, mean = np.exp(np.linspace(-3, 1.5, 901)), model.predict(frame)
        curves = [
            stats.nbinom.logpmf(y, 1 / a, 1 / (1 + a * mean)).sum()
            - np.linalg.slogdet(
                (Phi.T * (mean / (1 + a * mean))) @ Phi + np.diag(np.append(strength, 0))
            )[1] / 2
            for a in grid
        ]  # fmt: skip
        restricted.append(grid[np.argmax(curves)])
    assert_allclose(found[:3], restricted, rtol=0.03)
    assert 0.46 < np.mean(found) < 0.54


@pytest.mark.parametrize("seed", range(3))
def test_bands_and_criteria_allow_for_the_uncertainty_of_strengths(seed):
    """Beside finite differences of the restricted likelihood, a density of contrasts of y."""
    frame, eta, rng = table(seed, 150)
    model = lk.AdditiveModel().fit(frame[["a", "b"]], y := eta + rng.normal(size=150))
    Phi = model.terms_.features(frame[["a", "b"]].to_numpy(), np.zeros((150, 0), dtype=int))
    group, phi = model.terms_.group_of_column, model.dispersion_
    Phi, y, at = Phi - Phi.mean(axis=0), y - y.mean(), np.log(model.strength_)
    contrasts = np.linalg.svd(np.ones((1, 150)))[2][1:]

    def likelihood(rho):
        own = np.eye(149) + contrasts @ (Phi / np.exp(rho)[group]) @ Phi.T @ contrasts.T
        return stats.multivariate_normal(cov=phi * own).logpdf(contrasts @ y)

    def smoothed(rho):
        return Phi @ np.linalg.solve(Phi.T @ Phi + np.diag(np.exp(rho)[group]), Phi.T)

    steps = 1e-3 * np.eye(len(at))
    hessian = [
        [sum(s * t * likelihood(at + s * a + t * b) for s in (1, -1) for t in (1, -1)) / 4e-6
         for a in steps] for b in steps
    ]  # fmt: skip
    J = np.stack([(smoothed(at + s) - smoothed(at - s)) @ y / 2e-3 for s in steps], axis=1)
    values, vectors = np.linalg.eigh(-np.array(hessian))
    spread = J @ vectors / np.sqrt(np.maximum(values, 0) + 0.1)
    S = smoothed(at)
    plain = 1 + np.trace(S)
    most = 1 + np.trace(2 * S - S @ S)
    expected = min(plain + np.sum(spread**2) / phi, most)
    assert plain + 0.1 < expected
    assert_allclose(model.n_counted_, expected, atol=2e-3)
    low, high = model.predict_interval(frame[["a", "b"]], 0.9, of="mean").T
    variance = phi * (np.diag(S) + 1 / 150) + np.sum(spread**2, axis=1)
    assert_allclose(high - low, 2 * stats.norm.ppf(0.95) * np.sqrt(variance), rtol=1e-3)


@pytest.mark.parametrize("response", DRAWS)
def test_criteria_of_straight_lines_are_those_of_a_linear_model(response):
    frame, _, rng = table(6, 2000)
    y = DRAWS[response](2 * frame["a"].to_numpy() - frame["b"].to_numpy(), rng)
    lines = frame[["a", "b"]]
    model = lk.AdditiveModel(response, terms={"a": "linear", "b": "linear"}).fit(lines, y)
    linear = lk.GLM(response, link=model.linear_.likelihood_.link.name).fit(lines, y)
    assert_allclose(model.llf, linear.llf, atol=0.2)
    assert_allclose([model.aic, model.bic], [linear.aic, linear.bic], atol=0.4)
    assert "AIC" in str(model.summary())


@pytest.mark.parametrize("k", [6, 20])
def test_a_curve_with_too_few_functions_is_found_by_its_neighbours(k):
    """k.check of mgcv finds 0.16 and 0.96 for a, with k=6 and 20, and 0.98 for b."""
    rng = RNG(0)
    frame = pd.DataFrame(rng.uniform(size=(1000, 2)), columns=["a", "b"])
    frame["y"] = np.sin(25 * frame["a"]) + 0.3 * rng.normal(size=1000)
    terms = {"a": lk.Smooth(k=k), "b": lk.Smooth(k=k)}
    found = lk.AdditiveModel(terms=terms).fit(frame, "y").check_k(frame, "y")
    (a, most, edf, index, p), (b, _, _, other, large) = found.tables[0].rows
    assert (a, b, most) == ("a", "b", k)
    assert edf < k
    assert (index < 0.3) == (p < 0.01) == (k == 6)
    assert other > 0.9
    assert large > 0.02
    assert "k-index" in str(found)
    counts = lk.AdditiveModel("poisson", terms=terms).fit(
        frame[["a", "b"]], rng.poisson(np.exp(1 + np.sin(25 * frame["a"])))
    )
    again = [
        counts.check_k(frame[["a", "b"]], np.full(1000, 2), random_state=s).tables[0].rows
        for s in (1, 1, 2)
    ]
    assert again[0] == again[1] != again[2]


def test_an_exposure_multiplies_the_mean():
    frame, eta, rng = table(6, 3000)
    frame["years"] = rng.uniform(0.1, 3, len(frame))
    y = rng.poisson(np.exp(eta) * frame["years"])
    model = lk.AdditiveModel("poisson").fit(frame.assign(y=y), "y", exposure="years")
    rates = model.predict(frame.drop(columns="years"))
    assert_allclose(np.log(rates), eta, atol=0.4)
    assert_allclose(model.predict(frame, exposure="years"), rates * frame["years"], rtol=1e-9)
    assert model.score(frame.assign(y=y), "y", exposure="years") > 0.3
    with pytest.raises(InvalidInput, match="was fitted with exposure"):
        model.log_likelihood(frame.drop(columns="years"), y)


def test_missing_cells_have_a_coefficient_of_their_own():
    frame, eta, rng = table(7, 2000)
    y = eta + 0.2 * rng.normal(size=2000)
    gone = rng.random(2000) < 0.3
    y[gone] += 2.0
    frame.loc[gone, "a"] = np.nan
    frame.loc[rng.random(2000) < 0.2, "g"] = None
    model = lk.AdditiveModel().fit(frame, y)
    assert model.predict(frame)[gone].mean() - y[gone].mean() == pytest.approx(0, abs=0.05)
    assert np.isfinite(model.predict(frame)).all()
    complete = lk.AdditiveModel().fit(frame.dropna(), y[frame.notna().all(axis=1)])
    assert np.isfinite(complete.predict(frame)).all()  # a missing cell adds nothing


def test_weights_and_cuts_of_terms_are_as_asked():
    frame, eta, rng = table(8)
    y = eta + 0.3 * rng.normal(size=len(eta))
    frame["k"] = rng.integers(0, 4, len(eta))
    model = lk.AdditiveModel(terms={"a": "linear", "k": "category", "b": lk.Smooth(k=5)})
    model.fit(frame, y)
    kinds = {row[0]: row[1] for row in model.summary().tables[0].rows}
    assert kinds == {"a": "line", "b": "curve", "c": "curve", "g": "category", "k": "category"}
    assert model.term_test("a").edf <= 1.0
    assert model.terms_.columns[1].n_functions == 4


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"terms": "all"}, r"terms='all' was given"),
        ({"terms": {"q": "linear"}}, r"column for terms 'q'"),
        ({"terms": {"a": "loess"}}, r"terms\['a'\]='loess'"),
        ({"interactions": -1}, r"interactions=-1"),
        ({"interactions": "a"}, r"interactions='a'"),
        ({"interactions": [("a", "a")]}, r"two different columns"),
        ({"interactions": [("a", "q")]}, r"column for interactions 'q'"),
        ({"extrapolate": "wild"}, r"extrapolate='wild'"),
    ],
)
def test_wrong_settings_are_named(options, match):
    frame, eta, _ = table(n=60)
    with pytest.raises((InvalidInput, UnknownName), match=match):
        lk.AdditiveModel(**options).fit(frame, eta)


def test_wrong_levels_and_responses_are_named():
    frame, eta, _ = table(n=60)
    model = lk.AdditiveModel().fit(frame, eta)
    with pytest.raises(InvalidInput, match="level=95 was given; a number between 0 and 1"):
        model.predict_interval(frame, 95)
    with pytest.raises(InvalidInput, match="gamma response must be"):
        lk.AdditiveModel("gamma").fit(frame, eta - 10)
    with pytest.raises(UnknownName, match="term 'q'"):
        model.effect("q")
    with pytest.raises(InvalidInput, match="exposure multiplies a mean"):
        model.predict(frame, exposure=np.ones(60))


def test_identifiers_as_categories_are_refused_before_memory_is():
    frame = pd.DataFrame({"id": [f"n{i}" for i in range(7000)], "x": np.arange(7000.0)})
    with pytest.raises(InvalidInput, match=r"Group rare categories"):
        lk.AdditiveModel().fit(frame, np.arange(7000.0))


def test_the_summary_has_a_row_for_each_term_and_the_picture_one_for_each():
    frame, eta, rng = table(9)
    model = lk.AdditiveModel(interactions=[("a", "g")]).fit(frame, eta + rng.normal(size=len(eta)))
    text = str(model.summary())
    assert "deviance explained" in text
    assert "a × g" in text
    figure = model.plot()
    assert [ax.get_title() for ax in figure.axes[:5]] == ["a", "b", "c", "g", "a × g"]
    assert len(model.plot(["b"]).axes) == 1
    assert list(model.effect("g").to_frame().columns) == ["g", "effect", "se"]
    assert model.effect("g").values[0].tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("response", ["gaussian", "poisson", "gamma"])
def test_degenerate_rows_are_fitted_by_what_they_say(response):
    """Constants, ties, n < p, copies of rows."""
    frame = pd.DataFrame({"a": [1.0] * 12, "b": np.tile([1.0, 2.0, 3.0, 4.0], 3), "g": ["u"] * 12})
    y = np.tile([1.0, 4.0, 2.0, 8.0], 3)
    found = lk.AdditiveModel(response).fit(frame, y).predict(frame)
    assert np.isfinite(found).all()
    assert found.min() >= 0.0
    assert found.max() <= 8.8
    constant = lk.AdditiveModel(response).fit(frame, np.full(12, 3.0))
    assert_allclose(constant.predict(frame), 3.0, rtol=1e-6)
    wide = RNG(0).normal(size=(15, 30))
    y = RNG(1).gamma(2.0, size=15) + 1
    assert np.isfinite(lk.AdditiveModel("gamma").fit(wide, y).predict(wide)).all()


def test_the_curve_moves_with_the_units_of_its_column():
    rng = RNG(10)
    x = rng.lognormal(0, 1, (400, 1))
    y = np.log(x[:, 0]) + 0.1 * rng.normal(size=400)
    here = lk.AdditiveModel().fit(x, y).predict(x)
    moved = lk.AdditiveModel().fit(1e6 * x - 3e5, y).predict(1e6 * x - 3e5)
    assert_allclose(moved, here, rtol=1e-5, atol=1e-6)


def test_the_workbench_moves_the_baseline_of_exposures_by_the_link_of_the_model():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"noise": rng.normal(size=600), "years": rng.uniform(0.05, 3, 600)})
    frame["claims"] = rng.poisson(0.5 * frame["years"])
    asked = {"exposure": "years", "kind": "count", "folds": 3, "repeats": 1}
    found = lk.compare(frame, "claims", ["additive", "constant"], **asked)
    additive, constant = found["additive"], found["constant"]
    assert additive.main.baseline == constant.main.baseline
    assert additive.others["r2"] < constant.others["r2"] + 0.05
    trained = lk.train(frame, "claims", "additive", exposure="years", kind="count", folds=3)
    assert not trained.score.better_than_baseline
    rates = trained.model.predict(frame[["noise"]], exposure=np.ones(600))
    assert_allclose(rates @ frame["years"], frame["claims"].sum(), rtol=0.02)


def test_linear_extrapolation_is_the_tangent_with_bands_that_widen():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 600)
    y = np.exp(2 * x) + rng.normal(0, 0.1, 600)
    model = lk.AdditiveModel(extrapolate="linear").fit(x[:, None], y)
    far = np.array([[x.max()], [1.5], [3.0]])
    slope = np.diff(model.predict(far)) / np.diff(far[:, 0])
    assert_allclose(slope, 2 * np.exp(2), rtol=0.1)  # the slope of the truth at the edge
    width = np.ptp(model.predict_interval(far, of="mean"), axis=1)
    assert width[2] > 4 * width[1] * 0.8 > 4 * width[0]


@pytest.mark.long
def test_a_category_that_the_fit_did_not_have_varies_as_categories_do():
    inside = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        g, x, effect = rng.integers(0, 40, 600), rng.uniform(size=600), rng.normal(0, 1, 41)
        frame = pd.DataFrame({"x": x, "g": g.astype(str)})
        model = lk.AdditiveModel().fit(frame, np.sin(6 * x) + effect[g] + rng.normal(0, 0.5, 600))
        new = pd.DataFrame({"x": [0.5], "g": ["new"]})
        with pytest.warns(UnseenCategories):
            low, high = model.predict_interval(new, of="mean")[0]
        inside.append(low < np.sin(3) + effect[40] < high)
    assert 0.8 < np.mean(inside) <= 1.0
    known = model.predict_interval(frame[:1], of="mean")[0]
    assert np.ptp(known) < (high - low) / 4


@pytest.mark.parametrize("response", ["gaussian", "poisson", "negative-binomial", "gamma"])
def test_the_density_of_new_categories_is_theirs(response):
    """About that of the truth, a normal coefficient, which the density around a mean is not."""
    rng = RNG(3)
    g, x, effect = np.repeat(np.arange(200), 6), rng.uniform(size=1200), rng.normal(0, 1, 200)
    eta, seen = np.sin(6 * x) + effect[g], g < 100
    y = DRAWS[response](eta, rng).astype(float)
    frame = pd.DataFrame({"x": x, "g": g.astype(str)})
    model = lk.AdditiveModel(response).fit(frame[seen], y[seen])
    with pytest.warns(UnseenCategories):
        found = model.log_likelihoods(frame[~seen], y[~seen])
        total = model.log_likelihood(frame[~seen], y[~seen], np.full(600, 2.0))
    assert_allclose(total, 2 * found.sum())
    family = model.predictive_family()
    mean = np.sin(6 * x) if response == "gaussian" else np.exp(np.sin(6 * x))
    alone = family.log_density(y, mean, counts=False)
    truth = family.log_density(y, mean, np.ones(1200), counts=False)
    assert alone[~seen].mean() < truth[~seen].mean() - 0.15
    assert_allclose(found.mean(), truth[~seen].mean(), atol=0.05)


def test_a_category_of_identifiers_is_warned_of():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=120), "id": [f"u{i}" for i in range(120)]})
    with pytest.warns(ContinuousColumn, match="'id' has 120 categories in 120 rows"):
        lk.AdditiveModel().fit(frame, frame["x"])


@pytest.mark.parametrize("levels", [30, 46])
def test_a_pair_with_a_category_of_many_levels_has_a_function_for_each(levels):
    rng = np.random.default_rng(0)
    g, x = rng.integers(0, levels, 1500), rng.normal(size=1500)
    slope = rng.normal(size=levels)
    y = slope[g] * x + 0.1 * rng.normal(size=1500)
    frame = pd.DataFrame({"g": [f"s{each:02d}" for each in g], "x": x})
    for wanted in (1, [("g", "x")]):
        model = lk.AdditiveModel(interactions=wanted).fit(frame, y)
        assert model.term_names_[-1] == "g × x"
        assert model.score(frame, y) > 0.95
    wide = pd.DataFrame({"g": [f"s{j % 70}" for j in range(1500)], "x": x})
    assert len(lk.AdditiveModel(interactions=5).fit(wide, y).term_names_) == 2
    with pytest.raises(InvalidInput, match="too many levels for a pair: at most 64"):
        lk.AdditiveModel(interactions=[("g", "x")]).fit(wide, y)


@pytest.mark.parametrize("response", ["poisson", "negative-binomial", "tweedie"])
def test_counts_that_are_all_0_are_said_once_with_advice_that_can_be_followed(response):
    X = pd.DataFrame({"x": np.arange(60.0) % 7, "town": ["a", "b"] * 30})
    for model in (lk.GLM(response), lk.AdditiveModel(response)):
        with pytest.warns(Separation) as caught:
            model.fit(X, np.zeros(60))
        (told,) = (str(each.message) for each in caught)
        assert told.startswith(f"{type(model).__name__}: the responses are separated along")
        advised = "penalise_intercept=True" in told
        assert advised is ("penalise_intercept" in model.get_params())
        assert told.endswith("rows with other responses.")
        assert_allclose(model.predict(X), 0.0, atol=1e-4)
    assert np.isnan(vars(model).get("deviance_explained_", np.nan))
    assert "nan" not in str(model.summary())


def test_a_pair_of_later_columns_is_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (500, 3))
    y = 3 * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=500)
    model = lk.AdditiveModel(interactions=10).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert model.term_names_[3:] == ("b × c",)


def test_a_mean_of_amounts_has_the_uncertainty_of_half_of_the_variance_of_their_logs():
    """σ̂² has the variance 2σ⁴/ν with ν degrees of freedom."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (80, 1))
    y = np.exp(np.sin(2 * X[:, 0]) + 0.5 * rng.normal(size=80))
    model = lk.AdditiveModel("log-normal").fit(X, y)
    logs = lk.AdditiveModel().fit(X, np.log(y))
    left = 80 - logs.edf_.sum() - 1
    added = model.covariance_[0, -1, -1] - logs.covariance_[0, -1, -1]
    assert_allclose(model.sigma_**2, logs.dispersion_, rtol=1e-9)
    assert_allclose(added, model.sigma_**4 / (2 * left), rtol=1e-6)


@pytest.mark.parametrize(
    ("response", "quantity"),
    [("gaussian", "prediction"), ("poisson", r"linear predictor \(log link\)")],
)
def test_an_explanation_says_what_it_explains(response, quantity):
    X = np.random.default_rng(0).uniform(size=(60, 1))
    model = lk.AdditiveModel(response).fit(X, np.arange(60) % 4 + 1.0)
    assert re.fullmatch(quantity, model.explain(X[:3]).quantity)


def squares_left(*parts):
    """The residual sum of squares of least squares of the last on the others, and their rank."""
    *columns, y = parts
    Z = np.column_stack([np.ones(len(y)), *columns])
    coef, _, rank, _ = np.linalg.lstsq(Z, y, rcond=None)
    return float(np.sum(np.square(y - Z @ coef))), int(rank)


@pytest.mark.parametrize("name", ["town", "town × car"])
def test_a_category_and_a_pair_have_the_f_test_of_least_squares(name):
    rng = np.random.default_rng(0)
    town, car = rng.integers(0, 4, 600), rng.integers(0, 3, 600)
    x = rng.normal(size=600)
    y = x + (town == 1) - 0.5 * (car == 2) + 0.8 * ((town == 2) & (car == 1)) + rng.normal(size=600)
    frame = pd.DataFrame({"x": x, "town": [f"t{k}" for k in town], "car": [f"c{k}" for k in car]})
    pairs = [("town", "car")] if "×" in name else []
    model = lk.AdditiveModel(terms={"x": "linear"}, interactions=pairs).fit(frame, y)
    found = model.term_test(name)
    towns, cars, both = np.eye(4)[town], np.eye(3)[car], np.eye(12)[3 * town + car]
    without = (x, towns, cars) if pairs else (x, cars)
    less, r0 = squares_left(*without, y)
    more, r1 = squares_left(*without, both if pairs else towns, y)
    F = (less - more) / (r1 - r0) / (more / (600 - r1))
    assert_allclose(found.statistic, F, rtol=0.02)  # φ̂ is that of the shrunk fit
    assert_allclose(np.log(found.p), np.log(fisher.sf(F, r1 - r0, 600 - r1)), rtol=0.02)


@pytest.mark.long
def test_bands_of_a_negative_binomial_cover_large_and_small_means_alike():
    """Its variance grows faster than the means, by which a quasi-Poisson fit weighs the rows."""
    inside = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0, 1, 600)
        mean = np.exp(4 * x)
        model = lk.AdditiveModel("negative-binomial").fit(
            x[:, None], rng.negative_binomial(2, 2 / (2 + mean))
        )
        at = np.array([0.05, 0.3, 0.7, 0.95])
        low, high = model.predict_interval(at[:, None], 0.9, of="mean").T
        inside.append((low <= np.exp(4 * at)) & (np.exp(4 * at) <= high))
    shares = np.mean(inside, axis=0)
    assert (shares >= 0.76).all()  # 0.9 less 2.3 standard errors of 25 draws
