"""Mixtures of Gaussians: densities, clusters, the number of them, starts, and collapse."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from likely import GaussianMixture, HiddenMarkovModel, MixtureModel
from likely.errors import (
    CollapsedComponent,
    InvalidInput,
    RedundantColumns,
    SingularCovariance,
    UnknownName,
    UnknownParameter,
)

COVARIANCES = ("full", "tied", "diagonal", "spherical")


def blobs(n=300, k=3, d=2, seed=0, apart=8.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    angle = 2 * np.pi * np.arange(k) / k
    centre = np.zeros((k, d))
    centre[:, 0], centre[:, -1] = apart * np.cos(angle), apart * np.sin(angle)
    return rng.normal(size=(n, d)) + centre[y], y


@pytest.mark.parametrize("to", COVARIANCES)
@pytest.mark.parametrize("of", COVARIANCES)
def test_a_mixture_may_start_from_any_kind_of_covariance(of, to):
    X, y = blobs(90)
    first = GaussianMixture(3, of, start=y).fit(X)
    second = GaussianMixture(3, to, start=first).fit(X)
    assert second.covariances_.shape == GaussianMixture(3, to, start=y).fit(X).covariances_.shape
    assert adjusted_rand_score(y, second.predict(X)) > 0.95


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_bic_picks_three(covariance):
    """MIX-6."""
    X, y = blobs()
    model = GaussianMixture("auto", covariance, max_components=5, n_init=3, random_state=0).fit(X)
    assert model.n_components_ == 3
    assert model.bic_path_.argmin() == 2
    assert len(model.bic_path_) == 5
    assert_allclose(model.bic_path_[2], model.bic(X))
    assert adjusted_rand_score(y, model.predict(X)) > 0.95


def test_two_clusters_five_deviations_apart_are_found():
    """MIX-7, N = 5000."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 5000)
    X = rng.normal(size=(5000, 2)) + 5.0 * y[:, None] * [1.0, 0.0]
    model = GaussianMixture(2, n_init=2, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.fit_predict(X)) > 0.95


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_the_density_integrates_to_one(covariance):
    X, _ = blobs(60, 2, 1, apart=4.0)
    model = GaussianMixture(2, covariance, random_state=0).fit(X)
    total, _ = quad(lambda x: np.exp(model.score_samples([[x]])[0]), -30, 30, limit=200)
    assert_allclose(total, 1.0, rtol=1e-6)


def test_the_density_is_the_weighted_sum_of_gaussians():
    X, _ = blobs()
    model = GaussianMixture(3, random_state=0).fit(X)
    parts = zip(model.weights_, model.means_, model.covariances_, strict=True)
    density = sum(w * multivariate_normal(m, c).pdf(X) for w, m, c in parts)
    assert_allclose(np.exp(model.score_samples(X)), density)
    assert_allclose(model.score(X), np.log(density).mean())
    assert_allclose(model.aic(X), -2 * np.log(density).sum() + 2 * model.n_parameters())


def test_permuting_components_leaves_the_density():
    X, _ = blobs()
    one = GaussianMixture(3, random_state=0).fit(X)
    order = [2, 0, 1]
    start = {
        "mixing": one.weights_[order],
        "mean": one.means_[order],
        "covariance": one.covariances_[order],
    }
    other = GaussianMixture(3, start=start).fit(X)
    assert_allclose(other.score_samples(X), one.score_samples(X), rtol=1e-5)
    assert_array_equal(np.asarray(order)[other.predict(X)], one.predict(X))


def test_a_fixed_point_stays():
    """MIX-5: one more step from a converged fit leaves the likelihood."""
    X, _ = blobs(100)
    one = GaussianMixture(3, tol=1e-13, random_state=0).fit(X)
    again = GaussianMixture(3, start=one).fit(X)
    assert_allclose(again.log_likelihood_traces_[0], one.log_likelihood_traces_[0][-1], rtol=1e-10)
    assert again.n_iter_ == 1


