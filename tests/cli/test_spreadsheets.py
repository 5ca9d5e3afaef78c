"""A spreadsheet on the command line: what is shown, what stops, and the way on."""

import gzip
import json
import subprocess

import numpy as np
import pytest


@pytest.fixture
def shop(tmp_path):
    """A file with semicolons, decimal commas, and a column that may be read in two ways."""
    rng = np.random.default_rng(0)
    lines = ["price;stock;when;sold"]
    for k in range(120):
        price = rng.uniform(5, 900)
        amount = f"{price:.2f}".replace(".", ",")
        sold = "yes" if price + rng.normal(0, 150) > 450 else "no"
        lines.append(f"{amount} €;1.{100 + k % 70};{1 + k % 28:02}/{1 + k % 12:02}/2021;{sold}")
    path = tmp_path / "shop.csv"
    path.write_text("\n".join(lines) + "\n")
    return path.name


def plain(text):
    return " ".join(text.split())


def test_look_shows_each_reading_and_goes_on_with_the_option_that_settles_the_rest(likely, shop):
    outcome = likely("look", shop, "--target", "sold")
    said = plain(outcome.out)
    assert "price: money with a decimal comma, read as numbers" in said
    assert 'when: dates, day first ("01/01/2021" is 2021-01-01).' in said
    assert "LK121 stop Column 'stock' holds numbers that can be read in 2 ways" in said
    assert said.endswith("Next: likely seal shop.csv --target sold --number stock=,")
    told = likely("look", shop, "--target", "sold", "--number", "stock=,", "--json").json
    assert "stock: numbers with a decimal comma" in " ".join(told["result"]["readings"])
    assert "LK121" not in [each["code"] for each in told["result"]["findings"]]


def test_every_verb_stops_with_the_same_words_and_the_command_that_goes_on(likely, shop):
    said = set()
    for words in (("seal",), ("compare",), ("train", "naive-bayes"), ("tune", "naive-bayes")):
        verb, *model = words
        outcome = likely(verb, shop, *model, "--target", "sold")
        message, _, way = outcome.err.partition("Next: ")
        said.add(plain(message))
        given = " ".join(["likely", verb, shop, *model, "--target", "sold"])
        assert (outcome.exit, way.strip()) == (2, f"{given} --number stock=,")
    assert len(said) == 1


def test_the_way_on_leads_to_predictions_of_new_files(likely, shop, tmp_path):
    sealed = likely("seal", shop, "--target", "sold", "--number", "stock=,")
    assert sealed.exit == 0 and sealed.out.rstrip().endswith("Next: likely compare shop.seal")
    assert likely("compare", "shop.seal", "naive-bayes").exit == 0
    assert likely("train", "shop.seal", "naive-bayes").exit == 0
    run = json.loads((tmp_path / "runs/001-naive-bayes/run.json").read_text())
    assert run["readings"]["number"] == ["price=,", "stock=,"]
    assert run["readings"]["date"] == ["when=day-first"]
    assert likely("final", "@last").exit == 0
    new = tmp_path / "new.csv"
    new.write_text("price;stock;when\n1.234 €;1.150;03/04/2021\n7,5 €;1.120;05/06/2021\n")
    assert likely("predict", "@last", "new.csv").exit == 0
    assert likely("explain", "@last", "new.csv", "--row", "0").exit == 0
    new.write_text("price;stock;when\n1234.5;1.150;03/04/2021\n7.5;1.120;05/06/2021\n")
    refused = likely("predict", "@last", "new.csv")
    assert refused.exit == 2
    assert "line 2: column 'price' holds '1234.5'; numbers with a decimal comma" in plain(
        refused.err
    )
    assert likely("predict", "@last", "new.csv", "--number", "price=.").exit == 0
    assert likely("report", "@last", "-o", "report.html").exit == 0


def test_options_about_a_file_are_refused_for_a_seal(likely, shop):
    likely("seal", shop, "--target", "sold", "--decimal", ",")
    outcome = likely("compare", "shop.seal", "--decimal", ",")
    assert outcome.exit == 2 and "read when it was sealed" in plain(outcome.err)


def test_an_unknown_column_of_an_option_is_refused_with_the_nearest_name(likely, shop):
    outcome = likely("look", shop, "--number", "prices")
    assert outcome.exit == 2 and "Did you mean 'price'" in plain(outcome.err)


