"""Comparisons stay: beside the seal, or in the newest run on the same data."""

import json

import pytest

import likely as lk
from likely.errors import InvalidInput

QUICK = ("--folds", "3", "--repeats", "1")


@pytest.fixture
def seal(table):
    return lk.seal(str(table), "ill", folder=table.parent, name="patients").path


def kept(folder):
    return json.loads((folder / "comparison.json").read_text())


def names(found):
    return {each["model"] for each in found["models"]}


def test_a_later_comparison_does_not_replace_an_earlier_one(likely, seal, tmp_path):
    likely("compare", seal, "logistic", "naive-bayes", "discriminant", *QUICK)
    after = likely("compare", seal, "logistic", *QUICK)
    (found,) = kept(seal)
    assert names(found) == {"logistic", "naive-bayes", "discriminant", "constant"}
    told = " ".join(after.out.split())
    assert "together with earlier results of" in told
    assert "naive-bayes" in told.partition("Saved for the report in")[2]
    likely("train", seal, "logistic")
    assert likely("report", "@last").exit == 0
    page = (tmp_path / "report.html").read_text()
    assert "3 models were compared with the baseline by likely compare" in page
    assert page.count(">discriminant</th>") == 1


def test_another_metric_is_another_table(likely, seal):
    likely("compare", seal, "logistic", *QUICK)
    likely("compare", seal, "naive-bayes", "--metric", "accuracy", *QUICK)
    assert [found["metric"] for found in kept(seal)] == ["log-loss", "accuracy"]


def test_a_comparison_after_training_is_in_the_report_too(likely, seal, tmp_path):
    likely("compare", seal, "logistic", *QUICK)
    likely("train", seal, "logistic")
    likely("compare", seal, "naive-bayes", *QUICK)
    likely("report", "@last")
    assert ">naive-bayes</th>" in (tmp_path / "report.html").read_text()


def test_of_plain_data_it_is_kept_in_the_newest_run_on_them(likely, table, tmp_path):
    words = ("compare", table, "logistic", "--target", "ill", *QUICK)
    alone = likely(*words)
    assert "Not saved for the report, because there is no RUN on these data" in " ".join(
        alone.out.split()
    )
    assert not (tmp_path / "runs").exists()
    likely("train", table, "naive-bayes", "--target", "ill")
    likely("train", table, "naive-bayes", "--target", "city")
    said = likely(*words)
    assert "Saved for the report in runs/001-naive-bayes/comparison.json" in " ".join(
        said.out.split()
    )
    assert likely("report", "runs/001-naive-bayes").exit == 0
    assert (
        "1 model was compared with the baseline by likely compare"
        in (tmp_path / "report.html").read_text()
    )


def test_the_report_of_a_later_run_has_the_comparison_beside_an_earlier_one(
    likely, table, tmp_path
):
    compared = "1 model was compared with the baseline by likely compare"
    likely("train", table, "naive-bayes", "--target", "ill")
    likely("compare", table, "logistic", "--target", "ill", *QUICK)
    likely("train", table, "logistic", "--target", "ill")
    likely("train", table, "naive-bayes", "--target", "city")
    for run, found in (("002-logistic", True), ("003-naive-bayes", False)):
        assert likely("report", f"runs/{run}").exit == 0
        assert (compared in (tmp_path / "report.html").read_text()) == found
    (tmp_path / "runs/001-naive-bayes/comparison.json").write_text("{")  # damaged
    told = likely("report", "runs/002-logistic")
    assert told.exit == 0 and "Comparison (none was saved" in " ".join(told.out.split())


def test_a_seal_that_cannot_be_written_to_is_compared_on_all_the_same(likely, seal, monkeypatch):
    from likely.errors import CannotWrite

    def full(path, content):
        raise CannotWrite(path, OSError(28, "No space left on device"))

    monkeypatch.setattr("likely.storage.json.write_atomically", full)
    said = likely("compare", seal, "logistic", *QUICK)
    assert said.exit == 0
    assert "Not saved for the report, because the SEAL is read-only" in " ".join(said.out.split())


def test_a_run_whose_search_is_unfinished_says_so_and_how_to_go_on(likely, seal, tmp_path):
    likely("tune", seal, "logistic", "--trials", "2", "--folds", "2")
    run = tmp_path / "runs/001-logistic"
    (run / "model.likely").unlink()  # as after a kill before the end
    for verb in ("explain", "report", "final"):
        refused = likely(verb, "runs/001-logistic", "--json").json
        assert refused["exit"] == 2
        assert "The search in runs/001-logistic is not finished" in refused["findings"][0]
        assert "Did you mean" not in refused["findings"][0]
    going_on = refused["next"]
    assert going_on.endswith("--trials 2 --folds 2 -o runs/001-logistic")
    assert likely(*going_on.split()[1:]).exit == 0
    assert likely("explain", "runs/001-logistic").exit == 0


def test_a_comparison_made_in_python_is_kept_beside_the_seal_as_that_of_the_shell_is(
    likely, seal, tmp_path
):
    likely("compare", seal, "logistic", *QUICK)
    options = {"folds": 3, "repeats": 1}
    found = lk.compare(lk.open_seal(seal), models=["naive-bayes"], **options)
    assert found.kept == (seal / "comparison.json",)
    assert [names(each) for each in kept(seal)] == [{"logistic", "naive-bayes", "constant"}]
    by_path = lk.compare(str(seal), models=["discriminant"], **options)
    assert by_path.kept == found.kept
    assert [len(names(each)) for each in kept(seal)] == [4]
    likely("train", seal, "logistic")
    likely("report", "@last")
    assert ">discriminant</th>" in (tmp_path / "report.html").read_text()


def test_without_a_seal_python_writes_nothing_unless_it_is_asked_to(likely, table, tmp_path):
    before = set(tmp_path.rglob("*"))
    found = lk.compare(str(table), "ill", ["naive-bayes"], folds=3, repeats=1)
    assert found.kept == ()
    assert set(tmp_path.rglob("*")) == before
    likely("train", table, "logistic", "--target", "ill")
    run = tmp_path / "runs" / "001-logistic"
    assert found.keep(run) == run / "comparison.json"
    likely("report", "@last")
    assert ">naive-bayes</th>" in (tmp_path / "report.html").read_text()
    with pytest.raises(InvalidInput, match="is not a folder; that of a SEAL or a RUN"):
        found.keep(tmp_path / "nowhere")


def test_a_seal_that_cannot_be_written_to_does_not_hinder_a_comparison(seal, monkeypatch):
    monkeypatch.setattr("likely.workbench.comparison.comparison.keep_comparison", lambda *_: ())
    assert lk.compare(str(seal), models=["naive-bayes"], folds=2, repeats=1).kept == ()
