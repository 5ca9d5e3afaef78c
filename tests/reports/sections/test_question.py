"""The section on the run: the task and why, and the columns that are not features."""

from dataclasses import replace

import pyarrow as pa
import pytest

from likely.reports.sections.question import question
from likely.runs import RunFacts
from likely.tasks.fits import plain_parameters
from likely.tasks.suitability import task_facts
from likely.workbench.data.task import task_of
from likely.workbench.models.registry import MODELS

TABLE = pa.table({"grade": ["low", "mid", "high"] * 20, "visits": [0, 1, 2, 3] * 15})


def facts_shown(**run):
    section = question(RunFacts("run", {"target": "visits", **run}))
    return dict(section.blocks[0].rows)


@pytest.mark.parametrize(
    ("target", "options", "told"),
    [
        ("grade", {}, ", because the target holds 3 different labels"),
        ("visits", {}, ", because the target holds 4 different whole numbers, each in many rows"),
        ("grade", {"ordered": ["low", "mid", "high"]}, ", because the target's order was given"),
        ("visits", {"kind": "count"}, ""),  # a kind that was given needs no reason
        ("visits", {"kind": "ordinal"}, ""),
    ],
)
def test_a_task_is_shown_with_the_reason_that_was_found(target, options, told):
    task = task_of(TABLE, target, **options)
    shown = facts_shown(target=target, task=task_facts(task))["Task"]
    words, comma, reason = shown.partition(", because")
    assert comma + reason == told
    assert words


def test_weights_offsets_and_exposures_are_named():
    shown = facts_shown(roles={"weight": "w", "exposure": "years"})
    assert shown["Weight"] == "w"
    assert shown["Exposure"] == "years"
    assert "Offset" not in shown
    assert not {"Weight", "Exposure"} & {*facts_shown()}


@pytest.mark.parametrize("name", ["ridge", "logistic-lasso", "frank-hall", "logistic"])
def test_settings_of_a_model_inside_are_shown_only_if_they_were_changed(name):
    task = task_of(TABLE.append_column("y", [[0.5, 1.5, -1.0] * 20]), "y")
    labels = task_of(TABLE, "grade", ordered=["low", "mid", "high"])
    two = task_of(pa.table({"y": ["a", "b"] * 30}), "y")
    by_model = {"ridge": task, "frank-hall": replace(labels, order=None)}
    model = MODELS[name].build(by_model.get(name, two))
    usual = plain_parameters(model)
    assert facts_shown(model=name, parameters=usual)["Model"] == f"{name}, default settings"
    changed = next(key for key in usual if key.endswith("tol"))
    shown = facts_shown(model=name, parameters=usual | {changed: 0.125})["Model"]
    assert shown == f"{name} with {changed}=0.125"
