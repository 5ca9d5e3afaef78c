"""The names of the files of a RUN are spelled in one place."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import likely
from likely.errors import InvalidFile, InvalidInput
from likely.reports.page import report_of
from likely.runs import folder, read_run
from likely.storage.values import MODEL_FILE
from likely.workbench.comparison import records
from tests.reports.runs_by_hand import rewritten

SOURCE = Path(likely.__file__).parent
NAMES = {
    MODEL_FILE,
    folder.FACTS,
    folder.LOOK,
    folder.FINAL,
    folder.STUDY,
    folder.COMMAND,
    folder.VALIDATION,
    folder.VALIDATION_FACTS,
    folder.EFFECTS,
    records.COMPARISONS,
    records.CURVES,
}
ELSEWHERE = {
    ("storage/values.py", MODEL_FILE),  # save and load know it, and no RUN
    ("workbench/comparison/records.py", records.COMPARISONS),  # of a SEAL, too
    ("workbench/comparison/records.py", records.CURVES),
    ("workbench/search/trials.py", folder.STUDY),  # a study, of a RUN or not, has its own
}
LITERAL = re.compile(r"""["']([^"'\n]*)["']""")


def spelled(path):
    """The names of files in the literals of a module, without its docstrings."""
    text = re.sub(r'""".*?"""', "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {name for literal in LITERAL.findall(text) for name in NAMES if name in literal}


def test_no_other_module_spells_the_name_of_a_file_of_a_run():
    found = {
        (path.relative_to(SOURCE).as_posix(), name)
        for path in SOURCE.rglob("*.py")
        if path.parent.name != "runs"
        for name in spelled(path)
    }
    assert found == ELSEWHERE


def test_each_name_is_spelled_once_inside():
    found = [name for path in (SOURCE / "runs").glob("*.py") for name in spelled(path)]
    assert sorted(found) == sorted(NAMES - {MODEL_FILE, records.COMPARISONS, records.CURVES})


def test_what_is_absent_is_none(whole, tmp_path):
    shutil.copy(whole / "run.json", tmp_path)
    facts = read_run(tmp_path)
    assert (facts.look, facts.study) == (None, None)
    assert facts.final is None  # there is no model that the ledger could know
    assert facts.comparisons == ()
    assert facts.validation is None
    assert facts.curves == ()


def test_a_folder_without_run_json_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"has no run\.json.*likely train"):
        read_run(tmp_path)


@pytest.mark.parametrize("file", ["run.json", "look.json", "final.json", "study.json"])
def test_a_file_that_holds_no_object_is_named(copied, file):
    (copied / file).write_text("[1]")
    with pytest.raises(InvalidFile, match=r"a JSON object was expected"):
        read_run(copied)


@pytest.mark.parametrize("file", ["look.json", "final.json", "validation.json"])
def test_a_broken_file_is_named(copied, file):
    (copied / file).write_text("{")
    with pytest.raises(InvalidFile, match=r"Remove it, or"):
        read_run(copied)


def test_a_cut_parquet_file_is_named(copied):
    path = copied / "validation.parquet"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InvalidFile, match=r"validation\.parquet"):
        read_run(copied)


def test_the_ledger_is_read_where_the_seal_is(whole):
    facts = read_run(whole)
    assert facts.ledger.sound
    assert facts.ledger.evaluations == 1
    assert [entry["event"] for entry in facts.ledger.entries] == ["sealed", "commit", "score"]


def test_a_ledger_with_a_flipped_byte_is_reported_broken(whole, tmp_path):
    folder = shutil.copytree(whole.parent.parent, tmp_path / "all")
    run = folder / "runs" / whole.name
    rewritten(run, "run.json", lambda f: f["seal"].update(path=str(folder / "churn.seal")))
    ledger = folder / "churn.seal" / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"evaluation":1', b'"evaluation":2', 1))
    html = report_of([read_run(run)]).html
    assert "no line was changed" not in html
    assert "unknown, because the ledger was changed" in html


@pytest.mark.long
def test_a_ledger_that_is_not_the_one_the_run_saw_shows(copied, whole):
    rewritten(copied, "run.json", lambda f: f["seal"].update(count=9))
    assert (
        "The ledger had 9 lines when the run was trained, and now has 3."
        in report_of([read_run(copied)]).html
    )
    rewritten(copied, "run.json", lambda f: f["seal"].update(count=2, head="0" * 64))
    assert "was changed after the run was trained" in report_of([read_run(copied)]).html


def test_a_seal_that_is_gone_leaves_the_head(copied):
    rewritten(copied, "run.json", lambda f: f["seal"].update(path="elsewhere.seal"))
    head = json.loads((copied / "run.json").read_text())["seal"]["head"]
    html = report_of([read_run(copied)]).html
    assert head in html
    assert "elsewhere.seal was not found" in html
    assert "no rows were sealed" not in html
    assert "0 of 1 when this run was made" in html


def test_looks_beyond_the_budget_are_said(copied):
    facts = read_run(copied)
    html = report_of([replace(facts, final={**facts.final, "evaluation": 3})]).html
    assert "evaluation 3, beyond the budget of 1" in html


def test_validation_comes_back_as_it_was_written(whole):
    held = read_run(whole).validation
    assert held.labels == ("no", "yes")
    assert np.array_equal(held.row, np.arange(560))
    assert set(held.fold.tolist()) == set(range(5))
    np.testing.assert_allclose(np.exp(held.prediction.log_p).sum(axis=1), 1, atol=1e-12)
