"""Complement naive Bayes: agreement with scikit-learn, and what it is not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.naive_bayes import ComplementNB

from likely.distributions.complement import Complement
from likely.distributions.responsibility import Labels
from likely.errors import InvalidInput

RNG = np.random.default_rng(0)
X = RNG.poisson([3.0, 0.2, 1.0, 0.7], (60, 4)).astype(float)
LABELS = Labels(RNG.integers(0, 3, 60), 3)


def fit(alpha, X=X):
    prior = Complement.pseudo_statistics(alpha, (3, 4))
    return Complement.from_statistics(Complement.statistics(X, LABELS) + prior)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_the_weights_are_those_of_scikit_learn(alpha, layout):
    theirs = ComplementNB(alpha=alpha).fit(X, LABELS.codes)
    ours = fit(alpha, layout(X))
    assert_allclose(ours.weight, theirs.feature_log_prob_, rtol=1e-12)
    assert_allclose(ours.log_score(layout(X)), theirs.predict_joint_log_proba(X), rtol=1e-12)


def test_an_unsmoothed_word_that_no_other_class_has_keeps_scores_finite():
    counts = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    member = Complement.from_statistics(Complement.statistics(counts, Labels(np.array([0, 1]), 2)))
    assert np.isfinite(member.log_score(np.array([[1.0, 1.0, 1.0]]))).all()
    assert member.weight[0, 0] > 20  # only class 0 has the word: it speaks for it


@pytest.mark.parametrize("ask", ["log_prob", "sample", "log_likelihood_of"])
def test_it_is_no_density(ask):
    member = fit(1.0)
    arguments = {
        "log_prob": (X,),
        "sample": (np.array([0]), RNG),
        "log_likelihood_of": (Complement.statistics(X, LABELS),),
    }
    with pytest.raises(InvalidInput, match=r"not a density.*multinomial"):
        getattr(member, ask)(*arguments[ask])


def test_the_linear_form_is_the_score():
    form = fit(1.0).linear_form()
    assert_allclose(X @ form.coef.T + form.intercept, fit(1.0).log_score(X))


def test_negative_counts_are_refused():
    with pytest.raises(InvalidInput, match="Negative values"):
        Complement.check(np.array([[-1.0]]))
