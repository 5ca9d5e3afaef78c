"""What is true of every family: fitting maximises, sampling is undone, gaps are summed out."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely._typing import NumbersAndCodes
from likely.distributions import Labels
from likely.errors import InvalidInput
from tests.event_models import (
    DENSITIES,
    MODELS,
    N_COMPONENTS,
    ONE_FEATURE,
    SUPPORT,
    assert_same,
    data,
    fitted,
    log_likelihood,
    rows,
    with_gaps,
)

every_family = pytest.mark.parametrize("name", MODELS)
every_density = pytest.mark.parametrize("name", DENSITIES)
seeds = st.integers(0, 999)
few = settings(max_examples=8)
WHOLE = {"full", "tied"}  # contributions include a term that all components share


@every_density
@few
@given(seed=seeds, step=st.sampled_from([0.01, 0.1, 1.0]), gaps=st.booleans())
def test_from_statistics_maximises_the_likelihood(name, seed, step, gaps):
    """A step towards the statistics of other data never raises it."""
    family = MODELS[name].family
    X, r = data(name, seed, gaps=gaps)
    statistics = family.statistics(X, r)
    elsewhere = family.statistics(*data(name, seed + 1000))
    best = family.from_statistics(statistics)
    moved = family.from_statistics(statistics + elsewhere.scaled(step))
    top = log_likelihood(best, X, r)
    assert log_likelihood(moved, X, r) < top + 1e-9 * abs(top)


@every_density
@few
@given(seed=seeds, gaps=st.booleans())
def test_sums_give_the_likelihood_of_the_rows(name, seed, gaps):
    """Up to terms without parameters, so differences between members are compared."""
    X, r = data(name, seed, gaps=gaps)
    statistics = MODELS[name].family.statistics(X, r)
    one, other = fitted(name, seed + 1), fitted(name, seed + 2)
    from_rows = log_likelihood(one, X, r) - log_likelihood(other, X, r)
    from_sums = one.log_likelihood_of(statistics) - other.log_likelihood_of(statistics)
    assert_allclose(from_sums, from_rows, rtol=1e-8, atol=1e-7)


@every_density
@pytest.mark.parametrize("seed", range(2))
def test_sample_refit_recover(name, seed):
    """2[ℓ(refitted) − ℓ(true)] is χ² with one degree per parameter: within 4 standard errors."""
    family, true = MODELS[name].family, fitted(name, seed)
    component = np.repeat(np.arange(N_COMPONENTS), 3000)
    X = true.sample(component, np.random.default_rng(seed))
    family.check(X)
    statistics = family.statistics(X, Labels(component, N_COMPONENTS))
    again = family.from_statistics(statistics)
    ratio = 2 * (again.log_likelihood_of(statistics) - true.log_likelihood_of(statistics))
    p = true.n_parameters
    assert p == again.n_parameters
    assert max(0.0, p - 4 * np.sqrt(2 * p)) < ratio < p + 4 * np.sqrt(2 * p)


@every_density
def test_sampling_repeats_with_the_seed(name):
    component = np.arange(30) % N_COMPONENTS
    member = fitted(name, 0)
    one, same, other = (member.sample(component, np.random.default_rng(s)) for s in (1, 1, 2))
    assert_same(one, same, rtol=0, atol=0)
    numbers = (lambda X: X.numeric) if isinstance(one, NumbersAndCodes) else np.asarray
    assert (numbers(one) != numbers(other)).any()


@every_family
@few
@given(seed=seeds, gaps=st.booleans())
def test_contributions_sum_to_the_score(name, seed, gaps):
    X, _ = data(name, seed, gaps=gaps)
    member = fitted(name, seed + 1)
    if name == "joint-table":
        with pytest.raises(InvalidInput, match="one term per feature"):
            member.contributions(X)
        return
    shares = member.contributions(X)
    assert shares.shape == (40, member.n_features, member.n_components)
    rest = shares.sum(axis=1) - member.log_score(X)  # a term that all components share
    assert_allclose(rest, rest[:, :1] + np.zeros_like(rest), rtol=1e-9, atol=1e-9)
    if name not in WHOLE:
        assert_allclose(rest, 0.0, rtol=1e-9, atol=1e-9)


@every_density
@few
@given(seed=seeds, gaps=st.booleans())
def test_the_score_differs_from_log_prob_by_a_shared_term(name, seed, gaps):
    X, _ = data(name, seed, gaps=gaps)
    member = fitted(name, seed + 1)
    rest = member.log_prob(X) - member.log_score(X)
    assert_allclose(rest, rest[:, :1] + np.zeros_like(rest), atol=1e-8)


@pytest.mark.parametrize("name", [n for n in DENSITIES if MODELS[n].gaps] + ["full", "tied"])
def test_a_row_with_nothing_observed_carries_no_evidence(name):
    X, _ = data(name, 0, 5)

    def emptied(part):
        return np.full_like(part, -1 if part.dtype.kind == "i" else np.nan)

    nothing = NumbersAndCodes(*map(emptied, X)) if isinstance(X, NumbersAndCodes) else emptied(X)
    assert_allclose(fitted(name, 1).log_prob(nothing), 0.0, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [n for n in MODELS if MODELS[n].gaps and n != "product"])
@pytest.mark.parametrize("feature", [0, 1])
def test_a_missing_cell_drops_its_own_term_only(name, feature):
    X, _ = data(name, 3)
    member = fitted(name, 4)
    gone = X.copy()
    gone[:, feature] = -1 if X.dtype.kind == "i" else np.nan
    expected = member.log_score(X) - member.contributions(X)[:, feature]
    assert_allclose(member.log_score(gone), expected, rtol=1e-9, atol=1e-9)


@every_family
@pytest.mark.parametrize("gaps", [False, True])
def test_a_block_that_takes_the_fast_path_gives_the_same_statistics(name, gaps):
    family, rng = MODELS[name].family, np.random.default_rng(0)
    n = 140_000  # × 2 features is above FAST_CELLS
    X = MODELS[name].draw(rng, n)
    if gaps and MODELS[name].gaps:
        X = with_gaps(X, rng)
    labels = Labels(rng.integers(-1, N_COMPONENTS, n), N_COMPONENTS, rng.integers(0, 3, n) * 0.5)
    known = labels.codes >= 0
    soft = labels.dense()[known]
    assert_same(family.statistics(X, labels), family.statistics(rows(X, known), soft))


@pytest.mark.parametrize("name", [n for n in DENSITIES if n != "product"])
def test_densities_sum_to_1(name):
    """Midpoint and trapezium sums; 1e-6 is what they leave at the Laplace's kink."""
    family = MODELS[name].family
    X, r = data(name, 5, 60)
    points, volume = SUPPORT[name] if name in SUPPORT else ONE_FEATURE[name]
    X = X if name in SUPPORT else X[:, :1]
    member = family.from_statistics(family.statistics(X, r))
    assert_allclose(volume @ np.exp(member.log_prob(points)), 1.0, rtol=1e-6)


@every_family
def test_leave_one_out_varies_where_smoothing_applies(name):
    family = MODELS[name].family
    statistics = family.statistics(*data(name, 0))
    little, much = (family.leave_one_out(statistics, alpha) for alpha in (0.1, 10.0))
    assert np.isfinite([little, much]).all()
    assert (little != much) == family.smoothed


@every_family
def test_families_and_statistics_travel(name):
    """An executor on another machine would pickle them."""
    family = MODELS[name].family
    X, r = data(name, 0)
    there = pickle.loads(pickle.dumps(partial(family.statistics, X)))
    back = pickle.loads(pickle.dumps(there(r)))
    assert_same(back, family.statistics(X, r), rtol=0, atol=0)
