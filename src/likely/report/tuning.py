"""What a search over settings tried, and what it would give on rows that took no part in it."""

from collections.abc import Mapping
from typing import Any

from likely.evaluate.metrics import METRICS
from likely.report.run_files import RunFacts
from likely.report.section import Block, LeftOut, Remark, Section, Table, Text
from likely.report.wording import count, interval, number, with_interval

TITLE = "Tuning"
MOST_TRIALS = 10


def tuning(facts: RunFacts) -> Section | LeftOut:
    study = facts.study
    if study is None:
        return LeftOut(TITLE, "no settings were searched; likely tune DATA MODEL does so")
    metric = METRICS[study["metric"]].title if study["metric"] in METRICS else study["metric"]
    scored = [trial for trial in study["trials"] if trial.get("mean") is not None]
    sign = 1 if study["better"] == "lower" else -1
    scored.sort(key=lambda trial: sign * trial["mean"])
    said = (
        f"{count(len(study['trials']), 'trial')} of {study['model']} by {study['search']} search; "
        f"{metric}, {study['better']} is better; best constant {number(study.get('constant'))}."
    )
    rows = tuple(
        (
            _settings(trial["parameters"]),
            number(trial["mean"]),
            interval(trial.get("low"), trial.get("high")),
        )
        for trial in scored[:MOST_TRIALS]
    )
    blocks: list[Block] = [Text(said), _nested(study)]
    head = ("settings", metric, "95 % interval")
    left = len(scored) - MOST_TRIALS
    more = f"{count(left, 'more trial')}" if left > 0 else ""
    blocks.append(Table(head, rows, marked=frozenset({0}), more=more))
    return Section("tuning", TITLE, tuple(blocks))


def _nested(study: Mapping[str, Any]) -> Remark:
    nested = study.get("nested")
    if not nested:
        text = "The best of many scores is the luckiest of them: expect a little less than it says."
        return Remark(text, tone="note")
    told = with_interval(nested["value"], nested["low"], nested["high"])
    return Remark(f"On rows that took no part in the choice (nested): {told}.", tone="good")


def _settings(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={_value(value)}" for key, value in parameters.items()) or "as it comes"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