@pytest.mark.parametrize("far", [1e6, -1e6, 1e150])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_far_points_are_finite(covariance, far):
    """MIX-3 at 10⁶ and beyond."""
    X, _ = blobs(60)
    model = GaussianMixture(3, covariance, random_state=0).fit(X)
    log_proba = model.predict_log_proba([[far, far]])
    assert not np.isnan(log_proba).any()
    assert_allclose(np.exp(log_proba).sum(), 1.0)
    assert np.isfinite(model.score_samples([[far, far]])).all()


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_collapse_onto_repeated_rows_is_prevented_and_reported(covariance):
    rng = np.random.default_rng(0)
    X = np.vstack([np.tile([3.0, 3.0], (8, 1)), rng.normal(size=(60, 2))])
    sound = GaussianMixture(2, covariance, random_state=0, n_init=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sound.fit(X)
    spread = (
        np.diagonal(sound.covariances_, axis1=1, axis2=2)
        if covariance == "full"
        else (sound.covariances_)
    )
    assert spread.max(axis=1).min() > 1e-3  # no component sits on the eight equal rows
    reported = any(w.category is CollapsedComponent for w in caught)
    assert reported or len(sound.log_likelihood_traces_) >= 3


def test_all_rows_repeated_is_reported_with_what_to_do():
    X = np.repeat([[0.0, 0.0], [5.0, 1.0]], 10, axis=0)
    with pytest.warns(CollapsedComponent, match=r"Components 0, 1 shrank.*fewer than 2|fewer"):
        model = GaussianMixture(2, random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.linalg.det(model.covariances_).min() > 1e-6


def test_regularisation_is_scale_free():
    X, _ = blobs(100)
    here = GaussianMixture(3, random_state=0, regularisation=0.01).fit(X)
    there = GaussianMixture(3, random_state=0, regularisation=0.01).fit(X * [1e-4, 1e5])
    assert_allclose(there.means_, here.means_ * [1e-4, 1e5], rtol=1e-6)
    scale = np.outer([1e-4, 1e5], [1e-4, 1e5])
    assert_allclose(there.covariances_, here.covariances_ * scale, rtol=1e-6)


def test_starts_may_be_labels_soft_rows_parameters_or_a_model():
    X, y = blobs(90)
    labels = GaussianMixture(3, start=y).fit(X)
    soft = GaussianMixture(3, start=np.eye(3)[y]).fit(X)
    assert_allclose(soft.means_, labels.means_)
    assert_allclose(GaussianMixture(3, start=labels).fit(X).means_, labels.means_, atol=1e-4)
    assert len(labels.log_likelihood_traces_) == 1


def test_one_component_is_the_sample_mean_and_covariance():
    X, _ = blobs(50)
    model = GaussianMixture(regularisation=0.0).fit(X)
    assert_allclose(model.means_[0], X.mean(axis=0))
    assert_allclose(model.covariances_[0], np.cov(X.T, ddof=0))
    assert len(model.log_likelihood_traces_) == 1


def test_diagonal_equals_the_product_form():
    """MIX-6: a diagonal mixture is MixtureModel with Gaussian columns."""
    X, y = blobs(90)
    one = GaussianMixture(3, "diagonal", start=y).fit(X)
    product = MixtureModel(3, "gaussian", start=y).fit(X)
    assert_allclose(product.score_samples(X), one.score_samples(X))


def test_missing_cells_are_summed_out():
    X, y = blobs(300)
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    model = GaussianMixture(3, random_state=0, n_init=2).fit(holes)
    complete = ~np.isnan(holes).any(axis=1)
    assert adjusted_rand_score(y[complete], model.predict(holes)[complete]) > 0.95
    one = model.score_samples([[X[0, 0], np.nan]])
    parts = zip(model.weights_, model.means_, model.covariances_, strict=True)
    density = sum(w * multivariate_normal(m[0], c[0, 0]).pdf(X[0, 0]) for w, m, c in parts)
    assert_allclose(np.exp(one[0]), density)


def test_sampling_follows_the_mixing():
    """MIX-1: component frequencies within error; means within 4 standard errors."""
    X, _ = blobs(120, 2)
    model = GaussianMixture(2, random_state=0).fit(X)
    drawn, component = model.sample(20_000, random_state=1)
    error = np.sqrt(model.weights_ * (1 - model.weights_) / 20_000)
    assert (np.abs(np.bincount(component) / 20_000 - model.weights_) < 4 * error).all()
    for k in range(2):
        own = drawn[component == k]
        error = np.sqrt(np.diag(model.covariances_[k]) / len(own))
        assert (np.abs(own.mean(axis=0) - model.means_[k]) < 4 * error).all()


def test_stopping_early_is_reported():
    X, _ = blobs(100, apart=1.0)
    with pytest.warns(ConvergenceWarning, match=r"GaussianMixture did not converge: max_iter=2"):
        model = GaussianMixture(3, max_iter=2, random_state=0).fit(X)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_online_steps_learn_what_a_fit_learns():
    X, y = blobs(2000)
    model = GaussianMixture(3, random_state=0, n_init=2)
    for batch in np.split(X, 20):
        model.partial_fit(batch)
    assert model.n_rows_ == 2000
    assert adjusted_rand_score(y, model.predict(X)) > 0.95
    whole = GaussianMixture(3, random_state=0).fit(X)
    assert model.score(X) > whole.score(X) - 0.02


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_components": 0}, InvalidInput, r"whole number from 1 up, or 'auto'; found 0"),
        ({"n_components": 2.5}, InvalidInput, r"found 2.5"),
        ({"n_components": True}, InvalidInput, r"found True"),
        (
            {"n_components": 2, "n_init": 0},
            InvalidInput,
            r"n_init must be a whole number, at least 1; found 0",
        ),
        (
            {"regularisation": -1.0},
            InvalidInput,
            r"regularisation must be a finite number, 0 or more; found -1",
        ),
        ({"regularisation": None}, InvalidInput, r"regularisation must be .*; found None"),
        (
            {"n_components": "auto", "max_components": 0},
            InvalidInput,
            r"max_components must be a whole number, at least 1; found 0\. Use 10",
        ),
        ({"tol": "x"}, InvalidInput, r"tol must be a finite number; found 'x'\. Use 1e-8"),
        ({"max_iter": 1.5}, InvalidInput, r"max_iter must be a whole number.*; found 1.5"),
        ({"covariance": "diag"}, UnknownName, r"covariance 'diag'.*Did you mean 'diagonal'"),
        ({"n_components": 9}, InvalidInput, r"n_components=9 but there are only 6 distinct rows"),
        ({"n_components": 2, "start": [0, 1]}, InvalidInput, r"start has 2 rows and X has 6"),
        (
            {"n_components": 2, "start": {"mean": [[0.0]]}},
            InvalidInput,
            r"lacks weights, covariances; it needs weights, means and covariances",
        ),
        ({"n_components": "auto", "start": [0] * 6}, InvalidInput, r"start fixes the number"),
        ({"n_components": 3, "start": np.eye(2)[[0, 1] * 3]}, InvalidInput, r"2 components.*is 3"),
    ],
)
def test_wrong_arguments_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        GaussianMixture(**options).fit(np.arange(12.0).reshape(6, 2))


