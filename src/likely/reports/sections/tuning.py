"""The settings that a search tried, and the nested score of the search."""

from collections.abc import Mapping, Sequence
from typing import Any

from likely.formatting import count, estimate, estimate_cells, number, setting
from likely.metrics.score import title_of
from likely.reports.section import Block, LeftOut, Remark, Section, TableBlock, Text
from likely.runs.folder import RunFacts
from likely.workbench.models.registry import MODELS

TITLE = "Tuning"
MOST_TRIALS = 10


def tuning(facts: RunFacts) -> Section | LeftOut:
    study = facts.study
    if study is None:
        model = str(facts.run.get("model"))
        if model not in MODELS or MODELS[model].space is None:
            return LeftOut(TITLE, "no settings were searched")
        return LeftOut(TITLE, f"no settings were searched; run {facts.command('tune', model)}")
    metric = title_of(study["metric"])
    beside = study.get("beside")  # the default settings, where a grid does not hold them
    tried = [*study["trials"], *([beside] if beside else [])]
    scored = [trial for trial in tried if trial.get("value") is not None]
    sign = 1 if study["better"] == "lower" else -1
    chosen = study.get("best", {}).get("number")
    scored.sort(key=lambda trial: (trial.get("number") != chosen, sign * trial["value"]))
    opening = (
        f"{count(len(study['trials']), 'trial')} of {study['model']} by {study['search']} search; "
        f"{metric}, {study['better']} is better.{_stopped(study)} Baseline (constant): "
        f"{number(study.get('baseline'))}. Intervals are for the held-out rows."
    )
    names = list(dict.fromkeys(name for trial in scored for name in trial["parameters"]))
    rows = tuple(_row(trial, names) for trial in scored[:MOST_TRIALS])
    choice = (study.get("choice") or {}).get("text")
    blocks: list[Block] = [Text(opening), *([Text(choice)] if choice else []), _nested(study)]
    head = ("settings", metric, "95 % interval")
    left = len(scored) - MOST_TRIALS
    more = f"{count(left, 'more trial')}" if left > 0 else ""
    blocks.append(TableBlock(head, rows, marked=frozenset({0}), more=more))
    return Section("tuning", TITLE, tuple(blocks))


def _stopped(study: Mapping[str, Any]) -> str:
    """How many trials were not finished."""
    n = sum(bool(trial.get("stopped")) for trial in study["trials"])
    return f" {n} were stopped early, as worse than the median of the earlier ones." if n else ""


def _row(trial: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    cells = estimate_cells(trial["value"], *trial["interval"])
    return _settings(trial["parameters"], names), *cells


def _nested(study: Mapping[str, Any]) -> Remark:
    nested = study.get("nested")
    if not nested:
        text = "The best of several scores is optimistic: expect a slightly worse one on new rows."
        return Remark(text, tone="note")
    low, high = nested["interval"]
    score = estimate(nested["value"], low, high, level=0.95)
    return Remark(
        f"Nested cross-validation, on rows not used to choose the settings: {score}.", tone="good"
    )


def _settings(parameters: Mapping[str, Any], names: Sequence[str]) -> str:
    """The settings of a trial, in the same order for all trials."""
    given = [f"{name}={setting(parameters[name])}" for name in names if name in parameters]
    return ", ".join(given) or "default settings"
