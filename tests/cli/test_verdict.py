"""The verdict of ``train``, ``final`` and the report on one table: the same rules and words."""

import numpy as np

from likely.reports.sections.verdict import verdict_of
from likely.runs.folder import read_run


def leaky(folder, n=240):
    """Whether a bill was paid, with a column that was filled in after the outcome."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    paid = x + rng.logistic(size=n) > 0
    fee = np.where(paid, 0.0, 12.0)
    rows = [f"{a:.5f},{b:.5f},{'yes' if c else 'no'}" for a, b, c in zip(x, fee, paid, strict=True)]
    (folder / "bills.csv").write_text("\n".join(["age,fee,paid", *rows]) + "\n")


def test_a_suspected_leak_reaches_train_final_and_the_report(likely, tmp_path):
    leaky(tmp_path)
    likely("seal", "bills.csv", "--target", "paid")
    trained = likely("train", "bills.seal", "naive-bayes", "--json").json["result"]["verdict"]
    assert trained["severity"] == "warn"
    assert trained["better_than_baseline"] is True
    assert [each["rule"] for each in trained["objections"]] == ["leak"]
    outcome = likely("final", "@last")
    assert "'fee' is suspiciously close to the target (LK401)" in " ".join(outcome.err.split())
    (run,) = (tmp_path / "runs").iterdir()
    found = verdict_of(read_run(run))
    assert found.tone == "warn"
    assert "but not everything agrees" in found.judgement
    likely("report", "@last")
    assert "is suspiciously close to the target" in (tmp_path / "report.html").read_text()


def test_a_log_likelihood_is_shown_upwards_by_train_final_and_the_ledger(likely, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    rows = [f"{a:.5f},{a + b:.5f}" for a, b in zip(x, rng.normal(size=200), strict=True)]
    (tmp_path / "line.csv").write_text("\n".join(["x,y", *rows]) + "\n")
    likely("seal", "line.csv", "--target", "y")
    likely("train", "line.seal", "linear")
    outcome = likely("final", "@last")
    assert outcome.out.lstrip().startswith("Log-likelihood per row -1.")
    shown = likely("ledger", "show", "line.seal").out
    assert "log-likelihood per row -1." in " ".join(shown.split())
    assert "negative log-likelihood" not in outcome.out + shown