def test_online_steps_need_a_fixed_number_of_components():
    with pytest.raises(InvalidInput, match="needs a fixed number of components"):
        GaussianMixture("auto").partial_fit(np.arange(12.0).reshape(6, 2))


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("constant", [0.0, 0.3, 1e8 / 3])
def test_a_constant_column_changes_no_cluster_and_no_bic(covariance, constant):
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(150, 2)), rng.normal([3.0, 0.0], size=(50, 2))])
    Z = np.column_stack([X, np.full(200, constant)])
    with pytest.warns(RedundantColumns, match="Column 'x2' is constant.*Drop it"):
        with_column = GaussianMixture(2, covariance, random_state=0).fit(Z)
    without = GaussianMixture(2, covariance, random_state=0).fit(X)
    assert_allclose(with_column.predict_proba(Z), without.predict_proba(X), atol=1e-8)
    Z[:, 2] += 7.0  # new values there have no effect
    assert_allclose(with_column.score_samples(Z), without.score_samples(X), rtol=1e-8)
    assert_allclose(with_column.bic(Z), without.bic(X), rtol=1e-8)
    assert_array_equal(with_column.n_parameters(naive=False), without.n_parameters(naive=False))


@pytest.mark.parametrize("ending", ["_", ""])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_start_has_the_names_of_the_fitted_attributes(covariance, ending):
    X = np.random.default_rng(0).normal(size=(60, 2)) + 3 * (np.arange(60) % 2)[:, None]
    one = GaussianMixture(2, covariance, random_state=0).fit(X)
    names = ("weights", "means", "covariances")
    start = {f"{name}{ending}": getattr(one, f"{name}_") for name in names}
    with pytest.warns(ConvergenceWarning):  # no step
        again = GaussianMixture(2, covariance, start=start, max_iter=0).fit(X)
    assert_allclose(again.score_samples(X), one.score_samples(X), rtol=1e-12)
    del start[f"means{ending}"]
    with pytest.raises(InvalidInput, match="start lacks means; it needs weights, means and"):
        GaussianMixture(2, covariance, start=start).fit(X)


