"""What a search over settings tried, and what it would give on rows that took no part in it."""

from collections.abc import Mapping, Sequence
from typing import Any

from likely.metrics import METRICS
from likely.report.section import Block, LeftOut, Remark, Section, Table, Text
from likely.report.wording import beside_each_other, count, from_to, number, setting, with_interval
from likely.runs.facts import RunFacts
from likely.workbench.models import MODELS

TITLE = "Tuning"
MOST_TRIALS = 10


def tuning(facts: RunFacts) -> Section | LeftOut:
    study = facts.study
    if study is None:
        model = str(facts.run.get("model"))
        if model not in MODELS or MODELS[model].space is None:
            return LeftOut(TITLE, "no settings were searched")
        return LeftOut(TITLE, f"no settings were searched; {facts.command('tune', model)} does so")
    metric = METRICS[study["metric"]].title if study["metric"] in METRICS else study["metric"]
    scored = [trial for trial in study["trials"] if trial.get("mean") is not None]
    sign = 1 if study["better"] == "lower" else -1
    scored.sort(key=lambda trial: sign * trial["mean"])
    said = (
        f"{count(len(study['trials']), 'trial')} of {study['model']} by {study['search']} search; "
        f"{metric}, {study['better']} is better; best constant {number(study.get('constant'))}. "
        "Intervals are of the held-out rows alone; those of a comparison also allow for the "
        "training rows that folds share, and are wider."
    )
    names = list(dict.fromkeys(name for trial in scored for name in trial["parameters"]))
    rows = tuple(_row(trial, names) for trial in scored[:MOST_TRIALS])
    blocks: list[Block] = [Text(said), _nested(study)]
    head = ("settings", metric, "95 % interval")
    left = len(scored) - MOST_TRIALS
    more = f"{count(left, 'more trial')}" if left > 0 else ""
    blocks.append(Table(head, rows, marked=frozenset({0}), more=more))
    return Section("tuning", TITLE, tuple(blocks))


def _row(trial: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    mean, low, high = beside_each_other([trial.get(key) for key in ("mean", "low", "high")])
    return _settings(trial["parameters"], names), mean, from_to(low, high)


def _nested(study: Mapping[str, Any]) -> Remark:
    nested = study.get("nested")
    if not nested:
        text = "The best of many scores is the luckiest of them: expect a little less than it says."
        return Remark(text, tone="note")
    told = with_interval(nested["value"], nested["low"], nested["high"])
    return Remark(f"On rows that took no part in the choice (nested): {told}.", tone="good")


def _settings(parameters: Mapping[str, Any], names: Sequence[str]) -> str:
    """In one order for all trials."""
    told = [f"{name}={setting(parameters[name])}" for name in names if name in parameters]
    return ", ".join(told) or "as it comes"
