"""A ledger that is not as it was written: the verdict begins with it, and nothing is green."""

import json
import shutil

import pytest

from likely.cli.main import run
from likely.reports.page import report_of
from likely.reports.section import Gallery, Remark, Section
from likely.reports.sections.question import with_warning
from likely.reports.sections.verdict import overview
from likely.runs import read_run


@pytest.fixture
def broken(whole, tmp_path, monkeypatch):
    """The whole run, with another year in the first line of its ledger."""
    folder = shutil.copytree(whole.parent.parent, tmp_path / "work")
    monkeypatch.chdir(folder)
    facts = json.loads((folder / "runs" / whole.name / "run.json").read_text())
    facts["seal"]["path"] = "churn.seal"
    (folder / "runs" / whole.name / "run.json").write_text(json.dumps(facts))
    ledger = folder / "churn.seal" / "ledger.jsonl"
    first, rest = ledger.read_text().split("\n", 1)
    ledger.write_text(first.replace('"time":"2', '"time":"1') + "\n" + rest)
    return folder / "runs" / whole.name


def remarks(blocks):
    for block in blocks:
        if isinstance(block, Gallery):
            yield from remarks(block.blocks)
        elif isinstance(block, Remark):
            yield block


@pytest.mark.long
def test_the_verdict_begins_with_a_stop_and_is_not_green(broken):
    (part,) = report_of([read_run(broken)]).parts
    first, *others = remarks(part.sections[0].blocks)
    assert part.sections[0].key == "verdict"
    assert (first.badge, first.tone) == ("ledger changed", "stop")
    assert "The ledger of churn.seal was changed" in first.text
    assert others
    assert {each.tone for each in others} == {"stop"}


def test_a_sound_ledger_has_its_verdict_alone(whole):
    told = report_of([read_run(whole)])
    assert told.warnings == ()
    assert "ledger changed" not in told.html
    assert "stop" not in {each.tone for each in remarks(told.parts[0].sections[0].blocks)}


def test_what_was_green_is_not():
    good = Remark("better", tone="good")
    doubted = with_warning(Section("verdict", "Result", (Gallery((good,)), good)), "broken")
    assert [each.tone for each in remarks(doubted.blocks)] == ["stop"] * 3


def test_the_terminal_says_it_and_names_the_check(broken, capsys):
    assert run(["report", str(broken), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert "The ledger of churn.seal was changed" in said["findings"][0]
    assert said["next"] == "likely ledger verify churn.seal"


def test_the_table_of_runs_says_which_ledger_is_broken(broken, whole):
    bad, good = overview([read_run(broken), read_run(whole)]).rows
    assert bad[3].endswith("; ledger changed")
    assert "changed" not in good[3]
