"""Bad input: each gets a sentence that helps, an exit code, and leaves nothing behind."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

import likely as lk
from likely.tasks import training_run

SOURCE = str(Path(lk.__file__).parents[1])

MALFORMED = "x,y\n" + "1,a\n2,b\n" * 20 + "3,a,oops\n" + "1,a\n2,b\n" * 20

FILES = {
    "good.csv": "age,Income,y\n" + "1,2,a\n2,3,b\n3,5,a\n" * 10,
    "middle.csv": MALFORMED,
    "empty.csv": "",
    "header.csv": "x,y\n",
    "really_csv.parquet": "x,y\n1,a\n",
    "numbers.csv": "x,y\n" + "".join(f"{i},{i + 0.5}\n" for i in range(30)),
    "one_class.csv": "x,y\n" + "1,a\n2,a\n" * 15,
    "inf.csv": "x,y\n" + "1,a\n2,b\n" * 15 + "inf,a\n",
}

REFUSED = [  # (words after likely, exit code, what the message must say)
    ("train good.csv naive-bayes --target yy", 2, "Did you mean 'y'"),
    ("train good.csv naive-bayes --target income", 2, "Did you mean 'Income'"),
    ("train good.csv naive-bayes", 2, "No target was given"),
    ("train really_csv.parquet naive-bayes --target y", 2, "not a complete Parquet file"),
    ("train middle.csv naive-bayes --target y", 2, "line 42"),
    ("train empty.csv naive-bayes --target y", 2, "the file is empty"),
    ("train header.csv naive-bayes --target y", 2, "no row"),
    ("train godo.csv naive-bayes --target y", 2, "Did you mean 'good.csv'"),
    ("train irsi naive-bayes", 2, "Did you mean 'iris'"),
    ("train numbers.csv naive-bayes --target y", 2, "measurements"),
    ("train diabetes naive-bayes", 2, "measurements"),
    ("train one_class.csv discriminant --target y", 2, "one class"),
    ("train inf.csv naive-bayes --target y", 2, "inf"),
    ("train good.csv discriminant --target y --set covariance=tide", 2, "Did you mean 'tied'"),
    ("train good.csv naive-byes --target y", 1, "Did you mean 'naive-bayes'"),
    ("train good.csv naive-bayes --target y --set smoothin=1", 1, "Did you mean 'smoothing'"),
    ("train good.csv naive-bayes --target y --set smoothing", 1, "name=value"),
    ("train good.csv naive-bayes --target y --set tol=1 --set tol=2", 1, "twice"),
    ("train good.csv", 1, "MODEL"),
    ("trian good.csv", 1, "Did you mean 'train'"),
    ("train good.csv naive-bayes --targe y", 1, "--target"),
    ("train good.csv naive-bayes --seed many", 1, "many"),
    ("predict @last good.csv -o out.csv", 2, "no run"),
    ("predict runs/007-x good.csv -o out.csv", 2, "There is no run"),
    ("explain good.csv", 2, "good.csv"),
    ("models naive", 1, "Did you mean 'naive-bayes'"),
]


@pytest.fixture
def files(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(("words", "code", "says"), REFUSED, ids=[words for words, *_ in REFUSED])
def test_bad_input_is_refused_with_advice(likely, files, words, code, says):
    before = sorted(os.listdir(files))
    outcome = likely(*words.split())
    told = " ".join(outcome.err.split())
    assert outcome.exit == code, told
    assert says in told
    assert outcome.err.rstrip().splitlines()[-1].startswith("Next: likely")
    assert outcome.out == ""
    assert sorted(os.listdir(files)) == before  # nothing half-written
    in_json = likely(*words.split(), "--json")
    assert in_json.json["exit"] == in_json.exit == code
    assert in_json.json["result"] is None
    assert says in in_json.json["findings"][0]


def test_a_wrong_target_is_mended_in_the_next_command(likely, files):
    outcome = likely("train", "good.csv", "naive-bayes", "--target", "income", "--json")
    assert outcome.json["next"] == "likely train good.csv naive-bayes --target Income --json"


def test_a_renamed_column_is_named_at_prediction(likely, files):
    likely("train", "good.csv", "naive-bayes", "--target", "y")
    (files / "new.csv").write_text("Age,Income\n1,2\n")
    outcome = likely("predict", "@last", "new.csv", "-o", "out.csv")
    assert outcome.exit == 2
    assert "no column 'age'" in outcome.err
    assert "renamed to 'Age'" in outcome.err
    assert not (files / "out.csv").exists()


def test_text_where_numbers_were_is_refused_at_prediction(likely, files):
    likely("train", "good.csv", "naive-bayes", "--target", "y")
    (files / "new.csv").write_text("age,Income\nold,2\n")
    outcome = likely("predict", "@last", "new.csv", "-o", "out.csv")
    assert outcome.exit == 2
    assert "must hold numbers" in " ".join(outcome.err.split())
    assert sorted(p.name for p in files.iterdir() if "out" in p.name) == []


def test_an_unknown_output_suffix_is_refused(likely, files):
    likely("train", "good.csv", "naive-bayes", "--target", "y")
    outcome = likely("predict", "@last", "good.csv", "-o", "out.xlsx")
    assert outcome.exit == 1
    assert ".parquet" in outcome.err


def test_an_output_folder_that_cannot_be_written_is_refused(likely, files):
    (files / "file").write_text("not a folder")
    outcome = likely("train", "good.csv", "naive-bayes", "--target", "y", "-o", "file/run")
    assert outcome.exit == 2
    assert "cannot be written" in outcome.err
    likely("train", "good.csv", "naive-bayes", "--target", "y")
    outcome = likely("predict", "@last", "good.csv", "-o", "no/such/folder/out.csv")
    assert outcome.exit == 2
    assert "cannot be written" in outcome.err


def test_a_run_is_not_overwritten(likely, files):
    words = ("train", "good.csv", "naive-bayes", "--target", "y", "-o", "mine")
    assert likely(*words).exit == 0
    before = (files / "mine/run.json").read_bytes()
    outcome = likely(*words)
    assert outcome.exit == 2
    assert "exists" in outcome.err
    assert (files / "mine/run.json").read_bytes() == before


def test_a_tampered_model_is_refused(likely, files):
    likely("train", "good.csv", "naive-bayes", "--target", "y")
    path = files / "runs/001-naive-bayes/model.likely"
    path.write_bytes(path.read_bytes()[:-3] + b"abc")
    assert likely("predict", "@last", "good.csv").exit == 2


def test_our_own_bug_leaves_a_traceback(likely, monkeypatch, files):
    def broken(*_):
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(training_run, "train_on", broken)
    outcome = likely("train", "good.csv", "naive-bayes", "--target", "y", "--json")
    assert outcome.exit == 70
    (said,) = outcome.json["findings"]
    assert "a wheel came off" in said
    path = Path(said.partition("traceback is in ")[2].partition(";")[0])
    assert "RuntimeError" in path.read_text()
    path.unlink()
    assert not (files / "runs").exists()


def test_an_interrupt_inside_the_work_leaves_nothing(likely, monkeypatch, files):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(training_run, "train_on", interrupted)
    outcome = likely("train", "good.csv", "naive-bayes", "--target", "y")
    assert outcome.exit == 130
    assert "Next: likely train good.csv" in outcome.err
    assert not (files / "runs").exists()


def unread(pipe):
    """The bytes in a pipe that its other end has not read."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.long
def test_ctrl_c_stops_a_process_with_130(files):
    """The process waits for the rest of its standard input, which is never written."""
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    command = "from likely.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", command, "train", "-", "naive-bayes", "--json"],
        cwd=files,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(b"x,y\n")
    process.stdin.flush()
    while unread(process.stdin) and process.poll() is None:  # pytest ends what takes too long
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=240)
    assert process.returncode == 130
    assert json.loads(out)["exit"] == 130
    assert not (files / "runs").exists()


def test_a_seal_in_place_of_a_run_is_named_and_no_run_is_suggested_that_is_not_there(likely, files):
    likely("seal", "iris")
    for command in ("report", "explain"):
        outcome = likely(command, "iris.seal")
        assert "iris.seal is a SEAL; a RUN was expected" in " ".join(outcome.err.split())
        assert outcome.err.rstrip().endswith("Next: likely compare iris.seal")
    missing = likely("report", "runs/001-x")
    assert "@last" not in missing.err
    assert missing.err.rstrip().endswith("Next: likely compare iris.seal")
    likely("train", "iris.seal", "naive-bayes")
    assert likely("report", "nothing").err.rstrip().endswith("Next: likely explain @last")
