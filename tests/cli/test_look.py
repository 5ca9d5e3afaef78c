"""``likely look``: what it prints, its JSON, its refusals, and its time."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import likely as lk
from likely.workbench.data.builtin_data import BUILTIN
from tests.machine import costs_at_most, import_libraries, python

ALLOWED_IMPORTS = 3  # times what the libraries need to be imported; 1.4 were measured
SOURCE = str(Path(lk.__file__).parents[1])


def test_it_shows_columns_balance_and_the_next_command(likely, table):
    outcome = likely("look", table, "--target", "ill")
    assert outcome.exit == 0
    assert "200 rows, 5 columns, target ill (2 classes)." in outcome.out
    assert "city    category" in outcome.out
    assert "Target ill: no" in outcome.out
    assert "No findings." in outcome.out
    assert outcome.out.rstrip().endswith(f"Next: likely seal {table} --target ill")
    assert list(table.parent.iterdir()) == [table]  # nothing is written


EXPECTED = {
    "iris": ["LK201"],
    "digits": ["LK102"],
    "breast-cancer": ["LK117", "LK120"],
    "pydoc": ["LK202"],  # a docstring of two modules
}


@pytest.mark.parametrize("name", BUILTIN)
def test_built_in_data_know_their_target_and_have_five_findings_in_all(likely, name):
    outcome = likely("look", name, "--json")
    result = outcome.json["result"]
    assert result["target"] == BUILTIN[name].target
    assert [each["code"] for each in result["findings"]] == EXPECTED.get(name, [])
    assert outcome.json["next"] == f"likely seal {name} --target {BUILTIN[name].target}"


def test_findings_are_said_once(likely):
    outcome = likely("look", "iris")
    assert (outcome.out + outcome.err).count("One row repeats an earlier one") == 1
    assert "LK201 note" in likely("look", "iris", "--quiet").out


def test_json_has_everything(likely, table):
    said = likely("look", table, "--target", "ill", "--json").json
    assert said["result"] == json.loads(json.dumps(lk.look(table, "ill").facts()))
    assert said["findings"] == []
    assert likely("look", "iris", "--json").json["findings"][0].startswith("LK201 One row repeats")


def test_a_finding_can_be_muted(likely):
    outcome = likely("look", "iris", "--mute", "LK201")
    assert "No findings (muted: LK201)." in outcome.out


def test_an_unknown_code_is_a_usage_error(likely):
    outcome = likely("look", "iris", "--mute", "LK999")
    assert outcome.exit == 1
    assert "There is no finding 'LK999'" in outcome.err


def test_an_unknown_target_is_refused_with_the_nearest(likely, table):
    outcome = likely("look", table, "--target", "il")
    assert outcome.exit == 2
    assert "Did you mean 'ill'?" in outcome.err


def test_without_a_target_the_next_command_asks_for_one(likely, table):
    assert likely("look", table).out.rstrip().endswith(f"likely look {table} --target COL")


def test_of_a_sealed_folder_the_training_part_is_looked_at(likely, table):
    folder = lk.seal(table, "ill", folder=table.parent).path
    outcome = likely("look", folder)
    assert "160 rows, 5 columns, target ill" in outcome.out
    assert outcome.out.rstrip().endswith(f"Next: likely compare {folder}")


def test_a_broken_manifest_is_refused(likely, table):
    folder = table.parent / "patients.seal"
    folder.mkdir()
    (folder / "manifest.json").write_text("{")
    outcome = likely("look", folder)
    assert outcome.exit == 4
    assert "it is not the manifest of a seal" in " ".join(outcome.err.split())


def test_the_standard_input_and_arff_are_looked_at(likely, table):
    text = table.read_text()
    outcome = likely("look", "-", "--target", "ill", stdin=text)
    assert "standard input: 200 rows" in outcome.out
    assert outcome.out.rstrip().endswith("Next: likely seal FILE --target ill")
    path = table.parent / "small.arff"
    path.write_text("@relation r\n@attribute x real\n@attribute y {a,b}\n@data\n1,a\n2,b\n")
    assert "small.arff: 2 rows, 2 columns" in likely("look", path).out


def test_dates_in_a_parquet_file_are_columns_like_others(likely, tmp_path):
    import datetime

    days = [datetime.date(2024, 1, day) for day in range(1, 29)]
    pq.write_table(pa.table({"day": days, "x": range(100, 128)}), tmp_path / "days.parquet")
    outcome = likely("look", tmp_path / "days.parquet", "--json")
    assert outcome.exit == 0
    assert outcome.json["result"]["columns"][0]["type"] == "date"
    assert "LK112" not in [each["code"] for each in outcome.json["result"]["findings"]]


BAD = {
    "names that repeat": (b"a,a\n1,2\n", "two columns are called 'a'"),
    "mixed encodings": ("city\nKöln\n".encode() + "Köln\n".encode("latin-1"), "line 3.*UTF-8"),
    "a header alone": (b"a,b\n", "no row"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_is_refused(likely, name, tmp_path):
    import re

    content, said = BAD[name]
    (tmp_path / "bad.csv").write_bytes(content)
    outcome = likely("look", tmp_path / "bad.csv")
    assert outcome.exit == 2
    assert re.search(said, " ".join(outcome.err.split()))


@pytest.mark.long
def test_a_look_from_the_command_line_is_quick(tmp_path):
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    n = 7000
    frame = pd.DataFrame(
        {f"x{j}": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)) for j in range(10)}
        | {f"c{j}": rng.choice([*"abcdef", None], n) for j in range(9)}
        | {"y": rng.choice(["no", "yes"], n)}
    )
    frame.to_csv(tmp_path / "rows.csv", index=False)
    words = ("look", str(tmp_path / "rows.csv"), "--target", "y")

    def look():
        python("from likely.cli.main import main; main()", *words, PYTHONPATH=SOURCE)

    assert costs_at_most(ALLOWED_IMPORTS, import_libraries, look)


def test_whole_numbers_with_an_exposure_are_counts_and_no_classes(likely, tmp_path):
    rows = [f"{k % 7},{1 + k % 3},{(k % 50 == 0) * 4 + (k % 9 == 0)}" for k in range(200)]
    (tmp_path / "claims.csv").write_text("\n".join(["x,years,claims", *rows]) + "\n")
    roles = ("--target", "claims", "--exposure", "years")
    found = likely("look", "claims.csv", *roles, "--json").json["result"]
    codes = [each["code"] for each in found["findings"]]
    assert found["kind"] == "count" and found["classes"] is None and found["balance"] == []
    assert "LK303" not in codes and "LK304" not in codes
    alone = likely("look", "claims.csv", "--target", "claims", "--drop", "years", "--json").json
    assert alone["result"]["classes"] == 4
    sealed = likely("seal", "claims.csv", "--target", "claims", "--drop", "years").out
    assert "4 different whole numbers: taken as classes; use kind='count'" in " ".join(
        sealed.split()
    )
    counted = likely("seal", "claims.csv", *roles, "--kind", "count", "-o", "counted").out
    assert "taken as" not in counted


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [("exposure", "0", "must be finite and above 0"), ("weight", "-1", "weights are finite and 0")],
)
def test_an_exposure_or_weight_that_train_refuses_is_found(likely, tmp_path, column, cell, says):
    rows = [f"{k % 7},{cell if k == 30 else 2},{k % 5}" for k in range(60)]
    (tmp_path / "claims.csv").write_text("\n".join(["x,it,claims", *rows]) + "\n")
    given = ("--target", "claims", f"--{column}", "it")
    found = likely("look", "claims.csv", *given, "--json").json["result"]["findings"]
    (stop,) = (each for each in found if each["code"] == "LK207")
    assert stop["columns"] == ["it"] and stop["severity"] == "stop" and says in stop["sentence"]
    assert says in " ".join(likely("train", "claims.csv", "glm-poisson", *given).err.split())
    assert "LK207 stop" not in likely("look", "claims.csv", *given, "--mute", "LK207").out
