"""The window of a picture of intervals."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likely.reports.sections.comparison import _window


def entries(values, width=0.02):
    return [
        {"model": name, "value": value, "interval": [value - width, value + width]}
        for name, value in values.items()
    ]


def test_one_bad_model_does_not_squash_the_picture():
    window = _window(entries({"a": 0.50, "b": 0.55, "constant": 0.70, "bad": 23.0}), lower=True)
    assert window.left <= 0.48
    assert 0.70 < window.right < 1.0
    assert not window.holds(23.0)
    mirrored = _window(entries({"a": 0.9, "constant": 0.5, "bad": -40.0}), lower=False)
    assert 0.0 < mirrored.left < 0.5
    assert mirrored.right >= 0.92
    wider = mirrored.around([0.9, 0.5, -40.0])
    assert wider.right == mirrored.right
    assert wider.left < mirrored.left  # an arrow there touches no other mark


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=6), st.booleans())
def test_the_best_and_the_constant_are_always_inside(values, lower):
    names = ["constant", *(f"m{k}" for k in range(len(values) - 1))]
    window = _window(entries(dict(zip(names, values, strict=True))), lower=lower)
    best = min(values) if lower else max(values)
    assert window.holds(best)
    assert window.holds(values[0])
    assert window.right > window.left
    assert np.isfinite([window.left, window.right]).all()