def test_look_goes_on_with_every_option_that_seal_needs(likely, shop, tmp_path):
    lines = (tmp_path / shop).read_text().splitlines()
    scores = [f"{k},5" if k % 9 else "secret" for k in range(len(lines))]
    wide = [f"{line};{score}" for line, score in zip(lines[1:], scores[1:], strict=True)]
    (tmp_path / "wide.csv").write_text("\n".join([f"{lines[0]};credit score", *wide]) + "\n")
    said = plain(likely("look", "wide.csv", "--target", "sold").out)
    assert said.endswith("--target sold --number stock=, --number 'credit score'")
    given = ("--target", "sold", "--number", "stock=,", "--number", "credit score")
    assert likely("seal", "wide.csv", *given).exit == 0


def test_names_with_blanks_and_without_letters_can_be_copied_from_what_is_printed(likely, tmp_path):
    lines = [f"{k},id{k},2021-{1 + k // 28:02}-{1 + k % 28:02},{k % 7},{k % 2}" for k in range(90)]
    (tmp_path / "bills.csv").write_text("\n".join([",id,Bill Date,x,y", *lines]) + "\n")
    said = plain(likely("look", "bills.csv", "--target", "y").out)
    assert "--by-time 'Bill Date' (by_time='Bill Date')" in said
    assert "(the column without a name 0 to 89, id 'id0')" in said
    twice = likely("look", "bills.csv", "--group", "Bill Date", "--by-time", "Bill Date")
    assert "--group 'Bill Date' and --by-time 'Bill Date'" in plain(twice.err)
    assert likely("train", "bills.csv", "logistic", "--target", "y", "--feature", "").exit == 0
    (tmp_path / "new.csv").write_text("id,Bill Date,x\na,2021-01-01,3\n")
    refused = plain(likely("predict", "@last", "new.csv").err)
    assert "new.csv has no column without a name, which" in refused


def test_several_sheets_go_on_with_the_first_that_has_cells(likely, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for name in ("open bills", "customers"):
        sheet = book.create_sheet(name)
        for k in range(40):
            sheet.append(["x", "y"] if k == 0 else [k, k % 2])
    book.save(tmp_path / "two.xlsx")
    refused = likely("look", "two.xlsx", "--target", "y")
    way = plain(refused.err).partition("Next: ")[2]
    assert way == "likely look two.xlsx --target y --sheet 'open bills'"
    assert likely("look", "two.xlsx", "--target", "y", "--sheet", "open bills").exit == 0


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_of_windows_is_converted_from_its_own_encoding(likely, shop, tmp_path, packed):
    content = (tmp_path / shop).read_text().replace("sold", "verk\u00e4uflich", 1).encode("cp1252")
    assert b"\x80" in content
    name = "my shop.csv.gz" if packed else "my shop.csv"
    (tmp_path / name).write_bytes(gzip.compress(content) if packed else content)
    outcome = likely("look", name, "--json")
    assert outcome.exit == 2
    said = plain(outcome.json["findings"][0])
    command = said.partition("Convert the file: ")[2].partition(", or ")[0]
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert outcome.json["next"] == "likely look 'my shop-utf8.csv'"
    found = plain(likely("look", "my shop-utf8.csv", "--target", "verk\u00e4uflich").out)
    assert "price: money with a decimal comma, read as numbers" in found


@pytest.mark.parametrize(
    ("letters", "encoding"),
    [(b"caf\xe9", "LATIN1"), (b"5 \x80", "CP1252"), (b"5 \x80 caf\x8d", "ENCODING")],
)
def test_the_encoding_is_one_that_has_all_bytes_of_the_file(likely, tmp_path, letters, encoding):
    (tmp_path / "a.csv").write_bytes(b"a,b\n1,2\n3," + letters + b"\n")
    outcome = likely("look", "a.csv")
    files = "OLD > NEW" if encoding == "ENCODING" else "a.csv > a-utf8.csv"
    assert f"iconv -f {encoding} -t UTF-8 {files}" in plain(outcome.err)
    assert ("Next: likely look a-utf8.csv" in outcome.err) == (encoding != "ENCODING")
    folder = tmp_path / "texts" / "good"
    folder.mkdir(parents=True)
    (folder / "1.txt").write_bytes(letters)
    assert f"iconv -f {encoding} -t UTF-8" in plain(likely("look", "texts").err)
