"""Files as spreadsheets write them: each is read right, or asked about in words, never misread."""

import io
from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import likely as lk
from likely.errors import InvalidFile, InvalidInput, LikelyError, UnknownName, UnsettledColumn

RNG = np.random.default_rng(0)
N = 60
MONEY = [round(x, 2) for x in RNG.uniform(0.5, 99_999, N)]
WHOLE = RNG.integers(1, 3_000_000, N).tolist()
DAYS = [date(2019, 1, 1).toordinal() + int(k) for k in RNG.integers(0, 1000, N)]
DAYS = [datetime.fromordinal(k) for k in DAYS]
EARLY = [datetime(2021, 1 + k % 12, 1 + (5 * k) % 12) for k in range(N)]  # no day after the 12th


def written(x, thousands, point, decimals=2):
    """A number with these marks, as a program of that locale writes it."""
    text = f"{x:,.{decimals}f}"
    return text.replace(",", "\0").replace(".", point).replace("\0", thousands)


def csv_of(columns, sep=";", **how):
    """The bytes of a file with these columns of text."""
    return pd.DataFrame(columns).to_csv(index=False, sep=sep, **how).encode()


def read(content, **how):
    return lk.read(io.BytesIO(content), **how)


def values(source, name):
    return source.to_frame().column(name).to_pylist()


NEGATIVE = [x if k % 3 else -x for k, x in enumerate(MONEY)]
NUMBERS = {  # what is written, and what it means
    "US, quoted": ([written(x, ",", ".") for x in MONEY], MONEY),
    "US dollars": (["$" + written(x, ",", ".") for x in MONEY], MONEY),
    "whole dollars": (["$" + written(x, ",", ".", 0) for x in WHOLE], WHOLE),
    "German": ([written(x, ".", ",") for x in MONEY], MONEY),
    "German euros": ([written(x, ".", ",") + " €" for x in MONEY], MONEY),
    "German without thousands": ([written(x, "", ",") for x in MONEY], MONEY),
    "French": ([written(x, "\u202f", ",") for x in MONEY], MONEY),
    "spaces that do not break": ([written(x, "\u00a0", ",") for x in MONEY], MONEY),
    "Swiss": ([written(x, "'", ".") for x in MONEY], MONEY),
    "Swiss francs": (["CHF " + written(x, "\u2019", ".") for x in MONEY], MONEY),
    "Indian": (["₹ 12,34,567.50", "₹ 1,00,000.00"] * 30, [1234567.5, 100000.0] * 30),
    "parentheses are negative": (
        [f"({-x:,.2f})" if x < 0 else f"{x:,.2f}" for x in NEGATIVE],
        NEGATIVE,
    ),
    "minus signs": ([written(x, ",", ".").replace("-", "\u2212") for x in NEGATIVE], NEGATIVE),
    "minus behind": (
        [written(abs(x), ".", ",") + ("-" if x < 0 else "") for x in NEGATIVE],
        NEGATIVE,
    ),
    "minus before the currency": (
        [("-$" if x < 0 else "$") + written(abs(x), ",", ".") for x in NEGATIVE],
        NEGATIVE,
    ),
    "per cent": ([f"{x} %" for x in WHOLE], [x / 100 for x in WHOLE]),
    "per cent with a comma": (["12,5%", "3,25 %", "-0,5 %"] * 20, [0.125, 0.0325, -0.005] * 20),
    "powers": (["1,5E+03", "2,25E-01"] * 30, [1500.0, 0.225] * 30),
    "trailing spaces": ([f" {x}  " for x in WHOLE], WHOLE),
    "trailing spaces that do not break": ([f"{x}\u00a0" for x in WHOLE], WHOLE),
    "errors": (["#DIV/0!", "#N/A", *map(str, WHOLE[2:])], [None, None, *WHOLE[2:]]),
    "signs for nothing": (["-", "n.a.", "", *map(str, WHOLE[3:])], [None] * 3 + WHOLE[3:]),
}


