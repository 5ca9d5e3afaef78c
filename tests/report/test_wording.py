import pytest

from likely.report.wording import (
    interval,
    number,
    percent_level,
    plainly,
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
