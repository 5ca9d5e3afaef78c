"""Comparisons that were kept: nothing that was tried is hidden by what was tried later."""

import json

import pytest

from likely.reports.sections.comparison import comparison
from likely.runs import RunFacts
from likely.storage.json import as_json
from likely.workbench.comparison.comparison import compare
from likely.workbench.comparison.records import joined_comparisons, joined_curves, models_in
from tests.reports.runs_by_hand import churn

MODELS = ("logistic", "naive-bayes", "discriminant")


def compared(*models, **options):
    found = compare(churn(250), "churn", list(models), folds=3, repeats=1, **options)
    return json.loads(as_json(found.facts()))


@pytest.fixture(scope="module")
def whole():
    return compared(*MODELS)


def told(found):
    """Names with tests; the constant is a dash in some."""
    return [
        (each["model"], each["against_best"] and each["against_best"]["p"])
        for each in found["models"]
    ]


def test_parts_joined_are_the_comparison_of_all(whole):
    """Order, best and both paired tests are those of one call with every model."""
    parts = [compared(name) for name in MODELS]
    (found,) = joined_comparisons(parts[:1], parts[1:])
    assert found["best"] == whole["best"]
    assert [name for name, _ in told(found)] == [name for name, _ in told(whole)]
    for ours, theirs in zip(found["models"], whole["models"], strict=True):
        for key in ("against_best", "against_baseline"):
            if theirs[key] is None:
                assert ours[key] is None
            else:
                assert ours[key] == pytest.approx(theirs[key], rel=1e-9)


def test_a_small_comparison_after_a_large_one_hides_nothing(whole):
    (found,) = joined_comparisons([whole], [compared("logistic")])
    assert set(models_in([found])) == set(MODELS)
    section = comparison(RunFacts("run", {}, comparisons=(found,)))
    assert section.blocks[0].text.startswith(
        "3 models were compared with the baseline by likely compare."
    )


def test_the_newest_of_a_model_wins(whole):
    later = compared("logistic")
    entry = next(each for each in later["models"] if each["model"] == "logistic")
    entry.update(value=9.0, folds=[9.0, 9.1, 8.9])
    (found,) = joined_comparisons([whole], [later])
    assert found["models"][-1]["model"] == "logistic"
    assert found["models"][-1]["value"] == 9.0


def test_other_folds_and_other_metrics_are_listed_beside(whole):
    other = compared("logistic", metric="accuracy")
    more = compared("naive-bayes", seed=7)
    found = joined_comparisons([whole], [other, more])
    assert len(found) == 3
    section = comparison(RunFacts("run", {}, comparisons=found))
    said = [block.text for block in section.blocks if block.kind == "heading"]
    assert said == ["By log loss, in 3 folds, seed 7", "By accuracy, in 3 folds", said[-1]]
    assert said[-1] == "By log loss, in 3 folds"
    assert (
        "3 models were compared with the baseline by likely compare, in 3 comparisons"
        in section.blocks[0].text
    )


def test_one_failure_stays_a_failure(whole):
    broken = json.loads(json.dumps(whole))
    entry = next(each for each in broken["models"] if each["model"] == "logistic")
    entry.update(problem="in fold 1: no", value=None, folds=[])
    (found,) = joined_comparisons([broken], [compared("naive-bayes")])
    assert found["models"][-1]["problem"] == "in fold 1: no"
    assert found["best"] != found["models"][-1]["model"]


def test_what_lies_outside_has_an_arrow_and_its_number(whole):
    worse = json.loads(json.dumps(whole))
    worse["models"].append({**worse["models"][0], "model": "bad", "value": 23.25})
    worse["models"][-1]["interval"] = [20.0, 26.0]
    section = comparison(RunFacts("run", {}, comparisons=(worse,)))
    picture = section.blocks[1].blocks[1]
    assert ">23.25</text>" in picture.svg.replace("\n", "")
    assert "An arrow marks a score outside the axis." in picture.caption


def test_an_infinite_score_is_a_dash_that_is_explained(whole):
    odd = json.loads(json.dumps(whole))
    odd["models"][1]["others"]["accuracy"] = None
    section = comparison(RunFacts("run", {}, comparisons=(odd,)))
    table = next(block for block in section.blocks if block.kind == "table")
    assert table.rows[1][3] == "–"
    assert table.caption.startswith(f"– for {odd['models'][1]['model']}: infinite")


def test_only_comparisons_of_the_same_classes_in_the_same_order_are_joined(whole):
    other = {**whole, "classes": whole["classes"][::-1]}
    assert len(joined_comparisons([whole], [other])) == 2
    assert len(joined_comparisons([whole], [other], [whole])) == 2


def test_other_columns_are_compared_in_another_table(whole):
    fewer = compared("naive-bayes", drop=[whole["columns"][0]])
    found = joined_comparisons([whole], [fewer])
    assert [models_in([each]) for each in found][1] == ["naive-bayes"]
    section = comparison(RunFacts("run", {}, comparisons=found))
    said = [block.text for block in section.blocks if block.kind == "heading"]
    dropped = whole["columns"][0]
    assert said == [f"By log loss, in 3 folds, without {dropped}", "By log loss, in 3 folds"]
    (same,) = joined_comparisons([fewer], [compared("logistic", drop=[dropped])])
    assert set(models_in([same])) == {"naive-bayes", "logistic"}


def test_weighted_and_unweighted_rows_are_compared_in_two_tables(whole):
    weighted = {**whole, "roles": {"weight": "times"}}
    assert len(joined_comparisons([whole], [weighted])) == 2
    assert len(joined_comparisons([whole], [weighted], [whole, weighted])) == 2
    curve = {"data": "a.csv", "target": "y", "model": "logistic", "of": "size", "roles": {}}
    found = joined_curves([curve], [{**curve, "roles": {"exposure": "years"}}], [curve])
    assert [each["roles"] for each in found] == [{}, {"exposure": "years"}]


def test_proposed_commands_weigh_rows_as_the_run_did():
    roles = {"weight": "times", "exposure": "days at risk", "clusters": "shop"}
    run = {"data": {"name": "a.csv"}, "target": "y", "group": "shop", "roles": roles}
    facts = RunFacts("run", run)
    words = "a.csv --target y --group shop --weight times --exposure 'days at risk'"
    assert facts.command("compare") == f"likely compare {words}"
    assert facts.command("seal") == f"likely seal {words}"
    assert facts.command("look") == "likely look a.csv --target y"
