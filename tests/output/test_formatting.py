"""Numbers, intervals, lists and tables as text and HTML."""

from math import floor, inf, log10, nan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likely.output.control_characters import printable
from likely.output.formatting import (
    all_listed,
    capitalised,
    cell,
    coefficient_cells,
    count,
    estimate,
    estimate_cells,
    fixed,
    html_block,
    html_paragraph,
    html_table,
    listed,
    number,
    p_phrase,
    p_value,
    percent,
    percent_level,
    quoted,
    setting,
    short_hash,
    short_number,
    shortened,
    signed,
    statistic,
    text_table,
)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.41234, "0.4123"),
        (-2.5, "-2.500"),
        (1204.5, "1,204"),
        (12345.6, "12,346"),
        (9.99999, "10.00"),
        (3.1e-5, "3.100e-05"),
        (4.2e12, "4.200e+12"),
        (-6e-16, "0"),
        (0.0, "0"),
        (inf, "∞"),
        (-inf, "-∞"),
        (nan, "–"),
        (None, "–"),
        (1400, "1,400"),
        (np.int64(1400), "1,400"),
        (np.float64(0.5), "0.5000"),
        ("best", "best"),
        (True, "True"),
    ],
)
def test_a_number_without_an_interval_has_four_significant_digits(value, written):
    assert number(value) == written


def test_an_estimate_has_two_significant_digits_of_its_half_width():
    assert estimate(0.41234, 0.38888, 0.43612) == "0.412 (0.389 to 0.436)"
    assert estimate(-2.19, -2.24, -2.15) == "-2.190 (-2.240 to -2.150)"
    assert estimate(412.34, 300.1, 520.9) == "412 (300 to 521)"
    assert (
        estimate(0.41234, 0.38888, 0.43612, level=0.975) == "0.412 (97.5 % interval 0.389 to 0.436)"
    )
    assert estimate_cells(0.41234, 0.38888, 0.43612, 0.56189) == [
        "0.412",
        "0.389 to 0.436",
        "0.562",
    ]


def test_an_open_end_takes_the_distance_of_the_other():
    assert estimate(0.41234, -inf, 0.43612) == "0.412 (-∞ to 0.436)"
    assert estimate(0.41234, None, None) == "0.4123"
    assert estimate(0.41234, -inf, inf) == "0.4123 (-∞ to ∞)"


def test_an_interval_that_is_a_point_leaves_four_digits():
    assert estimate_cells(1.0, 1.0, 1.0, 0.6) == ["1.000", "1.000 to 1.000", "0.6000"]
    assert estimate_cells(0.0, 0.0, 0.0, 0.6931) == ["0", "0 to 0", "0.6931"]


def test_small_numbers_keep_their_digits():
    assert estimate_cells(3.81e-6, 3.7e-6, 3.92e-6) == ["3.81e-06", "3.70e-06 to 3.92e-06"]
    assert estimate_cells(3e-7, 0.0, 6e-7, 0.6931) == ["3.0e-07", "0 to 6.0e-07", "0.693100"]
    assert estimate_cells(-3.81e-06, -0.02, 0.02, 0.0) == ["0.000", "-0.020 to 0.020", "0.000"]


def test_large_numbers_keep_their_digits():
    assert estimate_cells(123456.0, 121106.0, 125806.0) == ["123,456", "121,106 to 125,806"]
    assert estimate_cells(1.5e12, 1.4e12, 1.6e12) == ["1.50e+12", "1.40e+12 to 1.60e+12"]


@given(st.floats(-1e8, 1e8), st.floats(1e-5, 1e6))
def test_what_is_written_is_within_half_a_unit_of_the_last_digit(value, half):
    assume(0.01 < log10(half) % 1 < 0.99)  # there rounding of the ends may add a digit
    told, ends = estimate_cells(value, value - half, value + half)
    unit = min(10.0 ** (floor(log10(half)) - 1), 1.0)
    assert abs(float(told.replace(",", "")) - value) <= 0.5 * unit + 1e-15 * abs(value)
    low, high = (float(end.replace(",", "")) for end in ends.split(" to "))
    assert low < high, "an interval is never written as a point"


def test_a_range_is_written_with_to():
    assert estimate_cells(-3.0, -4.6211, -1.21)[1] == "-4.6 to -1.2"
    assert estimate_cells(None, None, None)[1] == "–"
    assert estimate_cells(None, 0.1, None)[1] == "0.1000 to –"


def test_p_values_and_statistics_have_three_decimals():
    assert [p_value(p) for p in (0.0312, 1.0, 0.00099, nan, None)] == [
        *("0.031", "1.000", "<0.001", "–", "–")
    ]
    assert [p_phrase(p) for p in (0.0312, 1e-9, nan)] == ["p = 0.031", "p < 0.001", "p unknown"]
    assert [statistic(z) for z in (-2.0, -1e-9, nan, 2e7)] == ["-2.000", "0.000", "–", "2.000e+07"]


def test_values_of_data_are_written_as_a_person_would():
    assert short_number(55889.4) == "55,889"
    assert short_number(2019.0) == cell(2019) == "2019"  # it may be a year
    assert short_number(0.123456) == "0.1235"
    assert short_number(-1234567.0) == "-1,234,567"
    assert short_number(68.5) == "68.5"
    assert "e" not in "".join(short_number(10.0**k) for k in range(-3, 9))
    assert cell(None) == "–"
    assert cell("two\nlines") == "two lines"
    assert [signed(x) for x in (0.25, -1.5, 0.0)] == ["+0.25", "-1.5", "0"]


