"""Firth's penalty on the endometrial cancer study: what logistf and Heinze & Schemper print."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import likely
from likely.errors import InvalidInput
from tests.references.endometrial import EH, HG, NV, PI

FRAME = pd.DataFrame({"NV": NV, "PI": PI, "EH": EH})


def firth(columns, scale=1.0):
    X = FRAME[columns].copy()
    X[columns[0]] *= scale
    return likely.LogisticRegression(firth=True, tol=1e-14).fit(X, HG)


def test_the_estimates_are_those_of_heinze_and_schemper():
    model = firth(["NV", "PI", "EH"])
    assert_allclose(model.coef_[0], [2.929, -0.035, -2.604], atol=5e-4)
    assert_allclose(model.intercept_, [3.775], atol=5e-4)
    assert_allclose(model.inference_.standard_errors, [1.551, 0.040, 0.776, 1.489], atol=5e-3)


def test_neovascularisation_is_tested_by_the_penalised_likelihood():
    """p = 0.0091 by the profile of the penalised likelihood; the plain one would give 0.0039."""
    test = likely.likelihood_ratio_test(firth(["PI", "EH"]), firth(["NV", "PI", "EH"]))
    assert_allclose(test.p, 0.0091, atol=5e-5)
    assert (test.distribution, test.df) == ("chi2", 1)


def test_the_test_does_not_depend_on_the_units_of_the_column():
    one = likely.likelihood_ratio_test(firth(["PI", "EH"]), firth(["NV", "PI", "EH"]))
    other = likely.likelihood_ratio_test(firth(["PI", "EH"]), firth(["NV", "PI", "EH"], 1e3))
    assert_allclose(one.statistic, other.statistic, rtol=1e-6)


def test_what_cannot_be_tested_is_refused():
    large = firth(["NV", "PI", "EH"])
    with pytest.raises(InvalidInput, match=r"differ by 2 coefficients.*one by one"):
        likely.likelihood_ratio_test(firth(["EH"]), large)
    plain = likely.LogisticRegression(l2=0.0).fit(FRAME[["PI", "EH"]], HG)
    with pytest.raises(InvalidInput, match=r"firth=True and the other was not"):
        likely.likelihood_ratio_test(plain, large)


def test_the_summary_says_what_its_likelihoods_are(tmp_path):
    model = firth(["NV", "PI", "EH"])
    assert "AIC and BIC are of the likelihood without it" in " ".join(model.summary().notes)
    likely.save(model, tmp_path / "firth.likely")
    again = likely.load(tmp_path / "firth.likely")
    assert np.array_equal(again.inference_.firth_ratios, model.inference_.firth_ratios)


def test_columns_without_names_are_not_guessed():
    """X and X[:, [1, 2]] as arrays: x0 and x1 of the smaller model are other columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.logistic(size=60) > 0).astype(int)
    large, small = (likely.LogisticRegression(l2=0.0, firth=True).fit(Z, y) for Z in (X, X[:, 1:]))
    with pytest.raises(InvalidInput, match="which one the smaller model lacks"):
        likely.likelihood_ratio_test(small, large)
