"""The best constant: it follows exposures, and rows of weight 0 are absent."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

import likely
from likely.likelihoods.log_normal import LogNormal
from likely.likelihoods.responses import RESPONSES
from likely.metrics import Truth
from likely.metrics.baseline import BestConstant, best_level, best_rate
from likely.workbench.models.constant import ConstantModel

YEARS = np.array([1.0, 2.0, 3.0, 4.0])
AMOUNTS = ("gamma", "inverse-gaussian", "log-normal")


def test_a_rate_is_total_over_total_and_multiplies_each_exposure():
    truth = Truth(np.array([3.0, 3.0, 6.0, 8.0]), kind="count", exposure=YEARS)
    found = BestConstant.of(truth).prediction(truth)
    assert_allclose(found.means, 2 * YEARS)
    assert np.isfinite(found.log_density).all()


def test_a_row_of_weight_0_is_absent():
    y, weight = np.array([1.0, 2.0, 3.0, 100.0]), np.array([1.0, 1.0, 1.0, 0.0])
    new = Truth(np.array([5.0]), kind="real")
    with_it = BestConstant.of(Truth(y, weight, kind="real")).prediction(new)
    without = BestConstant.of(Truth(y[:3], kind="real")).prediction(new)
    assert_allclose(with_it.means, without.means)
    assert_allclose(with_it.log_density, without.log_density)
    assert_allclose(with_it.median, without.median)


DRAWS = {
    "gamma": ("positive", lambda rng: rng.gamma(2.0, 1.5, 400)),
    "inverse-gaussian": ("positive", lambda rng: rng.wald(2.0, 0.3, 400)),
    "log-normal": ("positive", lambda rng: rng.lognormal(0.5, 0.8, 400)),
    "tweedie": ("real", lambda rng: rng.gamma(2.0 * rng.poisson(1.0, 400), 0.7)),
    "negative-binomial": ("count", lambda rng: rng.negative_binomial(2, 0.3, 400).astype(float)),
    "gaussian": ("real", lambda rng: rng.normal(3.0, 2.0, 400)),
}


@pytest.mark.parametrize("name", [name for name in DRAWS if name != "log-normal"])
def test_the_constant_of_a_family_is_its_glm_without_a_column(name):
    """The same mean, and a dispersion (or an α) of its own by the same estimate."""
    kind, draw = DRAWS[name]
    y = draw(np.random.default_rng(0))
    model = likely.GLM(name, "identity" if name == "gaussian" else "log", l1=1e9, tol=1e-14)
    alone = model.fit(np.arange(400.0)[:, None] % 7, y)  # a penalty that leaves the intercept
    constant = ConstantModel(kind, name).fit(np.zeros((400, 1)), y)
    assert_allclose(constant.predict([[0.0]]), alone.predict([[0.0]]), rtol=1e-7)
    new = np.array([1.0, 2.0, 5.0])
    ours, theirs = constant.predictive_family(), alone.predictive_family()
    assert_allclose(
        ours.log_density(new, np.full(3, constant.mean_), counts=False),
        theirs.log_density(new, np.full(3, constant.mean_), counts=False),
        rtol=1e-6,
    )
    null = alone.inference_.null_log_likelihood
    dispersion = ours.dispersion if name != "gaussian" else y.var()
    expected = ours.response.log_prob(y, np.full(400, y.mean()), dispersion).sum()
    assert_allclose(null, expected, rtol=1e-8)


def test_a_log_normal_constant_has_the_mean_of_y_and_the_likeliest_sigma_around_it():
    y = DRAWS["log-normal"][1](np.random.default_rng(0))
    model = ConstantModel("positive", "log-normal").fit(np.zeros((400, 1)), y)
    assert_allclose(model.mean_, y.mean())
    totals = [
        LogNormal(sigma).log_prob(y, np.full(400, y.mean())).sum()
        for sigma in model.response_.sigma * np.array([0.99, 1.0, 1.01])
    ]
    assert totals[1] > max(totals[0], totals[2])


def test_the_usual_constant_of_gamma_amounts_is_a_gamma_and_of_counts_a_negative_binomial():
    rng = np.random.default_rng(0)
    amounts, counts = rng.gamma(2.0, 1.5, 50), rng.negative_binomial(2, 0.3, 50).astype(float)
    weight = np.ones(50)
    level = best_level("positive", amounts, weight)
    pearson = np.square(amounts / amounts.mean() - 1).sum() / 49
    assert level.response.name == "gamma"
    assert_allclose(level.mean, amounts.mean(), rtol=1e-14)
    assert_allclose(level.dispersion, pearson, rtol=1e-12)
    years = rng.uniform(0.5, 2.0, 50)
    rate = best_rate("count", counts, weight, years)
    for alpha in (0.9 * rate.response.alpha, 1.1 * rate.response.alpha):
        other = type(rate)(type(rate.response)(alpha), rate.mean)
        assert other.log_density(counts, years).sum() < rate.log_density(counts, years).sum()


@pytest.mark.parametrize("name", AMOUNTS)
@pytest.mark.parametrize("exposed", [False, True])
def test_the_usual_constant_of_amounts_has_the_likelier_family(name, exposed):
    """Both have the same mean; each has its own dispersion."""
    rng = np.random.default_rng(1)
    years = rng.uniform(0.5, 2.0, 400) if exposed else np.ones(400)
    y = years * DRAWS[name][1](rng)
    if name == "inverse-gaussian":  # V = μ³, which a factor does not keep
        y = rng.wald(2.0 * years, 0.3)
    weight = rng.integers(1, 4, 400).astype(float)
    found = best_rate("positive", y, weight, years)
    both = {each: best_rate("positive", y, weight, years, RESPONSES[each]) for each in AMOUNTS}
    likelihood = {k: weight @ level.log_density(y, years) for k, level in both.items()}
    assert found.response.name == max(likelihood, key=likelihood.get) == name
    assert found.mean == pytest.approx((weight @ y) / (weight @ years))
    assert found.dispersion == both[name].dispersion
    expanded = np.repeat(np.arange(400), weight.astype(int))
    again = best_rate("positive", y[expanded], np.ones(len(expanded)), years[expanded])
    assert again.response.name == name
    assert again.dispersion == pytest.approx(found.dispersion)


@pytest.mark.parametrize("name", AMOUNTS)
def test_a_family_alone_gains_nothing_over_the_baseline(name):
    """Columns of noise: a model with the family of the amounts is not better than the constant."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"noise": rng.normal(size=600), "y": rng.wald(1.0, 0.3, 600)})
    if name == "gamma":
        frame["y"] = rng.gamma(0.5, 2.0, 600)
    if name == "log-normal":
        frame["y"] = rng.lognormal(0.0, 1.0, 600)
    models = [f"glm-{each}" for each in AMOUNTS]
    found = likely.compare(frame, "y", models, folds=4, repeats=1, kind="positive")
    assert not any(found[model].score.better_than_baseline for model in models)
    assert abs(found[f"glm-{name}"].score.gain.value) < 0.01  # 0.36 over a gamma, where it is none