@pytest.mark.parametrize("weight", [1e300, 1e-300, 1e307, 5e-324])
@pytest.mark.parametrize("model", [GaussianMixture, MixtureModel, HiddenMarkovModel])
def test_weights_whose_squares_are_no_numbers_are_refused(model, weight):
    X = np.random.default_rng(0).normal(size=(20, 2))
    fit = model(1).fit
    given = np.full(1 if model is HiddenMarkovModel else 20, weight)
    with pytest.raises(
        InvalidInput, match=r"sample_weight .*Divide (them|the weights) by their mean"
    ):
        fit(X, sample_weight=given)


@pytest.mark.parametrize("covariance", ["full", "tied"])
@pytest.mark.parametrize("weight", [1e-99, 1e99])
def test_the_unit_of_the_weights_has_no_effect(covariance, weight):
    X = np.random.default_rng(0).normal(size=(30, 2))
    plain = GaussianMixture(1, covariance).fit(X)
    weighted = GaussianMixture(1, covariance).fit(X, sample_weight=np.full(30, weight))
    assert_allclose(weighted.covariances_, plain.covariances_, rtol=1e-10)


@pytest.mark.parametrize("offset", [0.0, 0.1, 1e6])
def test_rows_in_a_plane_are_warned_of(offset):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 40))
    plane = np.column_stack([a, b, a + b]) + offset
    for covariance in ("full", "tied"):
        with pytest.warns(SingularCovariance, match=r"plane of dimension 2, and 3 columns vary"):
            GaussianMixture(1, covariance).fit(plane)
    with pytest.warns(SingularCovariance, match="plane of dimension 2"):
        HiddenMarkovModel(1, covariance="full").fit(plane)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianMixture(1, "diagonal").fit(plane)
        GaussianMixture(1).fit(plane + 1e-4 * rng.normal(size=plane.shape))


def test_a_mixture_of_one_row_says_that_its_density_is_1():
    with pytest.warns(RedundantColumns, match="no column is left, and the density is 1 everywhere"):
        model = GaussianMixture(1).fit(np.array([[1.0, 2.0]]))
    assert_allclose(model.score_samples([[1.0, 2.0], [5.0, 5.0]]), 0.0)


def test_a_constant_column_may_have_any_value_in_new_rows():
    """In the density of the model and in that of its distribution."""
    X = np.column_stack([np.random.default_rng(0).normal(size=(30, 2)), np.full(30, 3.0)])
    with pytest.warns(RedundantColumns):
        model = GaussianMixture(1).fit(X)
    new = X[:2] + np.array([0, 0, 96.0])
    assert_allclose(model.score_samples(new), model.score_samples(X[:2]), rtol=1e-14)
    assert_allclose(model.distribution_.log_prob(new)[:, 0], model.score_samples(new), rtol=1e-14)


def test_a_name_of_hmmlearn_is_answered_with_ours():
    with pytest.raises(UnknownParameter, match="hmmlearn's n_components is n_states"):
        HiddenMarkovModel(n_components=2)


def test_a_component_10000_times_narrower_than_another_is_fitted_with_less_regularisation():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    wide = rng.normal(size=(2000, 1)) * np.where(y == 1, 1.0, 1e4)[:, None]
    X = np.column_stack([wide, rng.normal(size=(2000, 3)) + 0.7 * y[:, None]])
    with pytest.warns(CollapsedComponent, match="lower regularisation if the scales of a column"):
        held = GaussianMixture(2, "diagonal", random_state=0).fit(X)
    found = GaussianMixture(2, "diagonal", random_state=0, regularisation=1e-10).fit(X)
    narrow, wide = np.sort(found.covariances_[:, 0])
    assert 0.8 < narrow < 1.25
    assert 0.8e8 < wide < 1.25e8
    assert found.score_samples(X).mean() > held.score_samples(X).mean() + 1
