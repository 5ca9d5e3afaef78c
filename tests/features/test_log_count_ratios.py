"""Log-count ratios: by hand, of two classes and more, sparse and dense, and what they are for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.pipeline import make_pipeline

import likely
from likely import LogCountRatios, LogisticRegression
from likely.errors import InvalidInput


def documents(seed, n, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    phi = np.random.default_rng(3).dirichlet(np.full(400, 0.2), n_classes)
    phi = 0.2 * phi + 0.8 * np.random.default_rng(4).dirichlet(np.full(400, 0.3))
    return (np.stack([rng.multinomial(20, phi[k]) for k in y]) > 0).astype(float), y


def test_the_ratio_of_two_classes_is_that_of_wang_and_manning():
    X, y = documents(0, 60)
    p, q = (1 + X[y == k].sum(axis=0) for k in (1, 0))
    model = LogCountRatios().fit(X, y)
    assert_allclose(model.ratios_, np.log((p / p.sum()) / (q / q.sum())), rtol=1e-12)
    assert_allclose(model.transform(X), X * model.ratios_)
    given = sparse.csr_array(X)
    out = LogCountRatios().fit(given, y).transform(given)
    assert sparse.issparse(out)
    assert_allclose(out.toarray(), X * model.ratios_)
    assert_allclose(given.toarray(), X)  # not changed


def test_of_more_classes_it_is_the_root_mean_square():
    X, y = documents(0, 90, 3)
    square = np.zeros(X.shape[1])
    for k in range(3):
        p, q = 2 + X[y == k].sum(axis=0), 2 + X[y != k].sum(axis=0)
        square += np.mean(y == k) * np.log((p / p.sum()) / (q / q.sum())) ** 2
    assert_allclose(LogCountRatios(smoothing=2.0).fit(X, y).ratios_, np.sqrt(square), rtol=1e-12)


def test_a_weight_is_a_number_of_rows():
    X, y = documents(0, 60)
    w = np.arange(60) % 3
    weighted = LogCountRatios().fit(X, y, sample_weight=w)
    repeated = LogCountRatios().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(weighted.ratios_, repeated.ratios_, rtol=1e-12)


def test_logistic_regression_learns_more_from_few_documents():
    X, y = documents(1, 80)
    new, truth = documents(2, 2000)
    plain = LogisticRegression().fit(X, y).score(new, truth)
    model = make_pipeline(LogCountRatios(), LogisticRegression())
    assert model.fit(X, y).score(new, truth) > plain + 0.01


def test_it_is_saved(tmp_path):
    X, y = documents(0, 60)
    model = LogCountRatios().fit(X, y)
    likely.save(model, tmp_path / "m")
    assert_allclose(likely.load(tmp_path / "m").transform(X), model.transform(X))


def test_bad_input_is_refused():
    X, y = documents(0, 20)
    with pytest.raises(InvalidInput, match=r"smoothing is 0; above 0 was expected.*Use 1.0"):
        LogCountRatios(0.0).fit(X, y)
    with pytest.raises(InvalidInput, match=r"y has one class, .*; a ratio needs two or more"):
        LogCountRatios().fit(X, np.zeros(20))
    with pytest.raises(InvalidInput, match="counts must be 0 or more"):
        LogCountRatios().fit(-X, y)
