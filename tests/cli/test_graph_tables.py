"""``likely graph --table``: an answer for each row of a file."""

import numpy as np
import pytest

import likely as lk
from tests.cli.graphs import asia, records, suggested, words_of

ROWS = "asia,smoke,xray,dysp\nyes,no,yes,\n,yes,no,yes\n,,,\n"


@pytest.fixture
def rows(tmp_path):
    """Three sets of evidence, the last of which is empty."""
    (tmp_path / "rows.csv").write_text(ROWS)
    return "rows.csv"


def test_every_row_of_a_table_is_answered(likely, network_file, rows, tmp_path):
    said = likely(
        "graph", network_file, "--table", rows, "--query", "lung", "-o", "out.csv", "--json"
    ).json
    assert said["result"]["columns"] == ["lung=yes", "lung=no", "log_evidence"]
    assert (said["result"]["rows"], said["files"]) == (3, ["out.csv"])
    evidence = [
        {"asia": "yes", "smoke": "no", "xray": "yes"},
        {"smoke": "yes", "xray": "no", "dysp": "yes"},
        {},
    ]
    for given, row in zip(evidence, records(tmp_path / "out.csv"), strict=True):
        expected = asia().query("lung", given)
        assert float(row["lung=yes"]) == pytest.approx(expected["lung"]["yes"], abs=1e-12)
        assert float(row["log_evidence"]) == pytest.approx(expected.log_evidence, abs=1e-12)


def test_the_object_has_the_columns_where_no_file_has_them(likely, network_file, rows):
    said = likely("graph", network_file, "--table", rows, "--query", "lung,tub", "--json").json[
        "result"
    ]
    assert next(iter(said["columns"])) == "lung=yes, tub=yes"
    assert len(said["columns"]) == 5
    assert all(len(column) == 3 for column in said["columns"].values())


def test_the_most_probable_states_of_every_row(likely, network_file, rows):
    words = ("graph", network_file, "--table", rows, "--map")
    said = likely(*words, "--json").json["result"]["columns"]
    assert list(said) == [*asia().names, "log_score"]
    best = asia().most_probable({"smoke": "yes", "xray": "no", "dysp": "yes"})
    assert {name: said[name][1] for name in best.states} == dict(best.states)
    few = likely(*words, "--query", "lung", "--json").json["result"]["columns"]
    assert list(few) == ["lung", "log_score"]


def test_a_table_is_shown_within_the_screen(likely, network_file, rows):
    outcome = likely("graph", network_file, "--table", rows)
    assert "3 rows, 17 columns; -o out.csv writes all of them." in outcome.out
    assert all(len(line) <= 100 for line in outcome.out.splitlines()[:-1])
    assert suggested(outcome)[-2:] == ["-o", "answers.csv"]
    written = likely(*suggested(outcome))
    assert suggested(written) == ["graph", network_file, "--draw", "graph.svg"]


def test_a_table_may_come_from_standard_input_or_parquet(likely, network_file, rows, tmp_path):
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv(tmp_path / rows), tmp_path / "rows.parquet")
    words = ("graph", network_file, "--query", "lung", "-o", "-", "--table")
    expected = likely(*words, rows).out
    assert expected.splitlines()[0] == "lung=yes,lung=no,log_evidence"
    assert likely(*words, "-", stdin=ROWS).out == expected
    assert likely(*words, "rows.parquet").out == expected


def test_states_are_read_as_written_and_numbers_by_their_value(likely, tmp_path):
    network = lk.BayesianNetwork.from_tables(
        {"a": ["NA", "None", "007"], "b": 2},
        {"a": [0.2, 0.3, 0.5], "b": [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]},
        {"b": ["a"]},
    )
    lk.write_graph(network, tmp_path / "codes.json")
    (tmp_path / "rows.csv").write_text("a,b\nNA,1.0\nNone,\n007,0\n,1\n")
    said = likely("graph", "codes.json", "--table", "rows.csv", "--json").json["result"]["columns"]
    assert np.argmax([said[f"a={s}"] for s in ("NA", "None", "007")], axis=0).tolist()[:3] == [
        0,
        1,
        2,
    ]
    assert said["b=1"] == pytest.approx([1.0, 0.8, 0.0, 1.0])


def test_an_impossible_row_is_named_or_has_no_numbers(likely, network_file, tmp_path):
    (tmp_path / "rows.csv").write_text("lung,either\nno,no\nyes,no\n")
    words = ("graph", network_file, "--table", "rows.csv", "--query", "tub")
    outcome = likely(*words)
    assert outcome.exit == 2
    assert "The evidence in row 1 has probability 0" in words_of(outcome)
    assert suggested(outcome) == [*words, "--impossible", "nan"]
    went_on = likely(*suggested(outcome), "-o", "out.csv", "--json").json
    assert went_on["result"]["impossible_rows"] == 1
    assert "1 row of rows.csv with probability 0" in went_on["findings"][0]
    assert (tmp_path / "out.csv").read_text().splitlines()[2] == ",,-inf"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("lung,ether\nyes,no\n", "Column 'ether' is no variable of the graph"),
        ("lung,either\nyes\n", "line 2"),
        ("lung\nmaybe\n", "Row 0, column 'lung': 'lung' has no state 'maybe'"),
        ("lung\n", "there is a header but no row"),
        ("", "empty"),
    ],
)
def test_a_wrong_table_is_refused(likely, network_file, tmp_path, content, message):
    (tmp_path / "rows.csv").write_text(content)
    outcome = likely("graph", network_file, "--table", "rows.csv", "-o", "out.csv")
    assert outcome.exit == 2
    assert message in words_of(outcome)
    assert not (tmp_path / "out.csv").exists()


def test_a_column_that_is_no_variable_can_be_dropped(likely, network_file, tmp_path):
    (tmp_path / "rows.csv").write_text("id,lung\n7,yes\n8,no\n")
    words = ("graph", network_file, "--table", "rows.csv", "--query", "tub")
    outcome = likely(*words)
    assert outcome.exit == 2
    assert "rows.csv: Column 'id' is no variable" in words_of(outcome)
    assert "leave it out with --drop id" in words_of(outcome)
    assert suggested(outcome) == [*words[:4], "--drop", "id", *words[4:]]
    assert likely(*suggested(outcome), "--json").json["result"]["rows"] == 2
    assert "There is no column 'i'" in words_of(likely(*words, "--drop", "i"))
    alone = likely("graph", network_file, "--drop", "id")
    assert alone.exit == 1 and "--drop was given without --table" in words_of(alone)


def test_a_variable_may_be_called_as_the_column_of_scores(likely, tmp_path):
    network = lk.BayesianNetwork.from_tables({"log_score": 2}, {"log_score": [0.3, 0.7]})
    lk.write_graph(network, tmp_path / "odd.json")
    (tmp_path / "rows.csv").write_text("log_score\n0\n1\n")
    said = likely("graph", "odd.json", "--table", "rows.csv", "--map", "--json").json["result"]
    assert said["columns"]["log_score"] == ["0", "1"]
    assert said["columns"]["log_score_"] == pytest.approx(np.log([0.3, 0.7]))
