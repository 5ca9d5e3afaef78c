"""What the values of a column allow: it adds, and every reading of a number is its own inverse."""

from datetime import date

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.data.readings.table_readings import AskedReadings, SeenColumn, settled
from likely.data.readings.written_values import (
    COMMA,
    DATES,
    EVERY,
    NUMBERS,
    POINT,
    CellReading,
    evidence_of,
    plain_evidence,
    value_of,
)

CELLS = st.sampled_from(
    [
        *("1,234", "1.234", "12", "3,5", "3.5", "-", "#N/A", "$4", "€1.234,50", "12 %", "1,5%"),
        *("03/04/2021", "18/05/2021", "05/18/2021", "2021/05/18", "18 May 2021", "red", "007", ""),
    ]
)


def of(texts, tried=EVERY):
    return evidence_of(pa.array(texts, pa.string()), tried)


@given(cells=st.lists(CELLS, max_size=12), cut=st.integers(0, 12))
def test_evidence_of_blocks_adds(cells, cut):
    whole, parts = of(cells), of(cells[:cut]) + of(cells[cut:])
    assert parts.fits == whole.fits
    assert parts.n_values == whole.n_values or not whole.fits
    if whole.fits:
        assert parts.words == whole.words and parts.currencies == whole.currencies
        assert whole.fractions <= parts.fractions | (EVERY - whole.fits)
        assert parts.is_open or not whole.is_open


@given(number=st.decimals(-(10**9), 10**9, places=2, allow_nan=False), mark=st.sampled_from(".,"))
def test_a_number_is_read_back_as_it_was_written(number, mark):
    group = "," if mark == "." else "."
    text = f"{number:,.2f}".replace(",", "\0").replace(".", mark).replace("\0", group)
    assert value_of(text, CellReading("number", mark)) == float(number)
    assert value_of(text.replace(group, " "), CellReading("number", mark)) == float(number)
    assert value_of(text + " €", CellReading("number", mark)) == float(number)


@given(day=st.dates(date(1969, 1, 1), date(2068, 12, 31)))
def test_a_day_is_read_back_in_every_order(day):
    for form, text in {
        "day-first": f"{day:%d/%m/%Y}",
        "month-first": f"{day:%m/%d/%y}",
        "year-first": f"{day:%Y.%m.%d}",
        "iso": day.isoformat(),
        "%d%m%Y": f"{day:%d%m%Y}",
    }.items():
        assert value_of(text, CellReading("date", form)).date() == day


@pytest.mark.parametrize(
    ("texts", "fits"),
    [
        (["1,234.50", "12"], {POINT}),
        (["1.234,50", "12"], {COMMA}),
        (["12", "13"], NUMBERS),
        (["1.234.567", "1"], {COMMA}),
        (["1,5", "1.5"], set()),
        (["--3", "4"], set()),
        (["(3", "4"], set()),
        (["12 %", "5 %"], {CellReading("percent", "."), CellReading("percent", ",")}),
        (["18 May 2021", "May 3, 2021"], DATES),
        (["18-05-21", "19-05-21"], set()),
    ],
)
def test_the_readings_that_fit_all_values(texts, fits):
    assert of(texts).fits == frozenset(fits)


def test_points_of_plain_numbers_may_separate_thousands_only_in_all_of_them():
    assert plain_evidence(pa.array(["1.234", "950", None])).is_open
    assert plain_evidence(pa.array(["1.234", "950.5"])).fits == {POINT}
    assert plain_evidence(pa.array(["0.234", "1.950"])).fits == {POINT}
    assert not plain_evidence(pa.array(["12", "950"])).is_open


def test_what_a_run_recorded_gives_way_to_what_is_said_now():
    record = {"number": ["a=,", "b=."], "date": ["c=day-first"], "declared": ["b"], "decimal": ","}
    asked = AskedReadings.of(["a=."], None, None).before(AskedReadings.of_record(record))
    assert asked.number == {"a": ".", "b": "."} and asked.date == {"c": "day-first"}
    assert asked.found == {"c"} and asked.decimal == ","
    assert asked.on(["a"]).date == {}  # other files may lack a column


def test_what_was_read_is_recorded_and_read_again():
    seen = {
        "a": SeenColumn(of(["1.234,5", "2"]), True),
        "c": SeenColumn(of(["18/05/2021"] * 2), True),
    }
    record = settled(seen, AskedReadings()).to_json()
    assert (record["number"], record["date"]) == (["a=,"], ["c=day-first"])
    assert settled(seen, AskedReadings.of_record(record)).to_json()["number"] == ["a=,"]


@pytest.mark.parametrize(
    "word", ["k.A.", "k. A.", "Keine Angabe", "n. a.", "S/O", "s/d", "n.v.t.", "Sin datos", "N.D."]
)
def test_words_for_no_value_are_missing_beside_numbers_and_dates_and_no_numbers(word):
    for values in (["1,5", "2,5"], ["18/05/2021", "19/05/2021"]):
        found = of([*values, word])
        assert found.fits == of(values).fits and found.words == {word: 1}
    assert not of(["red", word]).fits
