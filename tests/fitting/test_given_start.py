"""Searches that start from naive Bayes: the same optimum, in fewer steps where it is the truth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from likely import LogisticRegression, NaiveBayes, SoftmaxRegression
from likely.errors import InvalidInput


def counts(n_classes, n=4000, n_words=40):
    """Words that are independent given the class."""
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(n_words, 3.0), n_classes)
    y = rng.integers(0, n_classes, n)
    return sparse.csr_array(np.stack([rng.multinomial(20, phi[k]) for k in y]).astype(float)), y


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize(("model", "n_classes"), [(LogisticRegression, 2), (SoftmaxRegression, 4)])
def test_the_optimum_is_the_same_and_the_steps_are_fewer(model, n_classes, solver):
    X, y = counts(n_classes)
    start = NaiveBayes("multinomial").fit(X, y).logistic_form()
    options = {"solver": solver, "tol": 1e-9, "standard_errors": None, "l2": 0.01}
    cold, warm = model(**options).fit(X, y), model(start=start, **options).fit(X, y)
    assert_allclose(warm.predict_log_proba(X), cold.predict_log_proba(X), atol=1e-2)
    assert_allclose(warm.solution_.trace[-1], cold.solution_.trace[-1], rtol=1e-7)
    assert warm.solution_.trace[0] < cold.solution_.trace[0]
    assert warm.solution_.n_iter < cold.solution_.n_iter


def test_weights_of_two_classes_are_those_of_one_predictor():
    X, y = counts(2)
    form = NaiveBayes("multinomial").fit(X, y).logistic_form()
    one = {"coef": form.coef[1] - form.coef[0], "intercept": form.intercept[1] - form.intercept[0]}
    a, b = (LogisticRegression(start=s, solver="newton").fit(X, y) for s in (form, one))
    assert_allclose(a.solution_.trace, b.solution_.trace, rtol=1e-12)


@pytest.mark.parametrize("start", [{"coef": [1.0]}, "naive-bayes", (1, 2)])
def test_a_start_that_is_none_is_refused(start):
    X, y = counts(2, n=50)
    with pytest.raises(InvalidInput, match=r"a mapping with coef and intercept was expected.*form"):
        LogisticRegression(start=start).fit(X, y)
    with pytest.raises(InvalidInput, match=r"start holds 3 weights and 1 intercepts; .*\(1, 40\)"):
        LogisticRegression(start={"coef": [1, 2, 3], "intercept": [0]}).fit(X, y)
