"""Additive models beside mgcv, on ten of its own simulated examples.

mgcv's default is a thin plate spline with ten functions and a free line; here a curve has up to ten
or twenty cubic splines on a scale that is half rank, and lines share a weak ridge.  Both choose the
smoothness by REML, so that curves differ by less than their standard errors: tolerances are shares
of these, and the curve of the steep peak of x2 has the largest.  Four differences are by design.

* Counts are quasi-Poisson here, with a dispersion; mgcv's are 1, or have an α, so that scales are
  not compared there.
* A strength of classes is at least 0.03 (``CLASS_FLOOR``), so that the steepest curves are a
  little flatter than mgcv's.
* mgcv counts a dispersion in AIC, which is not counted here; what a column adds to AIC is compared.
* The deviance that mgcv explains of ordered classes is on another scale.
"""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely as lk
from tests.references.mgcv import AT, EXAMPLES, FROZEN

THEIRS = json.loads(FROZEN.read_text())["examples"]
MODELS = {
    "gaussian": lk.AdditiveModel(),
    "correlated": lk.AdditiveModel(),
    "poisson": lk.AdditiveModel("poisson"),
    "gamma": lk.AdditiveModel("gamma"),
    "binary": lk.AdditiveClassifier(),
    "factor": lk.AdditiveModel(),
    "cyclic": lk.AdditiveModel(terms={"x0": lk.Smooth(cyclic=1)}),
    "tweedie": lk.AdditiveModel("tweedie"),
    "negative-binomial": lk.AdditiveModel("negative-binomial"),
    "ordered": lk.AdditiveClassifier("ordinal"),
}
SCALED = ("gaussian", "correlated", "gamma", "factor", "cyclic", "tweedie")


def at_points(model, name):
    effect = model.effect(name, 401)
    return (np.interp(AT, effect.values[0], each) for each in (effect.effect, effect.se))


@pytest.mark.parametrize("name", EXAMPLES)
def test_curves_are_those_of_mgcv_within_their_errors(name):
    ours, theirs = EXAMPLES[name], THEIRS[name]
    assert theirs["call"] == ours.call  # else the numbers are of another fit
    model = MODELS[name].fit(ours.make(), "y")
    if name in SCALED:
        assert_allclose(model.dispersion_, theirs["scale"], rtol=0.04)
    if name != "ordered":
        assert_allclose(model.deviance_explained_, theirs["deviance_explained"], atol=0.01)
    for x in ours.smooths:
        test, edf = model.term_test(x), theirs["edf"][x]
        fit, se = at_points(model, x)
        off = np.sqrt(np.mean(np.square(fit - theirs["fit"][x]))) / np.mean(theirs["se"][x])
        assert off < (1.2 if x == "x2" else 0.7), x
        assert (test.p < 0.05) == (theirs["p"][x] < 0.05), x
        assert_allclose(test.edf, edf, atol=0.3 + 0.2 * (edf > 1.5) + 0.15 * edf, err_msg=x)
        if edf > 1.5:  # a line has a ridge here
            # means of counts are those of a quasi-Poisson fit, which are known less well
            most = 1.3 if name == "negative-binomial" else 1.15
            assert 0.65 < se.mean() / np.mean(theirs["se"][x]) < most, x


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_a_column_adds_to_the_aic_is_what_it_adds_to_that_of_mgcv(name):
    frame = EXAMPLES[name].make()
    whole = MODELS[name].fit(frame, "y").aic
    for x, theirs in THEIRS[name]["aic"].items():
        ours = whole - MODELS[name].fit(frame.drop(columns=x), "y").aic
        assert_allclose(ours, theirs, atol=2.5, rtol=0.03, err_msg=x)
