"""Workbooks: cells with their types, where the table is, and archives that are refused."""

import sys
import zipfile
from datetime import date, datetime, time

import openpyxl
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.errors import InvalidFile, InvalidInput

OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
ODS = """<?xml version="1.0" encoding="UTF-8"?>{start}
<office:document-content xmlns:office="{office}:office:1.0" xmlns:table="{office}:table:1.0"
 xmlns:text="{office}:text:1.0"><office:body><office:spreadsheet>{sheets}
</office:spreadsheet></office:body></office:document-content>"""


def workbook(path, sheets):
    """An .xlsx file with these rows in each sheet."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def opendocument(path, sheets, start=""):
    """An .ods file with these rows in each sheet, and the empty cells to its edges."""
    written = ""
    for name, rows in sheets.items():
        written += f'<table:table table:name="{name}">'
        for row in rows:
            cells = "".join(map(ods_cell, row))
            written += f"<table:table-row>{cells}{EDGE.format('columns', 16000)}</table:table-row>"
        written += '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
        written += 'table:number-columns-repeated="16384"/></table:table-row></table:table>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", ODS.format(office=OFFICE, sheets=written, start=start))
    return path


EDGE = '<table:table-cell table:number-{}-repeated="{}"/>'


def ods_cell(value):
    if value is None:
        return "<table:table-cell/>"
    kinds = {bool: "boolean", int: "float", float: "float", datetime: "date", str: "string"}
    kind = kinds[type(value)]
    held = {
        "boolean": f'office:boolean-value="{str(value).lower()}"',
        "float": f'office:value="{value}"',
        "date": f'office:date-value="{value.isoformat() if kind == "date" else ""}"',
        "string": "",
    }[kind]
    shown = f"<text:p>{value}</text:p>"
    return f'<table:table-cell office:value-type="{kind}" {held}>{shown}</table:table-cell>'


WRITERS = {"a.xlsx": workbook, "a.ods": opendocument}
DAY = datetime(2021, 5, 18)


@pytest.mark.parametrize(("name", "write"), WRITERS.items(), ids=WRITERS.keys())
def test_cells_keep_their_types(name, write, tmp_path):
    rows = [
        ["town", "people", "share", "when", "capital", "price", "code"],
        ["Ulm", 126000, 0.12, DAY, False, "1.204,50 €", "007"],
        ["Kiel", None, 0.5, None, True, "3,20 €", "012"],
    ]
    source = lk.read(write(tmp_path / name, {"Towns": rows}))
    assert source.to_frame().to_pydict() == {
        "town": ["Ulm", "Kiel"],
        "people": [126000, None],
        "share": [0.12, 0.5],
        "when": [DAY, None],
        "capital": [False, True],
        "price": [1204.5, 3.2],
        "code": ["007", "012"],
    }
    assert source.kinds == ("category", "number", "number", "date", "boolean", "number", "category")
    assert source.notes[0].startswith("price: money with a decimal comma")


@pytest.mark.parametrize(("name", "write"), WRITERS.items(), ids=WRITERS.keys())
def test_titles_merged_headers_blank_rows_totals_and_notes_are_no_rows(name, write, tmp_path):
    rows = [
        ["Visitors of two years"],
        [],
        [None, "region", 2020, None, 2021],
        [None, None, "spring", "autumn", "spring"],
        [None, "north", 1, 2.5, 3],
        [],
        [None, "south", 4, "-", 6],
        [None, "Total", 5, 2.5, 9],
        [],
        ["Source: the office"],
    ]
    source = lk.read(write(tmp_path / name, {"Sheet1": rows}))
    assert source.to_frame().to_pydict() == {
        "region": ["north", "south"],
        "2020 spring": [1, 4],
        "2020 autumn": [2.5, None],
        "2021 spring": [3, 6],
    }
    said = " ".join(source.notes)
    for words in ("Visitors of two years", "'2020 spring'", "'Total'", "Source: the office", "'-'"):
        assert words in said


def test_merged_cells_of_a_real_workbook_are_joined(tmp_path):
    path = workbook(
        tmp_path / "a.xlsx",
        {
            "S": [
                ["Report"],
                ["region", "sales", None],
                [None, "q1", "q2"],
                ["n", 1, 2],
                ["s", 3, 4],
            ]
        },
    )
    book = openpyxl.load_workbook(path)
    for cells in ("A1:C1", "A2:A3", "B2:C2"):
        book["S"].merge_cells(cells)
    book.save(path)
    assert lk.read(path).names == ("region", "sales q1", "sales q2")


@pytest.mark.parametrize(("name", "write"), WRITERS.items(), ids=WRITERS.keys())
def test_one_of_several_sheets_is_asked_for(name, write, tmp_path):
    sheets = {"Sales": [["x", "y"], [1, 2]], "Notes": [["who", "what"], ["a", "b"]], "Empty": []}
    path = write(tmp_path / name, sheets)
    with pytest.raises(InvalidFile, match=r"2 sheets with cells, 'Sales' and 'Notes'.*--sheet"):
        lk.read(path)
    assert lk.read(path, sheet="Sales").to_frame().to_pydict() == {"x": [1], "y": [2]}
    with pytest.raises(InvalidFile, match="no sheet 'Sale'; the sheets are 'Sales', 'Notes' and"):
        lk.read(path, sheet="Sale")
    with pytest.raises(InvalidFile, match="the sheet has no table"):
        lk.read(path, sheet="Empty")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", None, "c"], [1, 2, 3], [4, 5, 6]], "row 1 is the header, and column 2 has values"),
        (
            [["a", "b"], [1, 2], [3, 4], [], ["town", "people"], ["Ulm", 5]],
            "row 5 follows a blank row.*another table",
        ),
        ([["a", "a"], [1, 2]], "two columns are called 'a'"),
        ([["only a title"]], "the sheet has no table"),
    ],
)
def test_an_unclear_sheet_is_refused_with_what_to_do(rows, message, tmp_path):
    with pytest.raises(InvalidFile, match=message):
        lk.read(workbook(tmp_path / "a.xlsx", {"S": rows}))


def test_a_column_of_numbers_and_words_is_text_that_an_option_reads(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"S": [["n", "y"], [1, 2], ["many", 3], [2.5, 4]]})
    assert lk.read(path).to_frame().column("n").to_pylist() == ["1", "many", "2.5"]
    source = lk.read(path, number=["n"])
    assert source.to_frame().column("n").to_pylist() == [1.0, None, 2.5]
    assert "('many') is read as missing" in source.notes[-1]


def test_errors_of_formulas_are_missing_and_times_are_parts_of_a_day(tmp_path):
    rows = [["n", "at", "on"], [1, time(12), date(2021, 5, 18)], ["#DIV/0!", time(18), None]]
    source = lk.read(workbook(tmp_path / "a.xlsx", {"S": rows}))
    assert source.to_frame().column("n").to_pylist() == [1, None]
    assert_allclose(source.to_frame().column("at").to_pylist(), [0.5, 0.75])
    assert source.to_frame().column("on").to_pylist() == [DAY, None]
    assert "'#DIV/0!'" in source.notes[0]


def test_a_formula_without_its_value_is_refused(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"S": [["a", "b"], [1, "=A2*2"], [3, "=A3*2"]]})
    with pytest.raises(InvalidFile, match="2 cells hold a formula without its value"):
        lk.read(path)


def test_entities_are_refused_before_they_are_expanded(tmp_path):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    path = opendocument(tmp_path / "a.ods", {"S": [["x", "y"], [1, 2]]}, start=bomb)
    with pytest.raises(InvalidFile, match=r"'content.xml' declares entities"):
        lk.read(path)
    book = workbook(tmp_path / "a.xlsx", {"S": [["x", "y"], [1, 2]]})
    with zipfile.ZipFile(book, "a") as archive:
        archive.writestr("xl/extra.xml", f'<?xml version="1.0"?>{" " * 70000}{bomb}<x>&b;</x>')
    with pytest.raises(InvalidFile, match=r"'xl/extra.xml' declares entities"):
        lk.read(book)


def ods_of_rows(path, rows):
    """An .ods file with a sheet S of a header, and rows as they are written."""
    head = "<table:table-row>" + ods_cell("x") + ods_cell("y") + "</table:table-row>"
    sheet = f'<table:table table:name="S">{head}{rows}</table:table>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", ODS.format(office=OFFICE, sheets=sheet, start=""))
    return path


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ('office:value-type="float" office:value="1,5"', "holds '1,5'; a number such as 1.5"),
        ('office:value-type="date" office:date-value="13.5.2021"', "'13.5.2021'; a date such as"),
        ('office:value-type="date"', "holds ''; a date such as 2021-05-13 was expected"),
        ('table:number-columns-repeated="many"', "is repeated 'many' times; a whole number"),
        ('table:number-columns-repeated="-1"', "is repeated '-1' times; a whole number"),
    ],
)
def test_a_cell_that_no_program_writes_so_is_refused_with_its_place(cell, said, tmp_path):
    rows = f"<table:table-row>{ods_cell(1)}<table:table-cell {cell}/></table:table-row>"
    path = ods_of_rows(tmp_path / "a.ods", rows)
    with pytest.raises(InvalidFile) as caught:
        lk.read(path)
    assert "the cell in row 2, column 2 of sheet 'S'" in str(caught.value)
    assert said in str(caught.value)


REPEATED = 'table:number-{}-repeated="2000000000"'


@pytest.mark.parametrize(
    ("row", "cell", "said"),
    [
        ("", REPEATED.format("columns"), "column 1 of sheet 'S' is repeated 2,000,000,000 times"),
        (REPEATED.format("rows"), "", "more than 50,000,000 cells"),
        ('table:number-rows-repeated="many"', "", "row 2 of sheet 'S' is repeated 'many' times"),
    ],
)
def test_repeats_that_would_fill_the_memory_are_refused(row, cell, said, tmp_path):
    filled = ods_cell(1).replace("<table:table-cell", f"<table:table-cell {cell}")
    path = ods_of_rows(tmp_path / "a.ods", f"<table:table-row {row}>{filled}</table:table-row>")
    with pytest.raises(InvalidFile, match=said):
        lk.read(path)


def test_a_cell_far_below_and_one_far_to_the_right_do_not_fill_the_memory(tmp_path):
    right = "".join([EDGE.format("columns", 16000), ods_cell(1)])
    below = f'<table:table-row table:number-rows-repeated="1000000">{ods_cell(1)}'
    rows = f"<table:table-row>{right}</table:table-row>{below}</table:table-row>"
    with pytest.raises(InvalidFile, match="more than 50,000,000 cells from its first"):
        lk.read(ods_of_rows(tmp_path / "a.ods", rows))


def test_repeated_cells_and_rows_stand_as_often_and_blank_ones_take_no_room(tmp_path):
    cell = ods_cell(7).replace("<table:table-cell", EDGE.format("columns", 2)[:-2])
    blank = f"<table:table-row {REPEATED.format('rows')}>{EDGE.format('columns', 10**9)}"
    rows = f'<table:table-row table:number-rows-repeated="3">{cell}</table:table-row>{blank}'
    source = lk.read(ods_of_rows(tmp_path / "a.ods", f"{rows}</table:table-row>"))
    assert source.to_frame().to_pydict() == {"x": [7, 7, 7], "y": [7, 7, 7]}


def test_a_large_archive_in_a_small_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("likely.data.formats.workbooks.MOST_BYTES", 2**20)
    path = opendocument(tmp_path / "a.ods", {"S": [["x"], ["a" * 2**20]]})
    assert path.stat().st_size < 2**22
    with pytest.raises(InvalidFile, match="made to fill the memory"):
        lk.read(path)


@pytest.mark.parametrize("name", ["a.xlsx", "a.ods"])
def test_a_damaged_workbook_is_refused(name, tmp_path):
    path = WRITERS[name](tmp_path / name, {"S": [["x", "y"], [1, 2]]})
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InvalidFile, match="not a complete workbook"):
        lk.read(path)


def test_without_openpyxl_the_message_says_what_to_install(tmp_path, monkeypatch):
    path = workbook(tmp_path / "a.xlsx", {"S": [["x", "y"], [1, 2]]})
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InvalidInput, match=r"pip install 'likely\[sheets\]'"):
        lk.read(path)


def test_a_workbook_goes_from_look_to_predict(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        ["price", "sold"],
        *([k % 37 + k / 9, "yes" if k % 37 > 18 else "no"] for k in range(120)),
    ]
    workbook("shop.xlsx", {"Shop": rows, "Other": [["a", "b"], [1, 2]]})
    assert lk.look("shop.xlsx", "sold", sheet="Shop").n_rows == 120
    sealed = lk.seal("shop.xlsx", "sold", sheet="Shop")
    assert lk.compare(sealed, models=["naive-bayes"]).best.name == "naive-bayes"
    (tmp_path / "shop.seal").rename(tmp_path / "away")
    lk.train("shop.xlsx", "sold", "naive-bayes", sheet="Shop", run="runs/one")
    assert lk.predict("runs/one", "shop.xlsx").to_frame().num_rows == 120
