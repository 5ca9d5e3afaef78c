"""``likely predict``: columns, order, formats, streams."""

import csv
import io
import json

import numpy as np
import pytest

import likely as lk
from likely.data import arrow
from likely.tasks import table_files as written_files


@pytest.fixture
def trained(likely, table):
    assert likely("train", table, "naive-bayes", "--target", "ill").exit == 0
    return table


def test_predictions_come_in_the_order_of_the_input(likely, trained):
    import pyarrow.csv

    rows = pyarrow.csv.read_csv(trained)
    model = lk.load("runs/001-naive-bayes/model.likely")
    expected = model.predict_proba(rows.drop_columns(["ill"]))
    said = likely("predict", "@last", trained, "--proba")
    records = list(csv.DictReader(io.StringIO(said.out)))
    assert list(records[0]) == ["prediction", "p_no", "p_yes"]
    assert [float(r["p_yes"]) for r in records] == pytest.approx(expected[:, 1].tolist())
    assert [r["prediction"] for r in records] == model.predict(rows.drop_columns(["ill"])).tolist()
    assert "200 predictions" in said.err


def test_chunks_do_not_change_the_predictions(likely, trained, monkeypatch):
    whole = likely("predict", "@last", trained, "--proba").out
    monkeypatch.setattr(arrow, "CHUNK_ROWS", 7)
    assert likely("predict", "@last", trained, "--proba").out == whole


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_the_suffix_chooses_the_format(likely, trained, suffix):
    name = f"out.{suffix}"
    outcome = likely("predict", "@last", trained, "--proba", "-o", name, "--json").json
    assert outcome["files"] == [name]
    assert outcome["result"]["rows"] == 200
    source = lk.read(name)
    assert source.names == ("prediction", "p_no", "p_yes")
    assert sum(batch.num_rows for batch in source) == 200


def test_standard_input_is_read(likely, trained):
    from_file = likely("predict", "@last", trained)
    piped = likely("predict", "@last", "-", stdin=trained.read_text())
    assert piped.out == from_file.out
    lines = [
        json.dumps({"age": 70.0, "city": "Bonn", "smoker": True, "visits": 6}),
        json.dumps({"age": 40.0, "city": "Ulm", "smoker": False, "visits": 1}),
    ]
    told = likely("predict", "@last", "-", stdin="\n".join(lines) + "\n")
    assert told.out.splitlines() == ["prediction", "yes", "no"]


def test_extra_columns_and_another_order_do_not_matter(likely, trained, tmp_path):
    (tmp_path / "new.csv").write_text("id,visits,smoker,city,age\n7,6,true,Bonn,70\n")
    assert likely("predict", "@last", "new.csv").out.splitlines() == ["prediction", "yes"]


def test_categories_that_look_like_numbers_stay_categories(likely, tmp_path):
    rows = [f"{code},{'a' if code == '1' else 'b'}" for code in ("1", "2", "x") for _ in range(10)]
    (tmp_path / "codes.csv").write_text("code,y\n" + "\n".join(rows) + "\n")
    likely("train", "codes.csv", "naive-bayes", "--target", "y")
    (tmp_path / "new.csv").write_text("code\n1\n2\n")
    outcome = likely("predict", "@last", "new.csv")
    assert outcome.out.splitlines() == ["prediction", "a", "b"]
    assert "did not see" not in outcome.err


@pytest.mark.parametrize("model", ["naive-bayes", "logistic"])
def test_an_empty_cell_where_training_had_none_is_called_so(likely, table, tmp_path, model):
    header, first, *rows = (tmp_path / table).read_text().splitlines()
    names = header.split(",")
    without = {
        gap: ",".join(
            "" if name == gap else cell for name, cell in zip(names, first.split(","), strict=True)
        )
        for gap in ("age", "city")
    }
    (tmp_path / "gaps.csv").write_text("\n".join([header, without["age"], *rows]) + "\n")
    (tmp_path / "new.csv").write_text("\n".join([header, rows[1], without["city"]]) + "\n")
    assert likely("train", "gaps.csv", model, "--target", "ill").exit == 0
    outcome = likely("predict", "@last", "new.csv")
    told = " ".join(outcome.err.split())
    assert outcome.exit == 0
    assert "city='missing'" not in told
    assert ("city (an empty cell, or 'missing')" in told) == (model == "logistic")


