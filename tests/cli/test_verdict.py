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
    assert trained["better_than_baseline"] is False  # nobody knows
    assert [each["rule"] for each in trained["objections"]] == ["leak"]
    outcome = likely("final", "@last")
    assert "'fee' is suspiciously close to the target (LK401)" in " ".join(outcome.err.split())
    (run,) = (tmp_path / "runs").iterdir()
    found = verdict_of(read_run(run))
    assert found.tone == "warn"
    assert "It is not known whether the model is better" in found.judgement
    assert "suspiciously close" in found.judgement
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


def noise(folder, what):
    """Rows of noise, written five times: as they are, with noise of 1e-6, or with a leak."""
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(size=(120, 3)), 5, axis=0)
    rows += 1e-6 * rng.normal(size=rows.shape) * (what == "near copies")
    y = np.repeat(rng.integers(0, 2, 120), 5)
    lines = [f"{a},{b},{c},{'ny'[k]}" for (a, b, c), k in zip(rows.tolist(), y, strict=True)]
    (folder / "noise.csv").write_text("\n".join(["a,b,c,y", *lines]) + "\n")


NEIGHBOUR = "sklearn.neighbors.KNeighborsClassifier"


def verbs(likely):
    """What each command says of one nearest neighbour, or of a model that has a search space."""
    target = ("noise.csv", "--target", "y")
    given = ("--set", "n_neighbors=1")
    yield likely("compare", *target[:1], NEIGHBOUR, *target[1:], *given)
    yield likely("curve", *target[:1], NEIGHBOUR, *target[1:], *given, "--values", "0.5,1")
    yield likely("tune", *target[:1], "logistic", *target[1:], "--trials", "3")
    yield likely("train", *target[:1], "logistic", *target[1:])
    likely("seal", *target)
    yield likely("train", "noise.seal", "logistic")
    yield likely("final", "@last")


def test_every_command_says_that_rows_are_near_copies_and_none_calls_a_model_better(
    likely, tmp_path
):
    noise(tmp_path, "near copies")
    for outcome in verbs(likely):
        said = " ".join((outcome.out + outcome.err).split())
        assert outcome.exit == 0, said
        assert "equal an earlier row but for small differences" in said
        assert " clearly better" not in said.replace("not clearly better", "")


def test_every_command_says_that_copies_are_kept_together_and_none_calls_a_model_better(
    likely, tmp_path
):
    noise(tmp_path, "copies")
    for outcome in list(verbs(likely))[:-1]:
        said = " ".join((outcome.out + outcome.err).split())
        assert outcome.exit == 0, said
        assert "rows equal an earlier row in all features" in said
        assert " clearly better" not in said.replace("not clearly better", "")


def test_final_counts_different_sealed_rows(likely, tmp_path):
    noise(tmp_path, "copies")
    likely("seal", "noise.csv", "--target", "y")
    likely("train", "noise.seal", "logistic")
    said = " ".join(likely("final", "@last").out.split())
    assert "on 120 sealed rows (24 different rows)" in said


def test_every_command_says_that_a_column_is_nearly_enough_and_calls_the_model_better(
    likely, tmp_path
):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    fee = np.where(rng.random(600) < 0.955, y, 1 - y)
    rows = zip(rng.normal(size=600).tolist(), fee.tolist(), y.tolist(), strict=True)
    lines = [f"{a},{b},{'ny'[k]}" for a, b, k in rows]
    (tmp_path / "noise.csv").write_text("\n".join(["a,fee,y", *lines]) + "\n")
    likely("seal", "noise.csv", "--target", "y")
    compared = likely("compare", "noise.seal", "logistic")
    assert "Best: logistic, clearly better than the baseline" in " ".join(compared.out.split())
    trained = likely("train", "noise.seal", "logistic", "--json").json["result"]["verdict"]
    assert (trained["severity"], trained["better_than_baseline"]) == ("good", True)
    for outcome in (compared, likely("train", "noise.seal", "logistic"), likely("final", "@last")):
        said = " ".join((outcome.out + outcome.err).split())
        assert "'fee' predicts the target nearly alone" in said
    likely("report", "@last")
    page = (tmp_path / "report.html").read_text()
    assert "predicts the target nearly alone (LK405)" in page
    assert "clearly better than the baseline: " in page
