"""``likely explain``: the evidence of a column, and what is shown of it."""

import numpy as np
import pytest

import likely as lk


def test_evidence_is_the_expected_log_odds():
    """Two unit Gaussians at distance d: E[log p(x|0)/p(x|1)] over x ~ N(m₀, 1) is d²/2."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 4000)
    X = np.column_stack([rng.normal(3.0 * y), rng.normal(size=8000)])
    model = lk.NaiveBayes().fit(X, y)
    first, second = model.describe().tables[0].to_json()
    assert (first["column"], second["column"]) == ("x0", "x1")
    np.testing.assert_allclose(list(first["evidence"].values()), [4.5, 4.5], rtol=0.15)  # 500 draws
    np.testing.assert_allclose(list(second["evidence"].values()), [0, 0], atol=0.05)


@pytest.mark.parametrize(
    ("event", "shows"),
    [("bernoulli", "share of true"), ("multinomial", "share of all"), ("complement", "weights")],
)
def test_every_event_model_of_counts_is_explained(event, shows):
    X = np.tile([[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0]], (5, 1))
    model = lk.NaiveBayes(event=event).fit(X, np.tile([1, 1, 0, 0], 5))
    told = model.describe()
    assert shows in str(told)
    assert told.to_json()["columns"][0]["column"] == "x0"


@pytest.mark.parametrize("covariance", ["tied", "full", "diagonal", "spherical"])
def test_every_covariance_of_a_discriminant_is_explained(covariance):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.repeat([0, 1], 30)
    X[30:, 1] += 4
    model = lk.DiscriminantAnalysis(covariance=covariance).fit(X, y)
    told = model.describe()
    assert told.to_json()["columns"][0]["column"] == "x1"
    assert ("weights" in told.to_json()) == (covariance == "tied")
    assert f"{model.means_[1, 1]:.3g} ±" in str(told)


def test_many_classes_are_told_one_by_one(likely):
    likely("train", "digits", "naive-bayes", "--set", "event=poisson")
    outcome = likely("explain", "@last")
    assert "10 classes, 64 columns" in outcome.out
    assert max(len(line) for line in outcome.out.splitlines()) <= 100


def test_top_limits_the_columns_that_are_shown(likely):
    likely("train", "wine", "naive-bayes")
    said = likely("explain", "@last", "--top", "2").out
    assert "proline" in said
    assert "malic_acid" not in said
    assert "11 more columns" in said
    assert len(likely("explain", "@last", "--json").json["result"]["columns"]) == 13


def test_bins_are_shown_as_intervals(likely):
    likely("train", "iris", "naive-bayes", "--set", "discretize=entropy")
    assert "< 2.45" in likely("explain", "@last").out  # where setosa ends


def test_top_limits_the_terms_of_a_summary_to_those_furthest_from_0(likely):
    likely("train", "diabetes", "linear")
    terms = likely("explain", "@last", "--json").json["result"]["terms"]
    best = sorted(terms, key=lambda each: -abs(each["t"]))  # Student
    said = likely("explain", "@last", "--top", "3").out
    for each in best[:3]:
        assert f"\n{each['term']} " in said
    for each in best[3:]:
        assert f"\n{each['term']} " not in said
    assert "8 more terms (--top 11 shows all)" in said
    assert "log-likelihood" in said
    assert "more term" not in likely("explain", "@last", "--top", "11").out


def test_top_must_be_a_number_above_0(likely):
    likely("train", "iris", "naive-bayes")
    assert likely("explain", "@last", "--top", "0").exit == 1


def test_a_term_that_a_penalty_holds_at_0_comes_last_without_errors(likely):
    likely("train", "diabetes", "linear", "--set", "l1=5000")
    terms = likely("explain", "@last", "--json").json["result"]["terms"]
    held = [each["term"] for each in terms if each["se"] is None]
    assert held
    said = likely("explain", "@last", "--top", str(len(terms) - 1))
    assert said.exit == 0
    assert "–" in said.out
    few = likely("explain", "@last", "--top", str(len(terms) - len(held))).out
    assert not any(f"\n{name} " in few for name in held)


def test_preparations_are_told_whole_in_as_many_lines_as_they_need(likely, tmp_path, table):
    """Nothing ends in '…', for --top shows more columns and not more words."""
    lk.seal(str(table), "ill", folder=table.parent, name="patients")
    likely("train", "patients.seal", "logistic")
    said = likely("explain", "@last").out.partition("preparation")[2]
    assert "…" not in said
    run = lk.load(tmp_path / "runs/001-logistic/model.likely")
    told = " ".join(said.split())
    for _, what in run.steps_:
        assert what in told


def test_a_network_calls_the_target_by_its_name(likely, table):
    likely("train", table, "bayesian-network", "--target", "ill")
    said = likely("explain", "@last").out
    edges = said[said.index("Edges of the network") :]
    assert " ill " in edges and " class " not in edges


def test_rows_of_a_table_are_explained(likely):
    likely("train", "wine", "softmax")
    outcome = likely("explain", "@last", "wine", "--row", "5", "--row", "2", "--top", "2")
    assert "row 5: log-odds against 'class_0'; prediction class_0" in outcome.out
    assert outcome.out.index("row 5") < outcome.out.index("row 2")
    assert "proline = 1450" in outcome.out
    assert "11 other columns" in outcome.out
    said = likely("explain", "@last", "wine", "--row", "5", "--json").json["result"]
    (row,) = said["rows"]
    assert (row["row"], row["prediction"], said["quantity"]) == (5, "class_0", "log-odds")
    first = row["groups"][0]
    assert len(first["contributions"]) == 13
    total = first["base"] + sum(first["contributions"].values())
    assert total == pytest.approx(first["total"])


def test_without_a_row_the_first_are_explained(likely):
    likely("train", "diabetes", "linear")
    said = likely("explain", "@last", "diabetes", "--json").json["result"]
    assert [row["row"] for row in said["rows"]] == [0, 1, 2]
    assert all(
        row["prediction"] == pytest.approx(row["groups"][0]["total"]) for row in said["rows"]
    )


def test_a_reference_class_can_be_chosen(likely):
    likely("train", "iris", "naive-bayes")
    out = likely("explain", "@last", "iris", "--against", "virginica").out
    assert "log-odds against 'virginica'" in out
    wrong = likely("explain", "@last", "iris", "--against", "rose")
    assert wrong.exit == 2
    assert "There is no class 'rose'" in wrong.err


def test_a_row_that_does_not_exist_is_refused(likely):
    likely("train", "iris", "naive-bayes")
    outcome = likely("explain", "@last", "iris", "--row", "150")
    assert outcome.exit == 2
    assert "iris has 150 rows, numbered from 0" in outcome.err
    alone = likely("explain", "@last", "--row", "0")
    assert alone.exit == 1
    assert "without DATA" in alone.err


def test_probabilities_stand_below_the_total_of_a_row(likely):
    likely("train", "iris", "naive-bayes")
    said = likely("explain", "@last", "iris", "--row", "60", "--json").json["result"]["rows"][0]
    chances = said["probabilities"]
    assert sum(chances.values()) == pytest.approx(1)
    assert max(chances, key=chances.get) == said["prediction"]
    shown = likely("explain", "@last", "iris", "--row", "60").out
    assert f"probability: {said['prediction']} {max(chances.values()):.3f}" in shown


def test_dates_without_a_time_are_shown_as_days_and_others_whole(likely, tmp_path):
    days = [f"2021-{1 + k // 28:02}-{1 + k % 28:02}" for k in range(84)]
    rows = [f"{day},{day} {k % 2 + 9:02}:30,{k % 3},{k % 2}" for k, day in enumerate(days)]
    (tmp_path / "late.csv").write_text("\n".join(["day,minute,x,y", *rows]) + "\n")
    read = ("--date", "day", "--date", "minute")
    assert likely("train", "late.csv", "logistic", "--target", "y", *read).exit == 0
    said = likely("explain", "@last", "late.csv", "--row", "3").out
    assert "day = 2021-01-04 " in said and "2021-01-04 00:00" not in said
    assert "minute = 2021-01-04 10:30:00" in said
