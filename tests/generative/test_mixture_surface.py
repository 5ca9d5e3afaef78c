"""Online EM by weight, what mixtures answer, and which warnings reach the user."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from likely import GaussianMixture, MixtureModel, load, save
from likely.errors import CollapsedComponent
from likely.generative.mixture import online_share
from tests.generative.test_gaussian_mixture import blobs


def batch(n=1000, seed=0, d=1):
    """Two clusters, 8 deviations apart in every column."""
    rows = np.random.default_rng(seed).normal(size=(n, d))
    return rows + 8.0 * (np.arange(n) % 2)[:, None]


def two_batches(n_components=1, later=((100.0,),), weight=None, scale=1.0):
    X = batch()
    model = GaussianMixture(n_components, random_state=0, tol=1e-13)
    model.partial_fit(X, sample_weight=np.full(len(X), scale))
    first = model.means_.copy(), model.covariances_.copy()
    weight = np.ones(len(later)) if weight is None else np.asarray(weight)
    return model.partial_fit(np.array(later), sample_weight=scale * weight), first


def test_one_row_after_a_thousand_moves_the_fit_by_about_its_share():
    model, (mean, _) = two_batches()
    moved = float(model.means_[0, 0] - mean[0, 0])
    assert 0.1 < moved < 0.2  # 100 / 1000 for a plain average; more, for the past is forgotten


@pytest.mark.parametrize("n_components", [1, 2])
def test_a_batch_of_almost_no_weight_does_not_move_the_fit(n_components):
    model, (mean, covariance) = two_batches(n_components, weight=[1e-9])
    assert_allclose(model.means_, mean, atol=1e-6)
    assert_allclose(model.covariances_, covariance, rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_the_unit_of_the_weights_does_not_matter_online(scale):
    rows = ((3.0,), (4.0,), (5.5,))
    plain, _ = two_batches(2, rows)
    scaled, _ = two_batches(2, rows, scale=scale)
    assert_allclose(scaled.means_, plain.means_, rtol=1e-9)
    assert_allclose(scaled.covariances_, plain.covariances_, rtol=1e-9)


def test_an_online_fit_goes_on_after_it_was_saved(tmp_path):
    X = batch(300, d=2)
    model = GaussianMixture(2, random_state=0).partial_fit(X[:100]).partial_fit(X[100:150])
    save(model, tmp_path / "m.likely")
    loaded = load(tmp_path / "m.likely")
    assert_allclose(loaded.partial_fit(X[150:]).means_, model.partial_fit(X[150:]).means_)
    assert loaded.n_rows_ == 300


def test_a_negligible_batch_in_between_changes_nothing_afterwards():
    X = batch(300, d=2)
    plain, other = (
        GaussianMixture(2, random_state=0, tol=1e-13).partial_fit(X[:100]) for _ in range(2)
    )
    other.partial_fit(X[:1] + 50, sample_weight=[1e-12])
    for model in (plain, other):
        model.partial_fit(X[100:200]).partial_fit(X[200:])
    assert_allclose(other.means_, plain.means_, rtol=1e-6)


@given(n_batches=st.integers(1, 40), weight=st.floats(1e-3, 1e6))
def test_equal_batches_move_by_the_steps_of_cappe_and_moulines(n_batches, weight):
    found = online_share(n_batches * weight, weight, weight)
    assert_allclose(found, (n_batches - 1 + 2) ** -0.7, rtol=1e-9)


@settings(max_examples=50)
@given(earlier=st.floats(1e-3, 1e6), weight=st.floats(1e-6, 1e6))
def test_no_batch_counts_less_than_its_share_of_the_weight(earlier, weight):
    typical = (earlier**2 + weight**2) / (earlier + weight)
    share = online_share(earlier, weight, typical)
    assert weight / (earlier + weight) * (1 - 1e-9) <= share < 1


def test_the_first_batch_is_silent_about_convergence_and_loud_about_collapse():
    X = np.repeat([[0.0, 0.0], [5.0, 1.0]], 10, axis=0)
    with pytest.warns(CollapsedComponent, match=r"repeated rows, or onto a line or plane"):
        GaussianMixture(2, random_state=0).partial_fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianMixture(3, max_iter=2, random_state=0).partial_fit(batch(60, d=2))


def test_collapse_from_a_given_start_claims_no_other_starts():
    X = np.repeat([[0.0, 0.0], [5.0, 1.0]], 10, axis=0)
    with pytest.warns(CollapsedComponent) as said:
        GaussianMixture(2, start=[0] * 10 + [1] * 10).fit(X)
    text = str(said[0].message)
    assert "Components 0, 1 collapsed" in text
    assert "every start" not in text
    assert "stronger prior" not in text


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_full_parameters_of_gaussians_are_means_and_matrices(covariance):
    model = GaussianMixture(2, covariance, random_state=0).fit(batch(60, d=3))
    assert model.n_parameters(naive=False) == 1 + 2 * (3 + 6)
    assert model.n_parameters() == model.n_parameters(naive=True)


def test_full_parameters_of_categories_are_a_table():
    frame = pd.DataFrame({"a": list("uvw") * 10, "b": list("xy") * 15})
    model = MixtureModel(2, random_state=0).fit(frame)
    assert model.n_parameters() == 1 + 2 * (2 + 1)
    assert model.n_parameters(naive=False) == 1 + 2 * (3 * 2 - 1)


@pytest.mark.parametrize("event", ["gaussian", "multinomial"])
def test_the_joint_sums_to_the_density(event):
    X = np.random.default_rng(0).poisson(3.0, size=(50, 3)) + 1
    model = MixtureModel(2, event, random_state=0).fit(X)
    joint = model.predict_joint_log_proba(X)
    assert joint.shape == (50, 2)
    assert_allclose(logsumexp(joint, axis=1), model.score_samples(X))
    gap = joint - joint[:, [0]]
    log_proba = model.predict_log_proba(X)
    assert_allclose(gap, log_proba - log_proba[:, [0]], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-12, 1e9])
def test_the_unit_of_the_weights_does_not_matter(unit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) + 3.0 * (np.arange(200) % 2)[:, None]
    weight = rng.uniform(0.5, 1.5, len(X))
    one, other = (
        GaussianMixture(2, random_state=0).fit(X, sample_weight=u * weight) for u in (1.0, unit)
    )
    assert one.n_iter_ == other.n_iter_ > 5
    assert_allclose(other.means_, one.means_, rtol=1e-9)
    assert_allclose(other.covariances_, one.covariances_, rtol=1e-7)


@pytest.mark.parametrize("model", [MixtureModel(2), GaussianMixture(2)])
def test_no_step_leaves_the_start_and_says_so(model):
    X, y = blobs(90)
    start = (y > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="max_iter=0 was reached"):
        model.set_params(start=start, max_iter=0).fit(X)
    assert_allclose(model.weights_, np.bincount(start) / 90)
