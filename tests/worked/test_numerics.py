"""Worked examples of the numerics: NUM-3, NUM-5, NUM-7, NUM-9 and NB-9.

Each test is named after its entry of ``worked_examples.json``.  The numbers are repeated here, so
that the tests run without that file; where it is present, it must say the same.
"""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.features.discretize import Discretizer
from likely.information import cross_entropy
from likely.special import (
    from_one_hot,
    log_add_exp,
    log_multinomial_coefficient,
    multinomial_coefficient,
    one_hot,
    softmax,
)

EXAMPLES = Path(__file__).parents[3] / "shared" / "spec" / "worked_examples.json"

PAIRS = [(1000.0, 1000.0), (-1000.0, -1001.0), (0.0, -800.0), (3.0, 5.0), (-745.0, -745.0)]
LOG_SUMS = [1000.6931471805599, -999.6867383124818, 0.0, 5.126928011042972, -744.3068528194401]
EDGES = [1, 10, 50, 100]
PROBE = [-5, 0, 0.999999, 1, 9.999, 10, 49.999, 50, 99.999, 100, 1e6]
CODES = [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4]

LITERALS = {
    ("log_add_exp", "inputs", "pairs"): [list(pair) for pair in PAIRS],
    ("log_add_exp", "expected", "values"): LOG_SUMS,
    ("one_hot_and_prediction", "inputs", "predicted"): [0.2, 0.1, 0.6, 0.1],
    ("one_hot_and_prediction", "expected", "cross_entropy"): 0.5108256237659907,
    ("three_class_one_hot", "expected", "vectors"): [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    ("multinomial_coefficient", "inputs", "x"): [2, 1, 0, 3],
    ("multinomial_coefficient", "expected", "B"): 60,
    ("multinomial_coefficient", "expected", "pmf"): 0.007680000000000004,
    ("discretization_bins", "inputs", "edges"): EDGES,
    ("discretization_bins", "inputs", "probe"): PROBE,
    ("discretization_bins", "expected", "codes"): CODES,
}


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the specification is not beside the checkout")
@pytest.mark.parametrize("key", LITERALS, ids="/".join)
def test_the_literals_here_are_those_of_the_specification(key):
    examples = {e["id"]: e for e in json.loads(EXAMPLES.read_text())["examples"]}
    entry, part, field = key
    assert examples[entry][part][field] == LITERALS[key]


def test_log_add_exp():
    a, b = np.array(PAIRS).T
    assert_allclose(log_add_exp(a, b), LOG_SUMS, rtol=1e-14)
    assert_array_equal(log_add_exp(a, b), log_add_exp(b, a))


def test_one_hot_and_prediction():
    """The third of four classes is hot; −ln 0.6 is its price, s − t the gradient."""
    target, predicted = np.array([0, 0, 1, 0]), np.array([0.2, 0.1, 0.6, 0.1])
    assert_array_equal(one_hot([3], classes=[1, 2, 3, 4])[0], target)
    assert from_one_hot(target, classes=[1, 2, 3, 4]) == 3
    assert from_one_hot(predicted, classes=[1, 2, 3, 4]) == 3
    assert_allclose(cross_entropy(target, predicted), 0.5108256237659907, rtol=1e-12, atol=1e-12)
    gradient = softmax(np.log(predicted)) - target
    assert_allclose(gradient, [0.2, 0.1, -0.4, 0.1], rtol=1e-12, atol=1e-12)


def test_three_class_one_hot():
    assert_array_equal(one_hot([1, 2, 3]), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_multinomial_coefficient():
    x, phi = np.array([2, 1, 0, 3]), np.array([0.1, 0.2, 0.3, 0.4])
    assert multinomial_coefficient(x) == 60
    assert_allclose(log_multinomial_coefficient(x), 4.0943445622221, rtol=1e-12, atol=1e-12)
    assert_allclose(60 * np.prod(phi**x), 0.007680000000000004, rtol=1e-12, atol=1e-12)
    counts = np.array([c for c in product(range(7), repeat=4) if sum(c) == 6])
    log_pmf = log_multinomial_coefficient(counts) + counts @ np.log(phi)
    assert_allclose(np.exp(log_pmf).sum(), 1.0, rtol=1e-12, atol=1e-12)


def test_discretization_bins():
    bins = Discretizer(edges=EDGES).fit(np.array(PROBE)[:, None])
    assert_array_equal(bins.transform(np.array(PROBE)[:, None])[:, 0], CODES)
    shown = " ".join(bins.table().intervals(0))
    assert shown == "(-inf,1) [1,10) [10,50) [50,100) [100,inf)"
