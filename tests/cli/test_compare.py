"""``likely compare``: what it prints, its JSON, its refusals, and the next command."""

import json

import pytest

import likely as lk


def test_it_shows_the_models_the_baseline_and_the_next_command(likely, table):
    outcome = likely("compare", table, "--target", "ill", "--folds", "3", "--repeats", "1")
    assert outcome.exit == 0
    assert f"{table}: 200 rows, target ill (2 classes)." in outcome.out
    assert all(name in outcome.out for name in ("logistic", "naive-bayes", "constant", "95 %"))
    assert f"Next: likely tune {table} " in outcome.out
    assert outcome.out.rstrip().endswith("--target ill")
    assert list(table.parent.iterdir()) == [table]  # nothing is written


def test_json_is_what_python_gives(likely, table):
    words = ("--target", "ill", "--folds", "3", "--repeats", "1", "--json", "--seed", "4")
    said = likely("compare", table, "logistic", *words).json
    expected = lk.compare(table, "ill", ["logistic"], folds=3, repeats=1, seed=4)
    assert said["seed"] == said["result"]["seed"] == 4
    assert said["result"]["best"] == expected.best.name
    scores = [each["value"] for each in said["result"]["models"]]
    assert scores == pytest.approx([each.value for each in expected.entries])
    assert [each["model"] for each in said["result"]["models"]] == ["logistic", "constant"]


def test_built_in_data_know_their_target(likely):
    outcome = likely("compare", "iris", "discriminant", "--folds", "3", "--json")
    assert outcome.json["result"]["target"] == "species"
    assert outcome.json["result"]["best"] == "discriminant"


def test_a_seal_is_compared_on_its_training_rows(likely, table):
    sealed = lk.seal(str(table), "ill", folder=table.parent, name="patients")
    outcome = likely("compare", sealed.path, "logistic", "--folds", "3", "--json")
    assert outcome.json["result"]["rows"] == sealed.manifest.n_train
    assert outcome.json["next"] == f"likely tune {sealed.path} logistic"
    assert sealed.evaluations == 0
    other = likely("compare", sealed.path, "--target", "age")
    assert other.exit == 2
    assert "seals the target 'ill', and 'age' was given" in " ".join(other.err.split())


def test_a_file_that_holds_sealed_rows_is_an_honesty_refusal(likely, table):
    lk.seal(str(table), "ill", folder=table.parent, name="patients")
    outcome = likely("compare", table, "--target", "ill")
    assert outcome.exit == 3
    assert "sealed rows" in " ".join(outcome.err.split())


@pytest.mark.long
def test_slow_models_need_all(likely):
    words = ("--folds", "2", "--repeats", "1", "--json")
    assert likely("compare", "iris", *words).json["result"]["left_out"] == [
        "softmax-lasso",
        "neural-network",
    ]
    found = likely("compare", "iris", "--all", *words).json["result"]
    assert "softmax-lasso" in [each["model"] for each in found["models"]]


def test_mistakes_on_the_command_line_exit_1_and_in_the_data_2(likely, table):
    unknown = likely("compare", table, "logistik", "--target", "ill")
    assert unknown.exit == 1
    assert "Did you mean 'logistic'?" in " ".join(unknown.err.split())
    assert likely("compare", table).exit == 2
    assert likely("compare", table, "--target", "il").exit == 2
    unfit = likely("compare", table, "linear", "--target", "ill", "--json")
    assert unfit.exit == 2
    assert json.dumps(unfit.json["findings"]).count("linear is for") == 1


def test_a_target_of_one_class_is_refused(likely, tmp_path):
    (tmp_path / "one.csv").write_text("x,y\n1,a\n2,a\n3,a\n")
    outcome = likely("compare", tmp_path / "one.csv", "--target", "y")
    assert outcome.exit == 2
    assert "at least two different values" in " ".join(outcome.err.split())


def test_a_tiny_table_has_one_note_for_each_model_and_kind(likely, tmp_path):
    rows = ["1,2.5,a,p", "2,1.5,b,q", "3,3.5,a,p", "4,0.5,c,q", "5,9.5,b,p"]
    (tmp_path / "five.csv").write_text("x,z,t,y\n" + "\n".join(rows) + "\n")
    outcome = likely("compare", "five.csv", "--target", "y", "--folds", "2")
    assert outcome.exit == 0
    assert outcome.out.count("Note:") + outcome.err.count("Note:") <= 6
    assert len((outcome.out + outcome.err).splitlines()) < 45
    trained = likely("train", "five.csv", "naive-bayes", "--target", "y", "--kind", "binary")
    assert (trained.out + trained.err).count("Categories not seen") <= 1
