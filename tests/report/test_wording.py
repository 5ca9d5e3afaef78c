import pytest

from likely.report.wording import (
    beside_each_other,
    interval,
    number,
    percent_level,
    plainly,
    settled,
    short_hash,
    with_interval,
)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.41234, "0.412"),
        (-2.5, "−2.500"),
        (1204.5, "1,204.5"),
        (3.1e-5, "3.1e−05"),
        (-6e-16, "0.000"),
        (float("inf"), "∞"),
        (float("nan"), "–"),
        (None, "–"),
        (1400, "1,400"),
        ("best", "best"),
        (True, "True"),
    ],
)
def test_numbers_read_well(value, said):
    assert number(value) == said


def test_an_interval_has_two_digits_of_its_half_width():
    assert with_interval(0.41234, 0.38888, 0.43612) == "0.412 (0.389–0.436)"
    assert with_interval(-2.19, -2.24, -2.15) == "−2.190 (−2.240 to −2.150)"
    assert with_interval(412.34, 300.1, 520.9) == "412.3 (300.1–520.9)"
    assert interval(0.1, None) == "0.100 to –"


def test_a_hash_is_cut_and_a_short_one_is_not():
    assert short_hash("ab" * 32) == "abababababababab…"
    assert short_hash("abc") == "abc"


def test_cells_are_written_as_a_person_would():
    assert plainly(55889.4) == "55,889"
    assert plainly(2019.0) == "2019"  # it may be a year
    assert plainly(0.123456) == "0.1235"
    assert plainly(-1234567.0) == "\N{MINUS SIGN}1,234,567"
    assert plainly(68.5) == "68.5"
    assert "e" not in "".join(plainly(10.0**k) for k in range(-3, 9))


def test_what_floating_point_left_of_a_zero_is_zero():
    assert number(-1.31e-14) == number(6.66e-16) == "0.000"


def test_levels_have_their_percent():
    assert [percent_level(level) for level in (0.95, 0.975, 1 - 0.05 / 3)] == [
        "95 %",
        "97.5 %",
        "98.33 %",
    ]


def test_what_is_tiny_beside_other_scores_is_zero_without_a_sign():
    assert beside_each_other([-3.81e-06, 0.0123, None]) == ["0.000", "0.012", "–"]
    assert beside_each_other([-0.000919, -0.031, 0.000357]) == ["−0.001", "−0.031", "0.000"]


def test_scores_that_are_all_tiny_keep_their_digits():
    assert beside_each_other([3.81e-06, 3.7e-06]) == [number(3.81e-06), number(3.7e-06)]
    assert "0.000" not in beside_each_other([3.81e-06, 3.7e-06])


def test_settings_on_an_axis_have_one_style_of_thousands():
    assert [settled(10.0**k) for k in (-3, 0, 3, 4, 6)] == [
        "0.001",
        "1",
        "1,000",
        "10,000",
        "1,000,000",
    ]
