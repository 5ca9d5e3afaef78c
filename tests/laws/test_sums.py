"""Statistics add: S(A ∪ B) = S(A) + S(B), for every family and any cut of the rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.distributions import Labels
from likely.numerics.additive import pairwise_total
from tests.event_models import MODELS, N_COMPONENTS, assert_same, data, rows

N = 40
every_family = pytest.mark.parametrize("name", MODELS)
seeds = st.integers(0, 999)
few = settings(max_examples=8)


@every_family
@few
@given(seed=seeds, cuts=st.lists(st.integers(0, N), max_size=4), gaps=st.booleans())
def test_statistics_of_blocks_add_in_any_cut(name, seed, cuts, gaps):
    X, r = data(name, seed, N, gaps=gaps)
    family, edges = MODELS[name].family, [0, *sorted(cuts), N]
    blocks = [slice(a, b) for a, b in pairwise(edges)]
    parts = pairwise_total(family.statistics(rows(X, block), r[block]) for block in blocks)
    assert_same(parts, family.statistics(X, r))


@every_family
@few
@given(seed=seeds, row=st.integers(0, N - 1), gaps=st.booleans())
def test_weight_2_equals_the_row_twice(name, seed, row, gaps):
    X, r = data(name, seed, N, gaps=gaps)
    family = MODELS[name].family
    twice = np.append(np.arange(N), row)
    weight = np.where(np.arange(N) == row, 2.0, 1.0)
    assert_same(
        family.statistics(X, weight[:, None] * r), family.statistics(rows(X, twice), r[twice])
    )


@every_family
@few
@given(seed=seeds, row=st.integers(0, N - 1), gaps=st.booleans())
def test_weight_0_equals_the_row_absent(name, seed, row, gaps):
    X, r = data(name, seed, N, gaps=gaps)
    family = MODELS[name].family
    others = np.delete(np.arange(N), row)
    weight = np.where(np.arange(N) == row, 0.0, 1.0)
    assert_same(
        family.statistics(X, weight[:, None] * r), family.statistics(rows(X, others), r[others])
    )


@every_family
@few
@given(seed=seeds, gaps=st.booleans())
def test_the_order_of_rows_does_not_matter(name, seed, gaps):
    X, r = data(name, seed, N, gaps=gaps)
    family, order = MODELS[name].family, np.random.default_rng(seed).permutation(N)
    assert_same(family.statistics(rows(X, order), r[order]), family.statistics(X, r))


@every_family
@few
@given(seed=seeds, weighted=st.booleans(), gaps=st.booleans())
def test_labels_equal_one_hot_rows(name, seed, weighted, gaps):
    X, _ = data(name, seed, N, gaps=gaps)
    family, rng = MODELS[name].family, np.random.default_rng(seed)
    weight = rng.uniform(0, 3, N) if weighted else None
    labels = Labels(rng.integers(-1, N_COMPONENTS, N), N_COMPONENTS, weight)
    assert_same(family.statistics(X, labels), family.statistics(X, labels.dense()))


@every_family
@few
@given(seed=seeds, factor=st.floats(0.01, 100))
def test_scaled_statistics_are_those_of_scaled_responsibilities(name, seed, factor):
    X, r = data(name, seed, N)
    family = MODELS[name].family
    assert_same(family.statistics(X, r).scaled(factor), family.statistics(X, factor * r))


@every_family
def test_no_pseudo_statistics_change_nothing(name):
    X, r = data(name, 0, N)
    family = MODELS[name].family
    statistics = family.statistics(X, r)
    n_features = family.from_statistics(statistics).n_features
    assert_same(statistics + family.pseudo_statistics(0.0, (N_COMPONENTS, n_features)), statistics)
