"""Every verb with standard output full, closed, broken or in a narrow encoding: no traceback."""

import errno
import io
import json
import os
import shutil
import sys
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

import pytest

from likely.cli.main import main, run
from likely.cli.streams import NEAREST, _similar, is_of_output, open_streams
from tests.cli.conftest import patients

VERBS = {
    "look": "look patients.csv",
    "seal": "seal patients.csv --target ill -o other.seal",
    "compare": "compare patients.seal naive-bayes --folds 2",
    "tune": "tune patients.seal discriminant --trials 1 --folds 2",
    "train": "train patients.seal naive-bayes",
    "curve": "curve @last --folds 2",
    "final": "final @last",
    "report": "report @last",
    "predict": "predict @last patients.csv -o made.csv",
    "explain": "explain @last",
    "ledger": "ledger show patients.seal",
    "models": "models naive-bayes",
    "help": "--help",
    "help of a verb": "train --help",
    "no words": "",
    "error": "train nothing.csv naive-bayes",
}


class Said(NamedTuple):
    exit: int
    out: bytes
    err: str


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    (folder / "patients.csv").write_text(patients(80))
    with chdir(folder):
        assert run(["seal", "patients.csv", "--target", "ill"]) == 0
        assert run(["train", "patients.seal", "naive-bayes"]) == 0
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def forked(words, *, out="out", err="err", encoding="utf-8"):
    """``likely`` in a copy of this process, whose standard streams are files; None is closed."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 99
        try:
            _connect(1, out, encoding)
            _connect(2, err, encoding)
            main(words)
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None and not stream.closed:
                    stream.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    read = [Path(name).read_bytes() if Path(name or "").is_file() else b"" for name in (out, err)]
    return Said(code, read[0], read[1].decode(encoding))


def _connect(number, name, encoding):
    setattr(sys, ("stdin", "stdout", "stderr")[number], None)
    os.close(number)
    if name is None:
        return
    found = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    if found != number:
        os.dup2(found, number)
        os.close(found)
    raw = io.FileIO(number, "w", closefd=False)
    stream = io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding)
    setattr(sys, ("stdin", "stdout", "stderr")[number], stream)


@pytest.mark.parametrize("name", VERBS)
def test_an_output_that_is_full_is_said_on_standard_error(place, name):
    said = forked(VERBS[name].split(), out="/dev/full")
    assert said.exit == 2
    assert "Traceback" not in said.err
    if name != "error":
        assert "Standard output cannot be written (No space left on device)." in said.err


@pytest.mark.parametrize("out", ["/dev/full", None])
@pytest.mark.parametrize("n_rows", [80, 3_000])  # in one buffer, and in several
def test_predictions_for_a_full_output_do_not_blame_another_place(place, out, n_rows):
    (place / "new.csv").write_text(patients(n_rows, seed=3))
    said = forked(["predict", "@last", "new.csv"], out=out)
    assert said.exit == 2
    assert "Standard output cannot be written (" in said.err
    assert "TMPDIR" not in said.err and "Traceback" not in said.err


def test_an_error_of_another_file_is_not_taken_for_the_output(place, monkeypatch, capsys):
    def full(*given, **named):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("likely.cli.predict.write_table", full)
    assert run(["predict", "@last", "patients.csv"]) == 2
    assert "TMPDIR" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["final", "look", "train", "help", "error"])
def test_a_closed_output_is_said_on_standard_error(place, name):
    said = forked(VERBS[name].split(), out=None)
    assert said.exit == 2
    assert "Traceback" not in said.err
    assert forked(VERBS[name].split(), out=None, err=None).exit == 2


@pytest.mark.parametrize("out", ["/dev/full", None])
@pytest.mark.parametrize("words", [("final", "@last"), ("final", "@last", "--json")])
def test_final_shows_its_number_whatever_the_output_is(place, out, words):
    said = forked(words, out=out)
    line = json.loads((place / "patients.seal/ledger.jsonl").read_text().splitlines()[-1])
    kept = json.loads((place / "runs/001-naive-bayes/final.json").read_text())
    assert line["event"] == "score"
    assert kept["value"] == line["value"]
    shown = str(line["value"]) if "--json" in words else "sealed rows; evaluation 1 of 1"
    assert shown in " ".join(said.err.split())


def test_final_shows_its_number_if_it_cannot_be_copied_into_the_run(place):
    (place / "runs/001-naive-bayes/final.json").mkdir()
    said = forked(["final", "@last"])
    assert said.exit == 2
    assert "in the ledger, and was counted once: Log loss" in " ".join(said.err.split())


def test_no_file_gets_the_number_of_a_closed_output(place):
    forked(["final", "@last"], out=None, err=None)
    assert run(["ledger", "verify", "patients.seal"]) == 0
    assert run(["report", "@last"]) == 0


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp437"])
@pytest.mark.parametrize("name", ["final", "look", "train", "ledger", "help"])
def test_narrow_encodings_get_similar_letters(place, encoding, name):
    said = forked(VERBS[name].split(), encoding=encoding)
    assert said.exit == 0
    assert said.out.decode(encoding)
    assert "Traceback" not in said.err


def test_json_in_a_narrow_encoding_is_the_same_json(place):
    (place / "städte.csv").write_text(patients(40).replace("Ulm", "Köln…"))
    narrow = forked(["look", "städte.csv", "--json"], encoding="ascii")
    wide = forked(["look", "städte.csv", "--json"])
    assert json.loads(narrow.out) == json.loads(wide.out)
    assert "Köln…".encode() in wide.out or "Köln" not in str(json.loads(wide.out))


def test_an_error_stream_that_is_full_changes_nothing(place):
    said = forked(["ledger", "show", "patients.seal", "-q"], err="/dev/full")
    assert said.exit == 0
    assert b"1 line" in said.out
    assert forked(["train", "nothing.csv", "naive-bayes"], err="/dev/full").exit == 2


def test_a_reader_that_stops_is_no_error(place):
    reading, writing = os.pipe()
    os.close(reading)
    said = forked(["ledger", "show", "patients.seal"], out=f"/dev/fd/{writing}")
    os.close(writing)
    assert said.exit == 0
    assert "Traceback" not in said.err


def test_letters_have_similar_ones():
    assert [_similar(each) for each in "…₁é≥\udcff語"] == ["...", "1", "e", ">=", "\\xff", "?"]
    assert "a₁\udce9".encode("ascii", "replace") == b"a??"


def test_streams_of_a_test_are_left_as_they_are(monkeypatch):
    before = io.StringIO()
    monkeypatch.setattr(sys, "stdout", before)
    monkeypatch.setattr(sys, "stderr", before)
    open_streams()
    assert sys.stdout is before
    assert sys.stderr is before
    assert "F₁".encode("ascii", NEAREST) == b"F1"


def test_only_nameless_files_are_the_output():
    assert is_of_output(OSError(errno.ENOSPC, "full"))
    assert not is_of_output(OSError(errno.ENOSPC, "full", "a file"))
    assert not is_of_output(OSError(errno.ENOMEM, "memory"))
    assert not is_of_output(ValueError())
