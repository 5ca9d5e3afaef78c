"""Mixtures of any event model: latent classes of counts, categories and mixed tables."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from likely import MixtureModel, NaiveBayes
from likely.distributions import FullFamily
from likely.errors import InvalidInput, UnknownName, UnseenCategories


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
    assert_allclose(model.predict_proba(nothing), [model.weights_])
    assert_allclose(model.score_samples(nothing), 0.0, rtol=1e-12, atol=1e-12)
    with pytest.warns(UnseenCategories, match="answer='maybe'"):
        model.predict(nothing.assign(answer="maybe"))


def test_a_sample_is_a_table_like_the_one_fitted():
    frame, _ = latent_classes(200)
    model = MixtureModel(2, {"visits": "poisson"}, random_state=0).fit(frame)
    drawn, component = model.sample(5000, random_state=0)
    assert list(drawn.columns) == list(frame.columns)
    error = np.sqrt(0.25 / 5000)
    assert_allclose(np.bincount(component) / 5000, model.weights_, atol=4 * error)
    assert abs((drawn["answer"] == "yes").mean() - (frame["answer"] == "yes").mean()) < 0.06


def test_one_component_is_the_product_of_margins():
    frame, _ = latent_classes(100)
    model = MixtureModel(event={"visits": "poisson"}, smoothing=0.0).fit(frame)
    shares = frame["colour"].map(frame["colour"].value_counts(normalize=True))
    alone = MixtureModel(smoothing=0.0).fit(frame[["colour"]])
    assert_allclose(np.exp(alone.score_samples(frame[["colour"]])), shares)
    assert model.weights_ == [1.0]


def test_unknown_events_are_refused():
    with pytest.raises(UnknownName, match=r"event model 'gausian'.*Did you mean 'gaussian'"):
        MixtureModel(2, "gausian").fit(np.zeros((4, 2)))
    with pytest.raises(UnknownName, match=r"column 'colr'.*Did you mean 'colour'"):
        MixtureModel(2, {"colr": "categorical"}).fit(latent_classes(10)[0])


def test_a_refused_batch_leaves_the_mixture_as_it_was():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": list("uv") * 20, "n": rng.normal(size=40)})
    model = MixtureModel(2, random_state=0).partial_fit(frame)
    before = model.predict_proba(frame)
    with pytest.raises(InvalidInput, match="column 'n': found inf"):
        model.partial_fit(pd.DataFrame({"c": ["z"], "n": [np.inf]}))
    assert_allclose(model.predict_proba(frame), before, rtol=0)
    with pytest.raises(InvalidInput, match="X is a file"):
        model.partial_fit("rows.csv")


def test_a_full_gaussian_may_be_an_event_model_with_gaps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) + 5.0 * (np.arange(120) % 2)[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    model = MixtureModel(2, event=FullFamily(), random_state=0).fit(X)
    assert_allclose(np.sort(model.weights_), 0.5, atol=0.02)
    assert np.diff(model.solution_.trace).max() <= 1e-9


@pytest.mark.parametrize(
    ("smoothing", "message"),
    [
        ("auto", r"smoothing must be a number.*found 'auto'\. Use 1\.0"),
        ([1.0, 2.0, 3.0], r"smoothing has shape \(3,\); one number or 2"),
        (-1.0, r"smoothing must be finite and 0 or more; found -1\. Use 1\.0"),
        (np.nan, r"smoothing must be finite and 0 or more; found nan"),
    ],
)
def test_wrong_smoothing_is_refused(smoothing, message):
    with pytest.raises(InvalidInput, match=message):
        MixtureModel(2, "bernoulli", smoothing=smoothing).fit(np.eye(2)[[0, 1] * 5])


def test_a_later_batch_with_new_categories_keeps_gaussian_columns_open():
    frame = pd.DataFrame({"colour": list("rrgg") * 5, "size": [0.0, 0.0, 5.0, 5.1] * 5})
    model = MixtureModel(2, start=[0, 0, 1, 1] * 5, regularisation=0.1).partial_fit(frame)
    narrow = model.distribution_.parts[1].variance.min()
    model.partial_fit(frame.assign(colour="b"), sample_weight=np.full(20, 1e-12))
    assert_allclose(model.distribution_.parts[1].variance.min(), narrow, rtol=1e-6)
    assert list(model.schema_.categories[0]) == ["b", "g", "r"]