def test_an_unseen_category_is_noted_and_carries_no_evidence(likely, trained, tmp_path):
    (tmp_path / "new.csv").write_text("age,city,smoker,visits\n70,Atlantis,true,6\n")
    outcome = likely("predict", "@last", "new.csv")
    assert outcome.exit == 0
    assert "Atlantis" in outcome.err
    assert outcome.out.splitlines() == ["prediction", "yes"]


def test_missing_cells_are_summed_out(likely, trained, tmp_path):
    likely("train", trained, "naive-bayes", "--target", "ill", "--set", "calibrate=null")
    (tmp_path / "new.csv").write_text("age,city,smoker,visits\n,,,\n70,,,\n")
    outcome = likely("predict", "@last", "new.csv", "--proba")
    assert len(outcome.out.splitlines()) == 3  # a blank row has an answer, too
    first = outcome.out.splitlines()[1].split(",")
    model = lk.load("runs/001-naive-bayes/model.likely")
    share = model.class_count_ / model.class_count_.sum()
    assert [float(v) for v in first[1:]] == pytest.approx(share.tolist())


def test_json_needs_a_file_for_the_predictions(likely, trained):
    outcome = likely("predict", "@last", trained, "--json")
    assert outcome.exit == 1
    assert "-o out.csv" in outcome.json["findings"][0]


def test_a_mixture_predicts_components(likely):
    likely("train", "iris", "mixture", "--set", "n_components=2")
    header, *rows = likely("predict", "@last", "iris", "--proba").out.splitlines()
    assert header == "prediction,p_0,p_1"
    assert {row.split(",")[0] for row in rows} == {"0", "1"}


@pytest.mark.parametrize("output", ["patients.csv", "./patients.csv", "link.csv"])
def test_predictions_never_replace_the_rows_they_are_made_from(likely, trained, output):
    (trained.parent / "link.csv").symlink_to(trained)
    before = trained.read_text()
    outcome = likely("predict", "@last", "patients.csv", "-o", output)
    assert outcome.exit == 2
    assert "is also the input" in " ".join(outcome.err.split())
    assert "-predictions.csv" in outcome.err.splitlines()[-1]
    assert trained.read_text() == before
    assert likely("predict", "@last", "patients.csv", "-o", "other.csv").exit == 0


@pytest.mark.parametrize("piped", [False, True])
def test_a_header_alone_gives_a_header_alone(likely, trained, tmp_path, piped):
    header = "age,city,smoker,visits\n"
    (tmp_path / "none.csv").write_text(header)
    data = "-" if piped else "none.csv"
    outcome = likely("predict", "@last", data, "--proba", stdin=header if piped else None)
    assert outcome.exit == 0
    assert outcome.out == "prediction,p_no,p_yes\n"
    assert "has a header but no rows, so there is nothing to predict" in outcome.err


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_no_rows_keep_their_columns_in_every_format(likely, trained, tmp_path, suffix):
    import pyarrow.csv
    import pyarrow.parquet

    (tmp_path / "none.csv").write_text("age,city,smoker,visits\n")
    name = f"out.{suffix}"
    assert likely("predict", "@last", "none.csv", "--proba", "-o", name).exit == 0
    if suffix == "parquet":
        table = pyarrow.parquet.read_table(name)
        assert (table.column_names, table.num_rows) == (["prediction", "p_no", "p_yes"], 0)
    else:
        assert (tmp_path / name).read_text().split() in (
            ["prediction,p_no,p_yes"],
            ["prediction", "p_no", "p_yes"],
        )


@pytest.mark.parametrize(
    ("line", "message"),
    [("age,city,smoker\n", "no column 'visits'"), ("hello\n", "no row"), ("", "empty")],
)
def test_a_line_that_is_not_the_header_is_refused(likely, trained, tmp_path, line, message):
    (tmp_path / "none.csv").write_text(line)
    outcome = likely("predict", "@last", "none.csv")
    assert outcome.exit == 2
    assert message in " ".join(outcome.err.split())


def test_a_prepared_model_takes_columns_by_name_and_names_the_one_that_is_missing(likely, tmp_path):
    from tests.cli.conftest import patients

    rows = [line.split(",") for line in patients(60).splitlines()]
    (tmp_path / "rows.csv").write_text(patients(60))
    assert likely("train", "rows.csv", "logistic", "--target", "ill", "-x", "3").exit == 0

    def predicted(table, name):
        (tmp_path / name).write_text("\n".join(",".join(row) for row in table) + "\n")
        outcome = likely("predict", "@last", name, "--proba", "-o", f"out-{name}")
        return outcome, tmp_path / f"out-{name}"

    _, same = predicted(rows, "same.csv")
    _, turned = predicted([row[::-1] for row in rows], "turned.csv")
    _, wider = predicted(
        [["extra" if i == 0 else "9", *row] for i, row in enumerate(rows)], "w.csv"
    )
    assert same.read_text() == turned.read_text() == wider.read_text()
    outcome, path = predicted([row[1:] for row in rows], "narrow.csv")
    assert outcome.exit == 2
    assert "no column 'age', which the model was trained on" in " ".join(outcome.err.split())
    assert not path.exists()


