"""What was asked, of what, how to do it again, and how often the test set was looked at."""

import re
from pathlib import Path
from typing import Any

from likely.formatting import count, listed, setting
from likely.report.section import Facts, LeftOut, Section
from likely.runs.folder import RunFacts
from likely.workbench.folds import split_text
from likely.workbench.models import MODELS

LOOKS = "Looks at the test set"
INSIDE = "model__"  # before the settings of a model that is inside of a preparation
UNSAID = ("random_state",)  # the seed is told by itself
MOST_CLASSES = 8
KINDS = {
    "binary": "tell two classes apart",
    "classes": "tell classes apart",
    "ordinal": "predict an ordered class",
    "count": "predict a count",
    "positive": "predict an amount above 0",
    "real": "predict a number",
}


def question(facts: RunFacts) -> Section | LeftOut:
    run, data = facts.run, facts.run.get("data") or {}
    rows = [
        ("Data", _data(data)),
        ("Target", _target(facts)),
        ("Task", _task(facts)),
        ("Folds", split_text(run.get("group"), run.get("by_time")).removeprefix(", ")),
        ("Model", _model(run)),
        (LOOKS, looks(facts)),
        ("Data SHA-256", str(data.get("sha256", "not recorded"))),
        ("Seed", str(run.get("seed", "not recorded"))),
        ("Trained", _time(run)),
        ("Versions", _versions(run)),
    ]
    block = Facts(
        tuple((name, value) for name, value in rows if value),
        strong=frozenset({LOOKS}),
        code=frozenset({"Data SHA-256"}),
    )
    return Section("question", "The question", (block,))


def looks(facts: RunFacts) -> str:
    """How often the sealed rows were looked at, as far as it is known."""
    ledger, seal, final = facts.ledger, facts.run.get("seal"), facts.final
    if ledger is not None and ledger.entries:
        return _said(ledger.looks, ledger.budget)
    if ledger is not None:
        return "unknown: the ledger is broken"
    gone = f", as this run last saw them; {seal_name(seal)} is not here" if seal else ""
    if final is not None:
        return _said(int(final["look"]), int(final["budget"])) + gone
    if seal:
        return _said(int(seal.get("looks", 0)), int(seal.get("budget", 1))) + gone
    return "none, because no rows were sealed; scores here are of training rows that were held out"


def seal_name(seal: Any) -> str:
    """Of the sealed folder that a run has come from."""
    return str(seal.get("name") or Path(str(seal.get("path", "its seal"))).name)


def _said(used: int, budget: int) -> str:
    over = " – more than were meant" if used > budget else ""
    return f"{used or 'none'} of {budget}{over}"


def _data(data: Any) -> str:
    rows = data.get("rows")
    name = str(data.get("name", "not recorded"))
    return name if rows is None else f"{name}, {count(int(rows), 'row')}"


def _target(facts: RunFacts) -> str:
    target, classes = facts.run.get("target"), facts.run.get("classes")
    if target is None:
        return "none: the model describes the rows themselves"
    if not classes:
        return str(target)
    return f"{target} ({listed([str(label) for label in classes], MOST_CLASSES)})"


def _task(facts: RunFacts) -> str:
    task = facts.run.get("task") or {}
    kind = task.get("kind") or (facts.validation.kind if facts.validation else None)
    if kind is None:
        return ""
    reason = task.get("reason")
    said = KINDS.get(str(kind), str(kind))
    if not reason or reason == "it was given":
        return said
    about = re.sub(r"^it\b", "the target", re.sub(r"^its\b", "the target's", reason))
    return f"{said}, because {about}"


def _model(run: Any) -> str:
    """Its name, and the settings that are not the usual ones."""
    name = str(run.get("model", "not recorded"))
    usual = _usual(name)
    given = {
        key.removeprefix(INSIDE): value
        for key, value in (run.get("parameters") or {}).items()
        if key != INSIDE and key not in UNSAID
    }
    told = ", ".join(
        f"{key}={setting(value)}" for key, value in given.items() if usual.get(key, ...) != value
    )
    return f"{name} with {told}" if told else f"{name}, default settings"


def _usual(name: str) -> dict[str, Any]:
    """The settings that a model has if none are given."""
    return MODELS[name].defaults() if name in MODELS else {}


def _time(run: Any) -> str:
    """``2026-01-31 09:30:00 UTC``."""
    said = str(run.get("time", "not recorded"))
    return said.replace("T", " ").replace("+00:00", " UTC")


def _versions(run: Any) -> str:
    return ", ".join(f"{name} {number}" for name, number in (run.get("versions") or {}).items())
