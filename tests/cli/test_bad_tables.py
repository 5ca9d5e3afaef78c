"""Tables as users have them: each verb answers each kind with a sentence, or with its work."""

import gzip
import io
import os
import re
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import likely as lk
from likely.cli.main import run
from likely.data import arrow
from likely.errors import InvalidInput
from tests.cli.conftest import patients

FINE = ""  # the verb does its work
HEADER, *ROWS = patients(60).splitlines()


def csv(rows=ROWS, header=HEADER):
    return "\n".join([header, *rows]).encode() + b"\n"


def relabelled(labels):
    return csv(
        [f"{row.rpartition(',')[0]},{label}" for row, label in zip(ROWS, labels, strict=True)]
    )


def with_column(values):
    """A column ``extra`` in front of the others."""
    rows = [f"{value},{row}" for value, row in zip(values, ROWS, strict=True)]
    return csv(rows, f"extra,{HEADER}")


def workbook():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return content.getvalue()


DAYS = [f"2024-01-{i % 28 + 1:02}" for i in range(60)]
BROKEN = [*ROWS[:40], "1,2", *ROWS[40:]]
OPEN_QUOTE = [*ROWS[:40], '50,"Ulm,true,3,yes', *ROWS[40:]]
LATIN = csv(ROWS[:40]) + "50,Köln,true,3,yes\n".encode("latin-1") + csv(ROWS[40:], ROWS[0])
LONG_CELL = f"50,{'w' * 300_000},true,3,yes"