@pytest.mark.parametrize("model", ["naive-bayes", "logistic"])
@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
def test_a_word_among_numbers_is_named_with_its_row(likely, tmp_path, table, model, sealed):
    lines = table.read_text().splitlines()
    data = table
    if sealed:  # the columns are prepared inside the fit
        lk.seal(str(table), "ill", folder=tmp_path, name="patients")
        data = "patients.seal"
    assert likely("train", data, model, "--target", "ill").exit == 0
    age = lines[0].split(",").index("age")
    cells = lines[3].split(",")
    cells[age] = "old"
    bad = [lines[0], lines[1], lines[2], ",".join(cells), *lines[4:9]]
    (tmp_path / "badtype.csv").write_text("\n".join(bad) + "\n")
    said = likely("predict", "@last", "badtype.csv", "-o", "out.csv", "--json").json
    assert said["exit"] == 2
    assert said["findings"][0] == (
        "Column 'age' must hold numbers, as in training; found 'old' in row 2 (counted from 0). "
        "Correct the cell, or drop the row."
    )


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "plain", "'=x"]


def test_safe_csv_marks_text_that_a_spreadsheet_would_run(likely, trained, tmp_path):
    n = len(FORMULAS)
    columns = {"note": FORMULAS, "age": [-70.5] * n, "city": ["Bonn"] * n}
    columns |= {"smoker": ["true"] * n, "visits": [6] * n}
    with open(tmp_path / "new.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    asked = ("predict", "@last", "new.csv", "--keep", "note", "--keep", "age")
    plain, safe = (
        list(csv.DictReader(io.StringIO(likely(*asked, *more).out, newline="")))
        for more in ((), ("--safe-csv",))
    )
    assert [row["note"] for row in plain] == FORMULAS
    assert [row["note"] for row in safe] == [f"'{each}" for each in FORMULAS[:5]] + FORMULAS[5:]
    assert {row["age"] for row in safe} == {"-70.5"}
    assert written_files._no_formulas(["\rx", -1, None]) == ["'\rx", -1, None]
    likely(*asked, "--safe-csv", "-o", "out.tsv")
    assert (tmp_path / "out.tsv").read_text().splitlines()[1].startswith("'=1+1\t")


def test_safe_csv_is_for_text_files(likely, trained):
    outcome = likely("predict", "@last", trained, "--safe-csv", "-o", "out.parquet")
    assert outcome.exit == 1 and "--safe-csv is for CSV and TSV" in outcome.err


def test_rows_outside_the_fit_are_counted_once_for_all_chunks(likely, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f},{np.sin(x) + 0.1 * e:.4f}" for x, e in rng.uniform(-3, 3, (200, 2))]
    (tmp_path / "waves.csv").write_text("x,y\n" + "\n".join(rows))
    assert likely("train", "waves.csv", "additive", "--target", "y").exit == 0
    new = ["x", *(f"{x}" for x in (0, 1, 50, 2, -40, 0.5, 60))]
    (tmp_path / "new.csv").write_text("\n".join(new))
    monkeypatch.setattr(arrow, "CHUNK_ROWS", 2)
    said = likely("predict", "@last", "new.csv", "--interval")
    notes = " ".join(said.err.split())
    assert notes.count("far outside") == 1
    assert "3 of 7 rows are far outside the rows of the fit (x); their predictions are" in notes
    outcome = likely("predict", "@last", "new.csv", "-o", "out.csv", "--json").json
    assert outcome["result"]["bounded"] == 3
    assert "3 of 7 rows are far outside" in outcome["findings"][0]
    inside = likely("predict", "@last", "waves.csv", "-o", "out.csv", "--json").json
    assert (inside["result"]["bounded"], inside["findings"]) == (0, [])
    found = lk.predict("@last", "new.csv")
    with pytest.warns(lk.errors.OutsideFit, match="3 of 7 rows"):
        found.to_frame()
    assert found.n_bounded == 3
    with pytest.warns(lk.errors.OutsideFit, match="3 of 7 rows"):
        assert lk.predict("@last", "new.csv", output="out.csv").n_bounded == 3
