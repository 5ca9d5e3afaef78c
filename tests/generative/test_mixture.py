"""Mixtures of any event model: latent classes of counts, categories and mixed tables."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from likely import MixtureModel, NaiveBayes
from likely.errors import UnknownName, UnseenCategories


def latent_classes(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "answer": np.where(rng.random(n) < 0.1 + 0.8 * y, "yes", "no"),
            "colour": np.array(list("rgb"))[np.where(rng.random(n) < 0.9, 2 * y, 1)],
            "visits": rng.poisson(1 + 9 * y),
            "size": rng.normal(6.0 * y),
        }
    )
    return frame, y


def test_mixed_columns_are_clustered():
    frame, y = latent_classes()
    model = MixtureModel(2, {"visits": "poisson"}, random_state=0).fit(frame)
    assert adjusted_rand_score(y, model.predict(frame)) > 0.95
    assert model.n_parameters() == 1 + 2 * (1 + 2 + 1 + 2)
    assert_allclose(np.exp(model.predict_log_proba(frame)).sum(axis=1), 1.0)


def test_known_components_are_naive_bayes():
    """With hard labels and no step, a mixture is the classifier."""
    frame, y = latent_classes(100)
    names = ["answer", "colour", "visits"]
    events = {"visits": "poisson"}
    classifier = NaiveBayes(events).fit(frame[names], y)
    with pytest.warns(match="did not converge"):
        mixture = MixtureModel(2, events, start=y, max_iter=0, tol=-1.0).fit(frame[names])
    assert_allclose(mixture.score_samples(frame[names]), classifier.score_samples(frame[names]))
    assert_allclose(mixture.predict_proba(frame[names]), classifier.predict_proba(frame[names]))


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_documents_are_clustered(layout):
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(0.2 * np.ones(30), size=3)
    y = rng.integers(0, 3, 200)
    X = np.array([rng.multinomial(40, phi[k]) for k in y])
    model = MixtureModel(3, "multinomial", random_state=0).fit(layout(X))
    assert adjusted_rand_score(y, model.predict(layout(X))) > 0.95


def test_bernoulli_latent_classes_choose_their_number():
    rng = np.random.default_rng(0)
    theta = np.array([[0.9] * 6 + [0.1] * 6, [0.1] * 6 + [0.9] * 6])
    y = rng.integers(0, 2, 400)
    X = (rng.random((400, 12)) < theta[y]).astype(float)
    model = MixtureModel("auto", "bernoulli", max_components=4, n_init=2, random_state=0).fit(X)
    assert model.n_components_ == 2
    assert len(model.bic_path_) == 4


def test_missing_cells_and_categories_never_seen_carry_no_evidence():
    frame, _ = latent_classes(200)
    model = MixtureModel(2, {"visits": "poisson"}, random_state=0).fit(frame)
    nothing = pd.DataFrame(
        {"answer": [None], "colour": [None], "visits": [np.nan], "size": [np.nan]}
    )
    assert_allclose(model.predict_proba(nothing), [model.mixing_])
    assert_allclose(model.score_samples(nothing), 0.0, atol=1e-12)
    with pytest.warns(UnseenCategories, match="answer='maybe'"):
        model.predict(nothing.assign(answer="maybe"))


def test_a_sample_is_a_table_like_the_one_fitted():
    frame, _ = latent_classes(200)
    model = MixtureModel(2, {"visits": "poisson"}, random_state=0).fit(frame)
    drawn, component = model.sample(5000, random_state=0)
    assert list(drawn.columns) == list(frame.columns)
    error = np.sqrt(0.25 / 5000)
    assert_allclose(np.bincount(component) / 5000, model.mixing_, atol=4 * error)
    assert abs((drawn["answer"] == "yes").mean() - (frame["answer"] == "yes").mean()) < 0.06


def test_one_component_is_the_product_of_margins():
    frame, _ = latent_classes(100)
    model = MixtureModel(event={"visits": "poisson"}, smoothing=0.0).fit(frame)
    shares = frame["colour"].map(frame["colour"].value_counts(normalize=True))
    alone = MixtureModel(smoothing=0.0).fit(frame[["colour"]])
    assert_allclose(np.exp(alone.score_samples(frame[["colour"]])), shares)
    assert model.mixing_ == [1.0]


def test_unknown_events_are_refused():
    with pytest.raises(UnknownName, match=r"event model 'gausian'.*Did you mean 'gaussian'"):
        MixtureModel(2, "gausian").fit(np.zeros((4, 2)))
    with pytest.raises(UnknownName, match=r"column 'colr'.*Did you mean 'colour'"):
        MixtureModel(2, {"colr": "categorical"}).fit(latent_classes(10)[0])