UNREADABLE = {  # name: (content, what every verb says)
    "broken.csv": (csv(BROKEN), "line 42: the row has 2 fields; the header has 5"),
    "long_and_broken.csv": (csv([LONG_CELL, *BROKEN]), "line 43: the row has 2 fields"),
    "open_quote.csv": (csv(OPEN_QUOTE), "line 42: a quoted field that begins here is not closed"),
    "latin_line.csv": (LATIN, "line 42: byte 0xf6 is not UTF-8"),
    "utf16.csv": (csv().decode().encode("utf-16"), "is text in UTF-16"),
    "utf16_without_mark.csv": (csv().decode().encode("utf-16-le"), "NUL bytes, as UTF-16"),
    "old_mac.csv": (csv().replace(b"\n", b"\r"), "line 1: the line contains a carriage return"),
    "twice.csv": (csv(header="age,city,age,visits,ill"), "two columns are called 'age'"),
    "empty.csv": (b"", "the file is empty; a table was expected"),
    "blank.csv": (b"\n1,2\n", "the first line is blank"),
    "sheet.xlsx": (workbook(), "not a complete workbook, .*export the sheet as CSV"),
    "sheet.ods": (workbook(), "not a complete workbook, .*export the sheet as CSV"),
    "sheet.csv": (workbook(), "a zip archive or a workbook"),
    "old_sheet.csv": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old workbook"),
    "list.json": (b'[{"ill": 1}]', "one object per line"),
    "page.csv": (b"<!DOCTYPE html><html></html>\n", "is a web page"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n\0", "is a picture"),
    "packed.csv": (gzip.compress(csv()), "is gzipped, although its name"),
    "cut.csv.gz": (gzip.compress(csv())[:300], "cut short or damaged"),
    "cut.parquet": (b"PAR1garbage", "not a complete Parquet file"),
    "folder.csv": (None, "is a folder; a file was expected"),
    "absent.csv": (FINE, "there is no such file"),
}

VERBS = {
    "look": "look {} --target ill",
    "seal": "seal {} --target ill",
    "compare": "compare {} naive-bayes --target ill --folds 2 --repeats 1",
    "tune": "tune {} naive-bayes --target ill --folds 2 --trials 1 -o tuned",
    "curve": "curve {} naive-bayes --target ill --folds 2 --values 0.5",
    "train": "train {} naive-bayes --target ill",
    "predict": "predict MODEL {} -o out.csv",
}
FUNCTIONS = {
    "look": lk.look,
    "seal": lk.seal,
    "compare": partial(lk.compare, models=["naive-bayes"], folds=2, repeats=1),
    "tune": partial(lk.tune, model="naive-bayes", folds=2, trials=1),
    "curve": partial(lk.learning_curve, model="naive-bayes", folds=2, values=[0.5]),
}
MISSPELT = "no column 'ill'.*Did you mean 'Ill'|no column 'ill'; choose one of Ill"
NUMBERS = "'extra' is text, but most of its values are numbers"

TABLES = {  # name: (content, {verbs: what they say}); "rest" is all others
    "misspelt": (csv(header=HEADER.replace("ill", "Ill")), {"predict": FINE, "rest": MISSPELT}),
    "missing labels": (
        relabelled(["yes", "no"] * 25 + [""] * 10),
        {"rest": FINE},
    ),
    "no labels": (
        relabelled([""] * 60),
        {"seal": "no value in 60 rows", "look predict": FINE, "rest": "'ill' is empty"},
    ),
    "one class": (
        relabelled(["yes"] * 60),
        {
            "seal": "one value in all 60",
            "look predict": FINE,
            "rest": "only one class, 'yes'|nothing but 'yes'",
        },
    ),
    "names": (
        relabelled([f"name {i}" for i in range(60)]),
        {
            "look predict": FINE,
            "rest": "looks like an identifier .60 different values.*merge rare classes",
        },
    ),
    "dates to predict": (
        relabelled([f"2024-{i % 12 + 1}-{i % 28 + 1}" for i in range(60)]),
        {"look predict": FINE, "rest": "'ill' holds dates .*days since the first"},
    ),
    "amounts as text": (
        relabelled([f'"{i}{",."[i % 2]}5"' for i in range(60)]),
        {"look predict": FINE, "rest": "'ill' holds numbers as text .*Write them as plain numbers"},
    ),
    "an infinite label": (
        relabelled([*np.arange(0.5, 59.5), "inf"]),
        {
            "look predict": FINE,
            "seal": "is inf in row 59",
            "train": "such as 0.5.*Use additive or linear",
            "rest": "'ill' holds infinity",
        },
    ),
    "an infinite cell": (
        csv([*ROWS, "inf,Ulm,true,3,yes"]),
        {"look": FINE, "rest": "Row 60, column 'age': found inf"},
    ),
    "decimal commas": (
        csv().replace(b",", b";").replace(b".", b","),
        {"rest": FINE},
    ),
    "thousands": (
        with_column([f'"{i},500"' for i in range(1, 61)]),
        {"rest": FINE},  # the decimal points of the other columns settle it
    ),
    "a word among numbers": (
        with_column([*range(59), "n/k"]),
        {"look predict": FINE, "rest": NUMBERS},
    ),
    "a header": (csv([]), {"predict": FINE, "rest": "a header but no row"}),
    "one row": (
        csv(ROWS[:1]),
        {"look predict": FINE, "seal": "one value in all 1", "rest": "only one class|nothing but"},
    ),
    "one column": (
        csv([row.rpartition(",")[2] for row in ROWS], "ill"),
        {
            "look": FINE,
            "predict": "no column 'age'",
            "seal": "only the column 'ill'",
            "rest": "no column except 'ill'",
        },
    ),
}
WORKING = {  # what looks odd and is fine
    "a mark of UTF-8": b"\xef\xbb\xbf" + csv(),
    "semicolons": csv().replace(b",", b";"),
    "tabs": csv().replace(b",", b"\t"),
    "an empty column": with_column([""] * 60),
    "days": with_column(DAYS),
    "times of a zone": with_column([f"{day}T10:00:00+02:00" for day in DAYS]),
    "quoted line feeds": csv([*ROWS, '50,"Ulm\nNord",true,3,yes']),
    "a long cell": csv([*ROWS, LONG_CELL]),
    "a class of one row": relabelled(["yes", "no"] * 29 + ["no", "maybe"]),
    "a class of two rows": relabelled(["yes", "no"] * 29 + ["maybe", "maybe"]),
    "equal rows": csv([ROWS[0]] * 30 + [ROWS[0].rpartition(",")[0] + ",else"] * 30),
    "windows": csv().replace(b"\n", b"\r\n"),
}
QUICK = ("look", "compare", "train", "predict", "seal")  # for the tables that work


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    (folder / "good.csv").write_bytes(csv())
    words = ["train", str(folder / "good.csv"), "naive-bayes", "--target", "ill", "-q"]
    assert run([*words, "-o", str(folder / "run")]) == 0
    return str(folder / "run")


def write(name, content):
    if content is None:
        Path(name).mkdir()
    elif content or name == "empty.csv":
        Path(name).write_bytes(content)


def words_of(verb, name, model):
    return [{"{}": name, "MODEL": model}.get(word, word) for word in VERBS[verb].split()]


def told(outcome):
    return " ".join(outcome.err.split())


def expected(messages, verb):
    return next((said for verbs, said in messages.items() if verb in verbs.split()), None)


def check_refusal(likely, words, message):
    before = sorted(os.listdir())
    outcome = likely(*words)
    said = told(outcome)
    assert outcome.exit == 2, said
    assert re.search(message, said), said
    sentence, _, after = said.partition(" Next: ")
    assert after.startswith("likely ")
    assert sentence.endswith((".", "?", '("").'))
    assert sentence.count(". ") + sentence.count("; ") >= 1, "what was found, and what to do"
    assert outcome.out == ""
    assert sorted(os.listdir()) == before, "nothing half-written"


@pytest.mark.parametrize("verb", VERBS)
def test_files_that_are_no_tables_are_refused(likely, model, verb):
    for name, (content, message) in UNREADABLE.items():
        write(name, content)
        check_refusal(likely, words_of(verb, name, model), message)


@pytest.mark.parametrize("verb", FUNCTIONS)
def test_functions_refuse_them_too(likely, verb):
    for name, (content, message) in UNREADABLE.items():
        write(name, content)
        with pytest.raises(InvalidInput, match=rf"(?s){message}"):
            FUNCTIONS[verb](name, "ill")


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_an_answer(likely, model, verb, case):
    content, messages = TABLES[case]
    write("table.csv", content)
    message = expected(messages, verb)
    words = words_of(verb, "table.csv", model)
    if (messages["rest"] if message is None else message) == FINE:
        assert likely(*words).exit == 0
    else:
        check_refusal(likely, words, messages["rest"] if message is None else message)


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("verb", ["seal", "compare", "curve"])
def test_each_function_has_an_answer(likely, verb, case):
    content, messages = TABLES[case]
    write("table.csv", content)
    message = expected(messages, verb)
    message = messages["rest"] if message is None else message
    if message == FINE:
        assert str(FUNCTIONS[verb]("table.csv", "ill"))
    else:
        with pytest.raises(InvalidInput, match=rf"(?s){message}"):
            FUNCTIONS[verb]("table.csv", "ill")


@pytest.mark.parametrize("case", WORKING)
def test_odd_tables_work(likely, model, case):
    write("table.csv", WORKING[case])
    for verb in QUICK:
        if (case, verb) != ("an empty column", "predict"):
            outcome = likely(*words_of(verb, "table.csv", model))
            assert outcome.exit == 0, told(outcome)


def test_fewer_rows_than_folds_are_refused(likely, tmp_path):
    write(
        "few.csv", relabelled(["yes", "no"] * 30).splitlines()[0] + b"\n" + csv(ROWS[:4], ROWS[4])
    )
    for words in ("compare few.csv naive-bayes", "curve few.csv naive-bayes"):
        message = r"n_folds=9; there are only 5 rows. Use 2 to 5"
        check_refusal(likely, [*words.split(), "--target", "ill", "--folds", "9"], message)


def test_a_date_that_is_none_is_named(likely):
    write("table.csv", with_column([*DAYS[:30], "soon", *DAYS[31:]]))
    assert "but not 'soon'" in " ".join(likely("look", "table.csv").out.split())
    check_refusal(
        likely, words_of("compare", "table.csv", ""), "most of its values are dates.*but not 'soon'"
    )


def test_a_table_that_memory_cannot_hold_is_refused_before_it_is_read(likely, model, monkeypatch):
    monkeypatch.setattr(arrow, "free_memory", lambda: 1e3)
    monkeypatch.setattr("likely.workbench.data.dataset.IN_MEMORY_BYTES", 0)
    write("table.csv", csv())
    for verb in ("seal", "compare", "tune", "curve"):
        words = words_of(verb, "table.csv", model)
        check_refusal(likely, words, r"60 rows, about \S+ GB.* 1e-06 GB are free.*likely train")
    for verb in ("look", "train", "predict"):
        assert likely(*words_of(verb, "table.csv", model)).exit == 0
    for verb in ("seal", "compare", "tune", "curve"):
        with pytest.raises(InvalidInput, match=r"GB are free\. Take fewer rows"):
            FUNCTIONS[verb]("table.csv", "ill")


def test_memory_that_runs_out_is_no_bug(likely, monkeypatch):
    def full(*_, **__):
        raise pa.ArrowMemoryError("malloc failed")

    monkeypatch.setattr("likely.workbench.look.look.profile_of", full)
    outcome = likely("look", "iris")
    assert (outcome.exit, "not enough memory" in told(outcome)) == (2, True)
