"""Worked examples of links and ordered classes.

Each test is named after its entry of ``worked_examples.json``, whose numbers are repeated here.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.likelihoods import Ordinal, survival_differences, survival_of_classes
from likely.links import LINKS

A = [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]
POSITIVE = [0.25, 0.5, 1.0, 2.0, 4.0]
EXP = [
    0.1353352832366127,
    0.36787944117144233,
    0.6065306597126334,
    1.6487212707001282,
    2.718281828459045,
    7.38905609893065,
]
LOGLOG = [
    0.0006179789893310934,
    0.06598803584531254,
    0.1922956455479649,
    0.545239211892605,
    0.6922006275553464,
    0.8734230184931167,
]
LOGLOG_SLOPE = [
    0.004566281420127914,
    0.1793740787340172,
    0.31704192107794216,
    0.3307042988904181,
    0.2546463800435825,
    0.11820495159314313,
]
LOGIT = [
    0.11920292202211755,
    0.2689414213699951,
    0.3775406687981454,
    0.6224593312018546,
    0.7310585786300049,
    0.8807970779778823,
]
LOGIT_SLOPE = [
    0.1049935854035065,
    0.19661193324148185,
    0.2350037122015945,
    0.2350037122015945,
    0.19661193324148185,
    0.10499358540350662,
]
PROBIT = [
    0.022750131948179195,
    0.15865525393145707,
    0.3085375387259869,
    0.6914624612740131,
    0.8413447460685429,
    0.9772498680518208,
]
PROBIT_SLOPE = [
    0.05399096651318806,
    0.24197072451914337,
    0.35206532676429947,
    0.35206532676429947,
    0.24197072451914337,
    0.05399096651318806,
]


@pytest.mark.parametrize(
    ("name", "a", "mean", "slope"),
    [
        ("identity", A, A, [1.0] * 6),
        ("inverse", POSITIVE, [4.0, 2.0, 1.0, 0.5, 0.25], [-16.0, -4.0, -1.0, -0.25, -0.0625]),
        ("log", A, EXP, EXP),
        ("loglog", A, LOGLOG, LOGLOG_SLOPE),
        ("logit", A, LOGIT, LOGIT_SLOPE),
        ("probit", A, PROBIT, PROBIT_SLOPE),
    ],
)
def test_glm_link_table(name, a, mean, slope):
    link, a = LINKS[name], np.array(a)
    assert_allclose(link.inverse(a), mean, rtol=1e-12, atol=1e-12)
    assert_allclose(link.slope(a), slope, rtol=1e-12, atol=1e-12)
    assert_allclose(link.link(np.array(mean)), a, rtol=1e-12, atol=1e-12)


def test_ordinal_survival_differences():
    """b = (2, 0, −1), w = (0.8, −0.5), x = (1, 2): η = −0.2."""
    thresholds = np.array([2.0, 0.0, -1.0])
    eta = np.array([np.dot([0.8, -0.5], [1.0, 2.0])])
    survival = [[0.8581489350995123, 0.45016600268752216, 0.23147521650098238]]
    classes = [[0.1418510649004877, 0.40798293241199013, 0.21869078618653978, 0.23147521650098238]]
    model = Ordinal(4)
    assert_allclose(model.survival(eta, thresholds), survival, rtol=1e-12, atol=1e-12)
    assert_allclose(model.probability(eta, thresholds), classes, rtol=1e-12, atol=1e-12)
    assert_allclose(
        survival_differences(np.array(survival)).difference, classes, rtol=1e-12, atol=1e-12
    )
    assert_allclose(survival_of_classes(np.array(classes)), survival, rtol=1e-12, atol=1e-12)
    assert_allclose(model.probability(eta, thresholds).sum(), 1.0, rtol=1e-12, atol=1e-12)
