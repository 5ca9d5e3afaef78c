"""Whether a plane separates: certificates that hold, and certificates that do not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.errors import InvalidInput
from likely.fitting import separation
from likely.fitting.separation import separability

XOR, LABEL = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


def test_xor_overlaps_and_its_hulls_cross_in_the_middle():
    found = separability(XOR, LABEL)
    assert found.kind == "overlapping"
    assert not found.separable
    assert found.finite_fit
    assert_allclose(found.weight, 0.5)
    assert_allclose(found.meeting_point, 0.5)
    assert found.coef is None
    assert found.verify(XOR, LABEL)


def test_the_certificate_prints():
    assert str(separability(XOR, LABEL)).splitlines() == [
        "The classes overlap: no plane separates them.",
        "Weighted means of the two classes coincide at (0.5, 0.5):",
        "  class 0: 0.5·row 0 + 0.5·row 3",
        "  class 1: 0.5·row 1 + 0.5·row 2",
    ]
    plane = str(separability([[0.0], [3.0]], ["no", "yes"]))
    assert "Plane: +1·x0 -1.5 = 0; yes where > 0." in plane
    assert "The nearest example is 1.5 away" in plane
    many = np.tile(XOR, (5, 1))
    assert "+ 4 more" in str(separability(many, np.tile(LABEL, 5)))


def test_touching_classes_get_both_certificates():
    """Albert & Anderson's quasi-complete separation: x = 1 has both labels."""
    X, y = [[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]
    found = separability(X, y)
    assert found.kind == "quasi-complete"
    assert not found.separable
    assert not found.finite_fit
    assert_allclose(
        [found.coef[0], found.intercept, found.margin], [1, -1, 0], rtol=1e-9, atol=1e-9
    )
    assert_allclose(found.weight, [0, 1, 1, 0], rtol=1e-9, atol=1e-9)
    assert found.verify(X, y)
    assert "touch" in str(found)


def test_a_category_with_one_class_alone_is_quasi_complete():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.normal(size=200), np.zeros(200)]), rng.random(200) < 0.5
    X[:4, 1], y[:4] = 1.0, True
    found = separability(X, y)
    assert found.kind == "quasi-complete"
    assert_allclose(np.abs(found.coef), [0, 1], atol=1e-7)
    assert found.verify(X, y)


@given(seed=st.integers(0, 999), d=st.integers(1, 4), shift=st.sampled_from([0.0, 1e4]))
def test_the_kind_is_right_and_the_certificate_holds(seed, d, shift):
    """A plane with a gap is found; labels flipped at random leave a proof that none exists."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, d)) * 10.0 ** rng.uniform(-3, 3, size=d)
    score = X @ (rng.choice([-1.0, 1.0], size=d) / X.std(axis=0))
    score = score - np.median(score)
    X, y = (X + shift)[np.abs(score) > 0.05], (score > 0)[np.abs(score) > 0.05]
    found = separability(X, y)
    assert found.kind == "complete"
    assert found.verify(X, y)
    assert_allclose(np.linalg.norm(found.coef), 1.0)
    distance = (X @ found.coef + found.intercept) * np.where(y, 1, -1)
    assert_allclose(distance.min(), found.margin)
    flipped = np.arange(len(y)) % 2 == 0
    found = separability(X, flipped)
    assert found.kind == "overlapping"
    assert found.verify(X, flipped)
    assert found.weight.min() > 0
    assert_allclose(found.weight[flipped] @ X[flipped], found.meeting_point)


def test_a_wrong_certificate_does_not_verify():
    overlap = separability(XOR, LABEL)
    assert not replace(overlap, weight=np.array([0.6, 0.5, 0.5, 0.4])).verify(XOR, LABEL)
    assert not replace(overlap, weight=np.array([1.0, 1.0, 0.0, 0.0])).verify(XOR, LABEL)
    assert not overlap.verify(XOR, [0, 1, 0, 1])
    assert not overlap.verify(XOR, ["a", "b", "b", "a"])
    assert not overlap.verify(XOR[:2], LABEL[:2])
    plane = separability(XOR, [0, 0, 0, 1])
    assert plane.verify(XOR, [0, 0, 0, 1])
    assert not replace(plane, intercept=plane.intercept - 1).verify(XOR, [0, 0, 0, 1])
    assert not plane.verify(XOR, LABEL)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_of_numbers_are_read(frame):
    table = frame({"a": XOR[:, 0], "b": XOR[:, 1].astype(int)})
    assert_allclose(separability(table, LABEL).weight, 0.5)


def test_equal_columns_and_constant_ones_do_no_harm():
    X = np.column_stack([XOR, XOR[:, 0], np.full(4, 7.0)])
    assert separability(X, LABEL).verify(X, LABEL)
    found = separability(X, [0, 0, 0, 1])
    assert found.separable
    assert found.verify(X, [0, 0, 0, 1])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (XOR, [0, 1, 2, 0], "3 classes; a plane separates 2.*one class against the others"),
        (XOR, [1, 1, 1, 1], "1 classes"),
        ([[np.nan], [1.0]], [0, 1], "1 cells that are not finite.*fill"),
        ([1.0, 2.0], [0, 1], "one row per example"),
        ([["x"], ["y"]], [0, 1], "X must hold numbers.*Encode"),
        (XOR, [0, 1], "X has 4 rows and y has 2"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_advice(X, y, message):
    with pytest.raises(InvalidInput, match=message):
        separability(X, y)


def test_columns_of_any_place_and_length_are_scaled_to_1():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1e-3, 1.0, 1e3] + [5.0, -20.0, 0.0]
    scaled = separation._Units.of(X).scaled(X)
    assert_allclose([scaled.min(axis=0), scaled.max(axis=0)], [[-1.0] * 3, [1.0] * 3], rtol=1e-9)
    assert_allclose(separation._Units.of(np.full((4, 1), 7.0)).scaled(np.full((4, 1), 7.0)), 0)