def test_settings_are_short_and_counts_have_commas():
    assert [setting(x) for x in (1000, 0.0316227, 1e-7, True, "auto")] == [
        *("1,000", "0.03162", "1e-07", "True", "auto")
    ]


def test_fixed_decimals_have_commas_and_no_negative_zero():
    assert [fixed(x, 3) for x in (1234.5, -0.0001, -inf)] == ["1,234.500", "0.000", "-∞"]


def test_shares_and_levels_have_their_percent():
    assert [percent(x) for x in (0.5, 0.0, 1e-4)] == ["50.0 %", "0.0 %", "under 0.1 %"]
    levels = (0.95, 0.975, 1 - 0.05 / 3)
    assert [percent_level(x) for x in levels] == ["95 %", "97.5 %", "98.33 %"]


def test_counts_and_lists_are_words():
    assert [count(n, "row") for n in (0, 1, 1400)] == ["0 rows", "1 row", "1,400 rows"]
    assert count(2, "class", "classes") == "2 classes"
    assert listed(["a", "b"]) == "a, b"
    assert listed(["a", "b", "c", "d"], 2) == "a, b and 2 more"
    assert quoted(["a", "b", "c", "d"], 2) == "'a', 'b' and 2 more"
    assert quoted(list("abcdefgh")) == "'a', 'b', 'c', 'd', 'e' and 3 more"
    assert capitalised("log loss of X") == "Log loss of X"


def test_long_text_is_shortened_to_one_line():
    assert shortened("a name that is long", 10) == "a name th…"
    assert shortened("two\nlines", 20) == "two lines"
    assert short_hash("ab" * 32) == "abababababababab…"
    assert short_hash("abc") == "abc"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b]52;c;aGk=\x07b", "a\\x1b]52;c;aGk=\\x07b"),
        ("up\x1b[1A", "up\\x1b[1A"),
        ("hidden\x1b[8m", "hidden\\x1b[8m"),
        ("c1\x9b2J del\x7f", "c1\\x9b2J del\\x7f"),
        ("bidi\u202e\u2066\u200f", "bidi\\u202e\\u2066\\u200f"),
        ("tab\there\nnext", "tab here\nnext"),
        ("a name that is no UTF-8: \udcff", "a name that is no UTF-8: \\udcff"),
        ("\x1b[1mbold\x1b[0m", "\x1b[1mbold\x1b[0m"),
        ("naïve – größer …", "naïve – größer …"),
    ],
)
def test_control_characters_of_data_are_escaped(text, shown):
    assert printable(text) == shown


def test_a_text_table_puts_decimal_points_below_each_other():
    lines = text_table(["model", "loss", "p"], [["glm", "0.4123", "best"], ["x", "10.5", "<0.001"]])
    assert lines == [
        "  model     loss       p",
        "  glm     0.4123    best",
        "  x      10.5     <0.001",
    ]


def test_a_text_table_knows_wide_letters_styles_and_controls():
    lines = text_table(["a", "b"], [["日本", "1"], ["\x1b[1mb\x1b[0m", "2"], ["\x1b[2J\nx", "3"]])
    assert lines == [
        "  a          b",
        "  日本       1",
        "  \x1b[1mb\x1b[0m          2",
        "  \\x1b[2J x  3",
    ]
    assert text_table(["a"], [["b" * 20]], width=10)[1] == "  bbbbbbb…"
    assert text_table(["a", "b"], []) == ["  a  b"]


def test_an_html_table_escapes_its_cells():
    drawn = html_block(html_paragraph("1 < 2", bold=True), html_table(["a", "n"], [["<b>", "-1"]]))
    assert "1 &lt; 2" in drawn
    assert "&lt;b&gt;" in drawn
    assert drawn.count("<tr") == 2
    assert drawn.startswith("<div")
    assert "<thead" not in html_table((), [["a", "b"]])


def test_a_share_is_written_as_none_or_all_only_where_it_is():
    shares = (0.0, 1e-9, 0.0005, 0.9994, 0.9995, 1 - 1e-12, 1.0)
    assert [percent(share) for share in shares] == [
        "0.0 %", "under 0.1 %", "0.1 %", "99.9 %", "over 99.9 %", "over 99.9 %", "100.0 %"
    ]  # fmt: skip


def test_a_table_without_a_head_is_aligned_all_the_same():
    assert text_table((), [("a", "1.5"), ("long", "12")], indent=0) == ["a      1.5", "long  12"]
    assert text_table((), []) == []


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), ([1], "1"), (["a", "b"], "a and b"), ("abc", "a, b and c")]
)
def test_a_whole_list_has_a_word_before_its_last_name(names, text):
    assert all_listed(names) == text


def test_an_interval_of_negative_numbers_is_written_with_to_and_tiny_ones_keep_their_digits():
    assert estimate(-2.9, -4.6, -1.2) == "-2.9 (-4.6 to -1.2)"
    assert estimate_cells(0.00004, 0.00001, 0.00007)[:2] == ["0.000040", "0.000010 to 0.000070"]


def test_the_ends_of_an_interval_show_on_which_side_of_0_they_are():
    assert estimate(0.21, 0.0012, 0.42) == "0.210 (0.001 to 0.420)"
    assert estimate(0.21, -0.0012, 0.42) == "0.210 (-0.001 to 0.420)"
    assert estimate(0.21, 0.0, 0.42) == "0.21 (0.00 to 0.42)"
    assert coefficient_cells(0.2, 0.1, 0.004, 0.396)[2] == "0.004"
