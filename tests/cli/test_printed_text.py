"""Text from data cannot control the terminal: names, values, files, labels, messages, JSON."""

import json
import re

import pytest

from likely.cli import table_files
from likely.cli.main import run
from likely.cli.terminal import GlobalOptions, showing_progress
from likely.output.progress import report

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ATTACKS = {
    "title": "a\x1b]0;title\x07",
    "clipboard": "b\x1b]52;c;aGk=\x1b\\",
    "cursor": "c\x1b[1A\x1b[2K",
    "c1": "d\x9b2J",
    "direction": "e\u202egnp",
    "delete": "f\x7f",
}


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A file with such names, categories and labels."""
    monkeypatch.chdir(tmp_path)
    words = list(ATTACKS.values())
    rows = [f"{i % 7},{words[i % 6]},{words[(i // 3) % 2]}" for i in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["n\x1b[2J,w\x9b,y\u202e", *rows]) + "\n")
    return tmp_path / "rows.csv"


@pytest.mark.parametrize(
    "words",
    [
        ["look", "rows.csv", "--target", "y\u202e"],
        ["look", "rows.csv", "--target", "y\u202e", "--json"],
        ["look", "rows.csv", "--target", "no\x1b[2J"],
        ["look", "nowhere\x1b]0;x\x07.csv"],
        ["seal", "rows.csv", "--target", "y\u202e"],
        ["compare", "rows.csv", "constant", "naive-bayes", "--target", "y\u202e"],
        ["train", "rows.csv", "no\x1b[2Jmodel", "--target", "y\u202e"],
        ["predict", "no\x9brun", "rows.csv", "--json"],
    ],
)
def test_no_verb_prints_a_control_character_of_the_data(table, capsys, words):
    run(words)
    printed = capsys.readouterr()
    assert not CONTROL.search(printed.out + printed.err)
    if "--json" in words:
        said = json.loads(printed.out)
        assert said["command"].startswith("likely")
        assert not words[1].startswith("rows") or "y\u202e" in json.dumps(said, ensure_ascii=False)


def test_a_run_trained_on_such_a_table_explains_itself_without_them(table, capsys):
    run(["train", "rows.csv", "naive-bayes", "--target", "y\u202e", "-o", "run"])
    for words in (["explain", "run"], ["explain", "run", "--json"]):
        assert run(words) == 0
    printed = capsys.readouterr()
    assert not CONTROL.search(printed.out + printed.err)


def test_progress_has_none_of_them_and_no_markup(monkeypatch, capsys):
    monkeypatch.setattr("likely.cli.terminal.LINE_EVERY_S", 0.0)
    with showing_progress(GlobalOptions(), "Reading [bold]x\x1b[2J"):
        report("rows", 3, "of \x9bfile")
    said = capsys.readouterr().err
    assert "[bold]x" in said and not CONTROL.search(said)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_table_is_escaped_on_a_terminal_and_kept_in_a_pipe(terminal, monkeypatch, capsys):
    monkeypatch.setattr(table_files.sys.stdout, "isatty", lambda: terminal, raising=False)
    chunk = {"y": [ATTACKS["title"], ATTACKS["c1"], "\x1b[31mred"]}
    assert table_files.write_table("-", ["y"], [chunk]) == (3, None)
    assert bool(CONTROL.search(capsys.readouterr().out)) is not terminal