@pytest.mark.parametrize("sep", [",", ";", "\t"])
@pytest.mark.parametrize(("texts", "truth"), NUMBERS.values(), ids=NUMBERS.keys())
def test_numbers_are_read_as_they_were_meant(texts, truth, sep):
    source = read(csv_of({"row": range(len(texts)), "it": texts, "word": ["a"] * len(texts)}, sep))
    assert values(source, "it") == truth
    assert source.kinds == ("number", "number", "category")


@pytest.mark.parametrize(
    ("form", "truth"),
    [
        ("%d/%m/%Y", DAYS),
        ("%d.%m.%Y", DAYS),
        ("%d.%m.%y", DAYS),
        ("%m/%d/%Y", DAYS),
        ("%m/%d/%y", DAYS),
        ("%Y/%m/%d", DAYS),
        ("%d-%b-%y", DAYS),
        ("%b %d, %Y", DAYS),
        ("%d %B %Y", EARLY),
        ("%d/%m/%Y %H:%M", [day.replace(hour=14, minute=5) for day in DAYS]),
        ("%m/%d/%Y %I:%M %p", [day.replace(hour=14, minute=5) for day in DAYS]),
    ],
)
def test_dates_are_read_as_they_were_meant(form, truth):
    texts = [day.strftime(form) for day in truth]
    source = read(csv_of({"when": texts, "x": range(N)}, ","))
    assert values(source, "when") == truth
    assert source.kinds[0] == "date"
    assert f'"{texts[0]}" is {str(truth[0]).removesuffix(" 00:00:00")}' in source.notes[0] or (
        "dates" in source.notes[0]
    )


OPEN = {
    "a comma before three digits": ([written(x, ",", ".", 0) for x in range(1000, 1060)], "number"),
    "euros and a point": ([f"€ 1.{x}" for x in range(100, 160)], "number"),
    "days and months": ([f"{d.day:02}/{d.month:02}/{d.year}" for d in EARLY], "date"),
}


