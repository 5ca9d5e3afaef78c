"""``likely seal``: the folder, what is said, accidents, refusals."""

import json

import pytest


@pytest.fixture
def sealed(likely, table):
    outcome = likely("seal", "patients.csv", "--target", "ill")
    assert outcome.exit == 0, outcome.err
    return table.parent / "patients.seal"


def test_it_writes_the_folder_and_says_what_the_file_still_holds(likely, table):
    outcome = likely("seal", "patients.csv", "--target", "ill", "--test", "0.25")
    assert outcome.exit == 0
    said = " ".join(outcome.out.split())
    assert "150 training rows, 50 sealed rows" in said
    assert "patients.csv still holds the 50 sealed rows; use patients.seal from now on." in said
    assert outcome.out.rstrip().endswith("Next: likely compare patients.seal")
    names = {path.name for path in (table.parent / "patients.seal").iterdir()}
    assert names >= {
        "manifest.json",
        "train.parquet",
        "test-features.parquet",
        "test-labels.bin",
        "ledger.jsonl",
        "head.json",
    }


def test_json_has_what_was_settled(likely, table):
    said = likely("seal", "patients.csv", "--target", "ill", "--budget", "3", "--json").json
    assert said["exit"] == 0
    assert said["result"]["rows"] == {"train": 160, "sealed": 40}
    assert said["result"]["budget"] == 3
    assert said["result"]["target"] == "ill"
    assert len(said["result"]["head"]) == 64
    assert said["next"] == "likely compare patients.seal"


def test_built_in_data_know_their_target(likely, tmp_path):
    assert likely("seal", "iris").exit == 0
    assert json.loads((tmp_path / "iris.seal/manifest.json").read_text())["target"] == "species"


def test_the_seed_decides_the_split(likely, tmp_path):
    for seed in (1, 1, 2):
        name = f"{seed}-{len(list(tmp_path.iterdir()))}"
        assert likely("seal", "iris", "--seed", seed, "-o", name).exit == 0
    first, again, other = (
        json.loads((path / "manifest.json").read_text())["files"]["train.parquet"]
        for path in sorted(tmp_path.glob("*.seal"))
    )
    assert first == again != other


REFUSED = {
    "no-target": ("seal patients.csv", 2, "No target was given"),
    "unknown-target": ("seal patients.csv --target il", 2, "Did you mean 'ill'?"),
    "unknown-group": ("seal patients.csv --target ill --group ward", 2, "no column 'ward'"),
    "judge": ("seal patients.csv --target ill --judge harsh", 1, "harsh"),
    "share": ("seal patients.csv --target ill --test 1.5", 2, "between 0 and 1"),
    "budget": ("seal patients.csv --target ill --budget 0", 2, "evaluations, at least 1"),
    "no-file": ("seal nothing.csv --target ill", 2, "nothing.csv"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_sealed_is_refused_with_the_next_command(likely, table, case):
    words, code, says = REFUSED[case]
    outcome = likely(*words.split(), "--json").json
    assert outcome["exit"] == code
    assert says in outcome["findings"][0]
    assert outcome["next"].startswith("likely ")
    assert list(table.parent.glob("*.seal")) == []


def test_a_seal_is_made_once(likely, sealed):
    outcome = likely("seal", "patients.csv", "--target", "ill")
    assert outcome.exit == 2
    assert "exists already (0 of 1 evaluation used)" in " ".join(outcome.err.split())


def test_a_seal_is_not_sealed_again(likely, sealed):
    assert likely("seal", "patients.seal").exit == 2


def test_sealing_the_same_rows_again_names_the_earlier_seal_and_its_looks(likely, sealed):
    outcome = likely("seal", "patients.csv", "--target", "ill", "-o", "second.seal")
    assert outcome.exit == 0
    said = " ".join(outcome.out.split())
    assert "The same table was sealed before: patients.seal, 0 of 1 evaluation used." in said


@pytest.mark.parametrize(
    "words",
    ["train patients.csv naive-bayes --target ill", "tune patients.csv logistic --target ill"],
)
def test_a_fit_on_the_file_that_was_sealed_exits_3_and_is_remembered(likely, sealed, words):
    outcome = likely(*words.split())
    assert outcome.exit == 3
    assert "holds 40 of the 40 sealed rows of patients.seal" in " ".join(outcome.err.split())
    assert "Next: likely compare patients.seal" in outcome.err
    assert not (sealed.parent / "runs").exists()
    event = json.loads((sealed / "ledger.jsonl").read_text().splitlines()[-1])
    assert (event["event"], event["command"], event["data"]) == (
        "refused",
        words.split()[0],
        "patients.csv",
    )


def test_a_copy_of_the_sealed_rows_elsewhere_in_a_file_is_found(likely, sealed, table):
    header, *rows = table.read_text().splitlines()
    mixed = [header, *reversed(rows[::2])]
    (table.parent / "other.csv").write_text("\n".join(mixed) + "\n")
    assert likely("train", "other.csv", "naive-bayes", "--target", "ill").exit == 3


def test_predictions_for_sealed_rows_go_on_and_are_logged(likely, sealed):
    assert likely("train", "patients.seal", "naive-bayes").exit == 0
    outcome = likely("predict", "@last", "patients.csv", "-o", "out.csv")
    assert outcome.exit == 0
    assert "recorded in the ledger" in " ".join(outcome.err.split())
    event = json.loads((sealed / "ledger.jsonl").read_text().splitlines()[-1])
    assert (event["event"], event["rows"]) == ("predict", 40)
    assert likely("ledger", "verify", "patients.seal").exit == 0


def test_a_seal_whose_training_rows_were_changed_is_refused(likely, sealed):
    path = sealed / "train.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    outcome = likely("train", "patients.seal", "naive-bayes")
    assert outcome.exit == 4
    assert "was changed after sealing" in " ".join(outcome.err.split())
    assert outcome.err.splitlines()[-1] == "Next: likely ledger verify patients.seal"
    assert not (sealed.parent / "runs").exists()


def test_another_target_than_the_sealed_one_is_refused(likely, sealed):
    outcome = likely("train", "patients.seal", "linear", "--target", "age")
    assert outcome.exit == 2
    assert "seals the target 'ill'" in " ".join(outcome.err.split())
