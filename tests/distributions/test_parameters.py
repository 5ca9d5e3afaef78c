"""Members made by hand refuse parameters that are none; what was learned is trusted."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.distributions import (
    EXPONENTIAL_FAMILIES,
    Bernoulli,
    Categorical,
    Complement,
    DiagonalGaussian,
    Exponential,
    FullGaussian,
    JointTable,
    Laplace,
    Multinomial,
    Poisson,
)
from likely.distributions.exponential_family import ExponentialMember
from likely.errors import InvalidInput

ONE = np.ones((1, 2))
EVEN = np.log([[0.5, 0.5]])
WRONG = {
    "p above 1": (lambda: Bernoulli([[0.5, 1.2]]), r"probability.*0 and 1; found 1.2 at \[0, 1\]"),
    "p missing": (lambda: Bernoulli([[np.nan]]), "between 0 and 1; found nan"),
    "p in one dimension": (lambda: Bernoulli([0.5]), r"shape \(1,\); expected \(n_components, n_f"),
    "p in words": (lambda: Bernoulli([["a"]]), "array of numbers; found list"),
    "logit missing": (lambda: Bernoulli.from_logits([[np.nan]]), "logits.*found nan"),
    "another logit": (lambda: Bernoulli([[0.5]], [[1.0]]), "those of the probability; found 1"),
    "negative rate": (lambda: Poisson([[-1.0]]), "rate of Poisson.*found -1"),
    "infinite rate": (lambda: Poisson([[np.inf]]), "finite.*found inf"),
    "mean of 0": (lambda: Exponential([[0.0]]), "above 0; found 0"),
    "scale of 0": (  # as for the variance below
        lambda: Laplace(np.ones((2, 1)), np.array([[0.0], [1.0]])),
        "scale of Laplace.*above 0; found 0",
    ),
    "infinite median": (lambda: Laplace(np.inf * ONE, ONE), "median of Laplace.*finite"),
    "two shapes": (lambda: Laplace(ONE, ONE[:, :1]), r"\(1, 2\) and the scale \(1, 1\)"),
    "variance of 0": (  # in one component; in all of them the column is left out
        lambda: DiagonalGaussian(np.ones((2, 1)), np.array([[0.0], [1.0]])),
        "variance.*above 0; found 0",
    ),
    "negative variance": (lambda: DiagonalGaussian(ONE, -ONE), "found -1"),
    "infinite mean": (lambda: DiagonalGaussian(np.inf * ONE, ONE), "mean.*finite"),
    "a mean missing": (lambda: FullGaussian(np.nan * ONE, np.eye(2)[None]), "found nan"),
    "covariance of 3": (lambda: FullGaussian(ONE, np.eye(3)[None]), r"expected \(1, 2, 2\)"),
    "covariance missing": (lambda: FullGaussian(ONE, np.full((1, 2, 2), np.nan)), "symmetric"),
    "die beyond 1": (lambda: Multinomial(EVEN + 0.1), "sum to 1; these sum to 1.1"),
    "categories beyond 1": (lambda: Categorical(EVEN + 0.1, (2,)), "sum to 1; these sum to 1.1"),
    "a second table": (
        lambda: Categorical(np.log([[0.5, 0.5, 0.3, 0.3]]), (2, 2)),
        "these sum to 0.6",
    ),
    "other sizes": (lambda: Categorical(EVEN, (3,)), "2 columns.*sum to 3"),
    "other cells": (lambda: JointTable(Categorical(EVEN, (2,)), (2, 2)), "expected one of 4"),
    "infinite weight": (lambda: Complement([[np.inf]]), "weight of Complement"),
    "natural of no density": (
        lambda: ExponentialMember(EXPONENTIAL_FAMILIES["exponential"], np.ones((1, 1, 1))),
        r"A\(ω\) is finite; found 1",
    ),
    "natural of other terms": (
        lambda: ExponentialMember(EXPONENTIAL_FAMILIES["gaussian"], np.ones((1, 1, 1))),
        r"expected \(n_components, n_features, 2\)",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_parameter_is_refused(name):
    make, message = WRONG[name]
    with pytest.raises(InvalidInput, match=message):
        make()


def test_lists_are_arrays_and_edges_are_allowed():
    assert Bernoulli([[0, 1]]).probability.dtype == float
    assert_array_equal(Poisson([[0.0]]).log_prob(np.zeros((1, 1))), [[0.0]])
    assert Categorical([[0.0, -np.inf]], (2,)).n_parameters == 1