@pytest.mark.parametrize(("texts", "option"), OPEN.values(), ids=OPEN.keys())
def test_what_may_be_read_in_two_ways_is_asked_and_not_read(texts, option):
    source = read(csv_of({"it": texts, "y": [0, 1] * (N // 2)}))
    assert values(source, "it") == texts
    (note,) = source.notes
    assert "2 ways" in note and f"--{option} it=" in note and f"{option}={{'it': " in note


def test_an_option_settles_what_may_be_read_in_two_ways():
    texts = ["1,234", "950", "12,500"]
    content = csv_of({"n": texts, "y": [1, 2, 3]})
    assert values(read(content, number={"n": "."}), "n") == [1234, 950, 12500]
    assert values(read(content, number=["n=,"]), "n") == [1.234, 950.0, 12.5]
    assert values(read(content, decimal="."), "n") == [1234, 950, 12500]
    days = csv_of({"when": ["03/04/2021", "05/06/2021"], "y": [1, 2]})
    assert values(read(days, date={"when": "day-first"}), "when")[0] == datetime(2021, 4, 3)
    assert values(read(days, date=["when=%m/%d/%Y"]), "when")[0] == datetime(2021, 3, 4)


def test_other_columns_of_the_file_settle_the_decimal_mark_and_a_sentence_says_so():
    content = csv_of({"people": ["1,234", "5,678"], "price": ["1,204.50", "3.25"]})
    source = read(content)
    assert values(source, "people") == [1234, 5678]
    assert "as in the other columns of the file; else --decimal ," in source.notes[0]


def test_a_point_that_may_separate_thousands_is_decimal_and_said_to_be():
    source = read(csv_of({"stock": ["1.234", "2.500", "950"], "y": [1, 2, 3]}))
    assert values(source, "stock") == [1.234, 2.5, 950.0]
    (note,) = source.notes
    assert "'1.234' is 1.234" in note and "--number stock=," in note
    assert values(read(csv_of({"stock": ["1.234", "2"]}), decimal=","), "stock") == [1234, 2]


def test_a_point_that_may_separate_thousands_is_asked_about_beside_decimal_commas():
    source = read(csv_of({"stock": ["1.234", "2.500"], "price": ["1,5", "2,25"]}))
    assert values(source, "stock") == ["1.234", "2.500"]
    assert "Column 'stock' holds numbers that can be read in 2 ways" in source.notes[-1]
    told = read(csv_of({"stock": ["1.234", "2.500"], "price": ["1,5", "2,25"]}), decimal=",")
    assert values(told, "stock") == [1234, 2500]


def test_three_decimals_among_others_are_no_question():
    assert read(csv_of({"x": ["1.234", "2.5"], "y": ["0.123", "1.456"]})).notes == ()


def test_dates_with_points_begin_with_the_day():
    source = read(csv_of({"when": ["01.02.2021", "03.04.2021"], "y": [1, 2]}))
    assert values(source, "when") == [datetime(2021, 2, 1), datetime(2021, 4, 3)]


def test_two_currencies_are_no_numbers():
    source = read(csv_of({"price": ["$5", "€7", "$9"], "y": [1, 2, 3]}))
    assert values(source, "price") == ["$5", "€7", "$9"]
    assert "several currencies ($ and €)" in source.notes[0]
    assert values(read(csv_of({"price": ["$5", "€7"]}), number=["price"]), "price") == [5, 7]


@pytest.mark.parametrize(
    "texts",
    [
        ["02134", "10001", "90210"],  # codes
        ["+49 170 123 456", "+49 171 222 333", "+1 202 555 123"],
        ["1 234 567 890 123 456 789", "1 000", "2 000"],  # a float would round it
        ["5.18.2021", "1.2.2021", "3.4.2021"],
        ["12", "12 %", "13"],  # per cent, and not
        ["1.2.3", "2.0.1", "3.1.4"],  # versions
        ["1,5", "1.5", "2"],  # both marks
        ["18/05/2021", "05/18/2021", "1/1/2021"],  # both orders
        ["31/02/2021", "30/02/2021", "1/13/2021"],  # no such days
        ["12", "unknown", "13"],
        ["12 kg", "13 kg", "14 kg"],
        ["(-3)", "4", "5"],
        ["1,23,4", "2", "3"],
        ["red", "blue", "n/a"],
    ],
)
def test_a_column_that_fits_no_reading_stays_text(texts):
    source = read(csv_of({"it": texts, "y": [1, 2, 3]}))
    assert [x or "n/a" for x in values(source, "it")] == texts
    assert source.notes == ()


def test_nothing_is_read_from_one_cell():
    assert values(read(csv_of({"it": ["$1,200", None], "y": [1, 2]})), "it") == ["$1,200", None]


def test_declared_numbers_read_words_as_missing_and_say_so():
    source = read(csv_of({"n": ["12", "unknown", "-", "007"], "y": range(4)}), number=["n"])
    assert values(source, "n") == [12, None, None, 7]
    assert "2 cells without a value ('-', 'unknown') are read as missing" in source.notes[-1]


def test_a_declared_column_names_the_line_of_a_value_that_does_not_fit():
    content = csv_of({"n": ["12", "13", "14 kg"], "y": range(3)})
    with pytest.raises(
        InvalidFile, match=r"line 4: column 'n' holds '14 kg'; .*--number"
    ) as caught:
        read(content, number=["n"])
    assert caught.value.line == 4
    with pytest.raises(
        InvalidFile, match="line 3: column 'n' holds '99/99/2021'; dates of the form"
    ):
        read(csv_of({"n": ["1/2/2021", "99/99/2021"]}), date=["n=%d/%m/%Y"])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"number": ["prise"]}, "no column 'prise'.*Did you mean 'price'"),
        ({"number": "price"}, r"a list of columns.*number=\['price'\]"),
        ({"number": {"price": ";"}}, "'.' or ',' was expected"),
        ({"decimal": ";"}, "'.' or ',' was expected"),
        ({"date": {"price": "soon"}}, "day-first, month-first"),
        ({"number": ["price"], "date": ["price"]}, "as number and as date"),
        ({"sheet": "Sales"}, "no workbook"),
    ],
)
def test_wrong_options_are_refused_with_advice(how, message):
    with pytest.raises(LikelyError, match=message):
        read(csv_of({"price": ["1", "2"]}), **how)