def test_the_constant_of_whole_amounts_has_the_family_of_the_models_that_are_tried():
    """So that no model gains by its family alone: Tweedie with zeros, gamma without."""
    rng = np.random.default_rng(0)
    sums = np.round(rng.gamma(0.9 * rng.poisson(1.5, 2000), 1.0) * 400)
    assert sums.min() == 0
    assert sums.max() > 2000
    weight = np.ones(2000)
    assert best_level("count", sums, weight).response.name == "tweedie"
    days = np.ceil(rng.gamma(30.0, 0.7, 2000))  # less spread than a Poisson, and skewed
    best = best_level("count", days, weight)
    assert best.response.name == "gamma"
    shares = [np.exp(best.log_density(np.array([float(k)]))[0]) for k in range(400)]
    assert_allclose(sum(shares), 1.0, rtol=1e-6)  # of masses


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_constant_of_amounts_with_many_zeros_is_a_tweedie_in_every_unit(unit):
    rng = np.random.default_rng(0)
    y = unit * rng.gamma(2.0 * rng.poisson(0.3, 400))
    truth = Truth(y, kind="real", with_zeros=True)
    found = BestConstant.of(truth)
    assert found.level.response.name == "tweedie"
    gaussian = BestConstant.of(truth, RESPONSES["gaussian"]).prediction(truth)
    gain = gaussian.losses(truth) - found.prediction(truth).losses(truth)
    other = Truth(y / unit, kind="real", with_zeros=True)
    known = BestConstant.of(other, RESPONSES["gaussian"]).prediction(other).losses(other)
    assert_allclose(gain, known - BestConstant.of(other).prediction(other).losses(other), atol=1e-6)


def test_an_offset_moves_the_probability_of_0_of_a_gaussian():
    y, offset = np.array([0.0, 1.0, 0.0, 4.0]), np.array([0.0, 1.0, -1.0, 2.0])
    truth = Truth(y, kind="real", offset=offset, with_zeros=True)
    found = BestConstant.of(truth)
    level, density = found.level, found.prediction(truth).log_density
    expected = norm(level.mean + offset, np.sqrt(level.dispersion))
    assert_allclose(density, np.where(y == 0, expected.logcdf(0), expected.logpdf(y)), rtol=1e-12)
