"""Values and names that a generative model or a feature map cannot have."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from likely import Discretizer, DiscriminantAnalysis, GaussianMixture, MixtureModel, NaiveBayes
from likely.errors import InvalidInput, UnknownName, UnseenCategories
from tests.test_bad_input import X, Y, at


@pytest.mark.parametrize("model", [NaiveBayes("categorical"), MixtureModel(1, "categorical")])
def test_categories_never_seen_are_reported_once(model):
    frame = pd.DataFrame({"colour": list("rgb" * 4)})
    model.fit(frame, Y)
    with pytest.warns(UnseenCategories, match="colour='mauve'") as caught:
        model.predict_proba(pd.DataFrame({"colour": ["mauve", "mauve", "r"]}))
    assert len(caught) == 1


VALUES = {
    "negative multinomial": (NaiveBayes("multinomial"), at(-1.0), r"Negative values.*found -1"),
    "negative complement": (NaiveBayes("complement"), at(-1.0), r"Negative values.*found -1"),
    "negative Poisson": (NaiveBayes("poisson"), np.floor(at(-1.0)), r"Negative.*found -1"),
    "broken Poisson": (NaiveBayes("poisson"), at(0.5), r"0, 1, 2, …; found"),
    "negative times": (NaiveBayes("exponential"), at(-1.0), r"Negative values.*Laplace"),
    "no bits": (NaiveBayes("bernoulli"), at(2.0), r"0 or 1; found 2.*multinomial"),
    "missing multinomial": (NaiveBayes("multinomial"), at(np.nan), r"found NaN.*Fill it"),
    "missing complement": (NaiveBayes("complement"), at(np.nan), r"found NaN.*Fill it"),
    "missing mixture": (MixtureModel(2, "multinomial"), at(np.nan), r"found NaN.*Fill it"),
    "missing, shrunk": (
        DiscriminantAnalysis(shrinkage="auto"),
        at(np.nan),
        r"missing cells \(NaN\), which shrinkage='auto' cannot use. Give shrinkage a number",
    ),
    "sparse Gaussian": (NaiveBayes("gaussian"), sparse.csr_array(X), r"dense.*toarray"),
    "sparse Laplace": (NaiveBayes("laplace"), sparse.csr_array(X), r"dense.*toarray"),
    "sparse categories": (NaiveBayes("categorical"), sparse.csr_array(X), r"sparse.*toarray"),
    "sparse discriminant": (DiscriminantAnalysis(), sparse.csr_array(X), r"(?i)sparse.*toarray"),
    "sparse mixture": (GaussianMixture(), sparse.csr_array(X), r"(?i)sparse.*toarray"),
    "sparse bins": (Discretizer(), sparse.csr_array(X), r"sparse.*toarray"),
    "more clusters than rows": (GaussianMixture(13), X, r"n_components=13.*only 12 distinct rows"),
    "more than distinct": (
        MixtureModel(3, "poisson"),
        np.repeat([[1.0], [2.0]], 3, axis=0),
        r"n_components=3.*only 2 distinct rows",
    ),
    "complement mixture": (MixtureModel(2, "complement"), np.floor(X), r"not a density"),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_an_event_model_cannot_have(name):
    model, data, message = VALUES[name]
    y = Y[: data.shape[0]]
    if name == "no bits":
        data = (data > 1).astype(float) * np.minimum(data, 2.0)
    with pytest.raises((InvalidInput, TypeError), match=rf"(?s){message}"):
        model.fit(data, y)


@pytest.mark.parametrize(
    ("event", "row", "message"),
    [
        ("multinomial", [np.nan, 1.0], r"found NaN"),
        ("multinomial", [-3.0, 1.0], r"found -3"),
        ("bernoulli", [2.0, 0.0], r"found 2"),
        ("gaussian", [np.inf, 0.0], r"infinity"),
    ],
)
def test_values_are_checked_at_prediction_too(event, row, message):
    model = NaiveBayes(event).fit([[1, 0], [0, 1]], [0, 1])
    with pytest.raises(InvalidInput, match=message):
        model.predict([row])


NAMES = {
    "event": (NaiveBayes("gausian"), r"no event model 'gausian'.*Did you mean 'gaussian'"),
    "covariance": (DiscriminantAnalysis("tide"), r"no covariance 'tide'.*'tied'"),
    "mixture covariance": (GaussianMixture(2, "ful"), r"no covariance 'ful'.*'full'"),
    "prior": (NaiveBayes(prior="unifrom"), r"no prior 'unifrom'.*'uniform'"),
    "bins": (NaiveBayes(discretize="quantle"), r"no strategy 'quantle'.*'quantile'"),
    "strategy": (Discretizer("quantle"), r"no strategy 'quantle'.*'quantile'"),
    "executor": (NaiveBayes(executor="thread"), r"no executor 'thread'.*'threads'"),
    "mixture executor": (MixtureModel(executor="seral"), r"no executor 'seral'.*'serial'"),
    "column": (NaiveBayes({"siez": "poisson"}), r"no column 'siez'.*Did you mean 'size'"),
}


@pytest.mark.parametrize("name", NAMES)
def test_misspelt_names_are_refused_with_the_nearest(name):
    model, message = NAMES[name]
    with pytest.raises(UnknownName, match=message):
        model.fit(pd.DataFrame(X, columns=["size", "age"]), Y)


def test_a_smoothing_that_is_no_number_is_refused_with_the_choices():
    with pytest.raises(InvalidInput, match=r"'aut'; expected a number.* a Dirichlet or 'auto'"):
        NaiveBayes(smoothing="aut").fit(X, Y)


def test_labels_given_to_score_are_checked():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(InvalidInput, match=r"X has 12 rows and y has 2"):
        model.log_likelihoods(X, [0, 1])
    with pytest.raises(InvalidInput, match=r"label 7 in y does not exist.*known classes are 0, 1"):
        model.log_likelihood(X, [*Y[:-1], 7])