def test_days_of_a_spreadsheet_are_dates_where_that_is_declared():
    content = csv_of({"when": [44197, 44197.5], "y": [1, 2]})
    assert values(read(content), "when") == [44197.0, 44197.5]
    found = values(read(content, date={"when": "excel"}), "when")
    assert found == [datetime(2021, 1, 1), datetime(2021, 1, 1, 12)]


# ── where the table is ───────────────────────────────────────────────────────────────────────────


def test_titles_and_totals_of_a_file_are_left_out_and_named():
    text = "Sales 2021,,,\n,,,\nname,q,r,s\nx,1,2,3\ny,4,5,6\nTotal,5,7,9\nSource: us,,,\n,,,\n"
    source = read(text.encode())
    assert source.to_frame().to_pydict() == {
        "name": ["x", "y"],
        "q": [1, 4],
        "r": [2, 5],
        "s": [3, 6],
    }
    assert source.notes == (
        "2 rows above the header were left out ('Sales 2021').",
        "2 rows below the table were left out ('Total', 'Source: us').",
    )
    assert source.n_rows == 2


def test_a_comma_in_a_name_does_not_divide_a_file_with_semicolons():
    for name in ("price, net", '"price, net"'):
        source = read(f"{name};n\n1,5;1\n2,25;2\n".encode())
        assert source.names == ("price, net", "n") and values(source, "price, net") == [1.5, 2.25]


def test_a_row_called_total_among_others_is_kept():
    text = "name,q\nTotal,1\nx,2\nTotal,3\n"
    assert values(read(text.encode()), "q") == [1, 2, 3]
    assert values(read(b"name,q\nx,2\nTotal row,3\n"), "q") == [2, 3]


@pytest.mark.parametrize("start", ["\ufeff", ""])
def test_a_mark_of_byte_order_is_no_part_of_a_name(start):
    source = read(f"{start}price;n\n1,5;1\n2,25;2\n".encode())
    assert source.names == ("price", "n") and values(source, "price") == [1.5, 2.25]


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_other_encodings_are_refused_with_how_to_convert_them(encoding):
    with pytest.raises(InvalidFile, match="iconv"):
        read("name;price\nMünchen;1,5\nKöln;2,5\n".encode(encoding))


def test_a_blank_line_is_no_row():
    assert values(read(b"price;n\n1,5;1\n\n2,25;2\n\n"), "price") == [1.5, 2.25]


