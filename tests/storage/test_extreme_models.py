"""A model that ``fit`` makes can be loaded, however large or small its columns are."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import likely
from likely.storage.model_file import load, save

rng = np.random.default_rng(3)
Y = np.arange(60) % 2
X = np.stack([rng.normal(size=60) + Y, rng.normal(size=60)], 1)
SCALES = [1e-120, 1e-60, 1e60, 1e120]
MODELS = [
    likely.NaiveBayes(),
    likely.NaiveBayes(event="laplace"),
    likely.NaiveBayes(calibrate="temperature"),
    likely.DiscriminantAnalysis(),
    likely.DiscriminantAnalysis(covariance="full"),
    likely.DiscriminantAnalysis(covariance="diagonal"),
    likely.GaussianMixture(2, random_state=0),
    likely.MixtureModel(2, random_state=0),
    likely.LogisticRegression(),
    likely.LogisticRegression(l1=0.5),
    likely.SoftmaxRegression(),
    likely.OrdinalRegression(),
    likely.LinearRegression(),
    likely.LinearRegression(l2=1.0),
    likely.GLM("poisson"),
    likely.Discretizer(),
    likely.BasisFunctions(),
    likely.Prepared(likely.LogisticRegression()),
]


NETWORKS = [
    likely.NeuralNetworkClassifier(max_epochs=3, random_state=0),
    likely.NeuralNetworkRegressor(max_epochs=3, random_state=0),
]
CASES = [(model, scale) for model in MODELS for scale in SCALES]
CASES += [(model, scale) for model in NETWORKS for scale in (1e-120, 1e15)]  # squared in float32


@pytest.mark.parametrize(("model", "scale"), CASES, ids=lambda each: str(each).replace(" ", ""))
def test_a_fitted_model_loads(model, scale, tmp_path):
    path = tmp_path / "model.likely"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        save(clone(model).fit(scale * X, Y), path)
        loaded = load(path)
    assert type(loaded) is type(model)