def test_an_index_without_a_name_is_left_out_and_called_an_index():
    frame = pd.DataFrame({"x": RNG.normal(size=N), "y": ["no", "yes"] * (N // 2)})
    data = lk.dataset(read(frame.to_csv().encode()), "y")
    assert list(data.features.column_names) == ["x"]
    assert "Left out as an index" in data.notes[0] and "the column without a name" in data.notes[0]
    named = frame.reset_index(names="Unnamed: 0")
    assert "an index" in lk.dataset(named, "y").notes[0]
    text = str(lk.look(read(frame.to_csv().encode()), "y"))
    assert "The column without a name" in text and "''" not in text


# ── plain files are read as before ───────────────────────────────────────────────────────────────


def test_plain_files_are_read_bit_by_bit_as_arrow_reads_them():
    frame = pd.DataFrame(
        {
            "x": RNG.normal(size=5000),
            "n": RNG.integers(-9, 9, 5000),
            "when": ["2021-05-18", "2021-06-01"] * 2500,
            "flag": [True, False] * 2500,
            "word": ["a", "b 1"] * 2500,
        }
    )
    content = frame.to_csv(index=False).encode()
    source = read(content)
    assert type(source).__name__ == "CsvSource" and source.notes == ()
    table = source.to_frame()
    assert table.column("x").to_pylist() == frame["x"].tolist()
    assert [str(field.type) for field in table.schema] == [
        "double",
        "int64",
        "string",
        "bool",
        "string",
    ]


def test_a_value_far_down_decides_for_the_whole_file(tmp_path):
    """All values of a column count, also in files of many chunks."""
    many = 400_000
    lines = [f"{k};1.{k % 900 + 100}\n" for k in range(many)]
    path = tmp_path / "long.csv"
    path.write_text("k;it\n" + "".join(lines) + "0;7,5\n1;8,25\n")
    found = lk.read(path)
    assert found.kinds == ("number", "number")
    assert sum(batch.num_rows for batch in found) == many + 2
    assert next(iter(found)).column(1)[0].as_py() == 1100
    path.write_text("k;it\n" + "".join(lines) + "0;soon\n")
    assert lk.read(path).kinds == ("number", "category")


# ── frames, and what is done with them ───────────────────────────────────────────────────────────


def shop(n=200, form="German"):
    rng = np.random.default_rng(3)
    price = rng.uniform(5, 9000, n).round(2)
    when = [datetime(2021, 1 + k % 12, 1 + k % 28) for k in range(n)]
    sold = np.where(price + rng.normal(0, 1500, n) > 4500, "yes", "no")
    marks = (".", ",") if form == "German" else (",", ".")
    return pd.DataFrame(
        {
            "price": [written(x, *marks) + " €" for x in price],
            "when": [f"{d:%d/%m/%Y}" for d in when],
            "sold": sold,
        }
    )


def test_text_in_a_frame_is_read_where_it_is_declared():
    frame = shop()
    with pytest.raises(
        UnsettledColumn, match="'price' is text, but most of its values are numbers"
    ):
        lk.compare(frame, "sold", ["naive-bayes"])
    data = lk.dataset(frame, "sold", number=["price"], date=["when"])
    assert data.source.kinds == ("number", "date", "category")
    assert lk.compare(data, models=["naive-bayes"]).best.name == "naive-bayes"


def test_dates_in_several_forms_are_asked_about_and_no_categories():
    frame = shop()
    frame.loc[7, "when"] = "soon"
    frame["price"] = np.arange(200.0)
    for data in (frame, read(frame.to_csv(index=False).encode())):
        with pytest.raises(UnsettledColumn, match=r"its values are dates.*but not .*--date when"):
            lk.compare(data, "sold", ["naive-bayes"])
    assert lk.dataset(shop(), "sold", number=["price"], date=["when"]).source.kinds[1] == "date"


def test_seal_and_compare_stop_at_the_same_column_with_the_same_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = shop().assign(stock=[written(x, ",", ".", 0) for x in range(1001, 1201)])
    frame["price"] = frame["price"].str.removesuffix(" €").str.replace(r",\d+", "", regex=True)
    frame.to_csv("shop.csv", index=False, sep=";")
    words = []
    for verb in (lk.seal, lk.compare, lk.train, lk.tune):
        with pytest.raises(UnsettledColumn) as caught:
            verb("shop.csv", "sold", model="naive-bayes") if verb in (lk.train, lk.tune) else verb(
                "shop.csv", "sold"
            )
        words.append(str(caught.value))
    assert len(set(words)) == 1 and "--number" in words[0]
    found = lk.look("shop.csv", "sold")
    assert "LK121" in found.codes and found.findings[0].severity == "stop"
    assert not (tmp_path / "shop.seal").exists()


def test_a_run_reads_new_files_as_it_was_trained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shop().to_csv("shop.csv", index=False, sep=";")
    lk.train("shop.csv", "sold", "naive-bayes", run="runs/one")
    new = pd.DataFrame(
        {"price": ["1.234 €", "2.500 €"], "when": ["03/04/2021", "05/06/2021"]}  # alone: open
    )
    new.to_csv("new.csv", index=False, sep=";")
    assert len(lk.read("new.csv").notes) == 2
    found = lk.predict("runs/one", "new.csv", proba=True).to_frame()
    truth = pd.DataFrame(
        {"price": [1234.0, 2500.0], "when": [datetime(2021, 4, 3), datetime(2021, 6, 5)]}
    )
    expected = lk.predict("runs/one", truth, proba=True).to_frame()
    assert found.column("p_yes").to_pylist() == expected["p_yes"].tolist()
    pd.DataFrame({"price": ["1234.5", "7"], "when": ["03/04/2021"] * 2}).to_csv(
        "us.csv", index=False
    )
    with pytest.raises(InvalidInput, match=r"us\.csv, line 2: column 'price' holds '1234.5'"):
        lk.predict("runs/one", "us.csv")
    with pytest.raises(InvalidInput, match=r"--number price=\. or --number price=, "):
        lk.predict("runs/one", "us.csv")
    told = lk.predict("runs/one", "us.csv", number=["price=."]).to_frame()
    assert told.num_rows == 2


def test_a_seal_remembers_how_its_file_was_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shop().to_csv("shop.csv", index=False, sep=";")
    sealed = lk.seal("shop.csv", "sold")
    assert "price=," in sealed.manifest.readings["number"]
    assert any("day first" in each for each in lk.look(sealed).readings)
    lk.train(sealed, model="naive-bayes", run="runs/one")
    pd.DataFrame({"price": ["1.234 €"], "when": ["03/04/2021"]}).to_csv(
        "new.csv", index=False, sep=";"
    )
    assert lk.predict("runs/one", "new.csv").to_frame().num_rows == 1
    with pytest.raises(InvalidInput, match="read when it was sealed"):
        lk.compare("shop.seal", number=["price"])


def test_rows_that_are_written_in_two_locales_give_the_same_scores():
    scores = [
        lk.compare(
            lk.dataset(read(shop(form=form).to_csv(index=False, sep=";").encode()), "sold"),
            models=["naive-bayes"],
        ).best.main.value
        for form in ("German", "US")
    ]
    assert scores[0] == scores[1]


def test_unknown_columns_are_refused_where_a_file_is_opened(tmp_path):
    path = tmp_path / "a.csv"
    shop().to_csv(path, index=False)
    with pytest.raises(UnknownName, match=r"'prices'.*Did you mean 'price'"):
        lk.look(path, "sold", number=["prices"])


def test_arrow_tables_are_read_where_they_are_declared():
    table = pa.table({"n": ["1.234,5", "2"], "y": [1, 2]})
    data = lk.dataset(table, "y", number={"n": ","})
    assert data.table.column("n").to_pylist() == [1234.5, 2.0]


BLANK = b"name;price;n\na;1,5;1\n;;\nb;2,5;2\n ; ;\n;;\nc;NA;3\nd;x;NA\n"


def test_rows_of_delimiters_only_are_no_rows_and_are_counted_in_a_note():
    source = read(BLANK)
    assert values(source, "name") == ["a", "b", "c", "d"] and source.n_rows == 4
    assert source.notes == ("Blank rows, which are left out: 3.",)
    assert values(source.select(["n"]), "n") == [1, 2, 3, None]
    assert values(read(b"x,y\nNA,NA\n1,2\n,\n"), "x") == [None, 1]  # words for missing are cells
    with pytest.raises(InvalidFile, match=r"line 8: column 'price' holds 'x1'"):
        read(BLANK.replace(b"x", b"x1"), number=["price"])
    with pytest.raises(InvalidFile, match="no row"):
        read(b"x,y\n,\n,\n")


def test_blank_rows_of_a_file_of_many_chunks_are_left_out_wherever_they_are(tmp_path):
    n, chosen = 200_000, np.random.default_rng(0)
    rows = [f"{k},{k % 7},{'long word ' * 3}" for k in range(n)]
    for k in sorted(chosen.choice(n, 50, replace=False))[::-1]:
        rows.insert(k, ",,")
    path = tmp_path / "many.csv"
    path.write_text("k,m,word\n" + "\n".join(rows) + "\n,,\n")
    source = lk.read(path)
    assert source.n_rows == n and sum(1 for _ in source) > 2
    assert source.to_frame().column("k").to_pylist() == list(range(n))


@pytest.mark.parametrize("first", [b"sep=|\n", b'"sep=|"\r\n', b"\xef\xbb\xbfSEP=|\n"])
def test_a_first_line_names_the_delimiter_and_lines_are_counted_with_it(first):
    table = b"a, b;c|y\n1,5|2\n2,5|3\n"
    source = read(first + table)
    assert source.names == ("a, b;c", "y") and values(source, "a, b;c") == [1.5, 2.5]
    with pytest.raises(InvalidFile, match="line 4: the row has 3 fields"):
        read(first + table.replace(b"|3", b"|3|4"))
