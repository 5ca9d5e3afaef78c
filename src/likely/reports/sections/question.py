"""What was run on which data: the question, the checks of the data, and the command."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from likely.kinds import TARGET_KINDS, task_in_words
from likely.output.formatting import (
    capitalised,
    count,
    listed,
    setting,
    short_hash,
    shortened,
)
from likely.reports.section import (
    Block,
    CodeBlock,
    Facts,
    Gallery,
    LeftOut,
    Remark,
    Section,
    TableBlock,
    Text,
)
from likely.runs.folder import RunFacts
from likely.runs.seals import LedgerFacts
from likely.sealing.ledger import allowed_in_words, details_of, event_in_words
from likely.workbench.comparison.records import Record
from likely.workbench.data.folds import split_text
from likely.workbench.data.roles import roles_in_run
from likely.workbench.models.registry import MODELS

EVALUATIONS = "Evaluations of the test set"
UNSHOWN = ("random_state",)  # the seed has a line of its own
MOST_CLASSES = 8
MOST_MUTED = 12


def question(facts: RunFacts) -> Section | LeftOut:
    run, data = facts.run, facts.run.get("data") or {}
    time = str(run.get("time", "not recorded"))  # 2026-01-31T09:30:00+00:00
    rows = [
        ("Data", _data(data)),
        ("Target", _target(facts)),
        ("Task", _task(facts)),
        *((capitalised(role), name) for role, name in roles_in_run(run).given().items()),
        ("Folds", split_text(run.get("group"), run.get("by_time")).removeprefix(", ")),
        ("Model", _model(run)),
        (EVALUATIONS, evaluations(facts)),
        ("Data SHA-256", str(data.get("sha256", "not recorded"))),
        ("Seed", str(run.get("seed", "not recorded"))),
        ("Trained", time.replace("T", " ").replace("+00:00", " UTC")),
        ("Versions", ", ".join(f"{name} {v}" for name, v in (run.get("versions") or {}).items())),
    ]
    block = Facts(
        tuple((name, value) for name, value in rows if value),
        strong=frozenset({EVALUATIONS}),
        code=frozenset({"Data SHA-256"}),
    )
    return Section("question", "Run", (block,))


def checks(facts: RunFacts) -> Section | LeftOut:
    look = facts.look
    if look is None:
        return LeftOut("Data checks", f"none were saved; run {facts.command('look')}")
    findings = look.get("findings") or []
    blocks: list[Block] = [Text(_size_and_findings(look, len(findings)))]
    blocks += [
        Remark(
            each["sentence"],
            badge=each["code"],
            title=capitalised(each["title"]),
            tone=each["severity"],
        )
        for each in findings
    ]
    if look.get("muted"):
        blocks.append(Text(f"Left out by --mute: {listed(look['muted'], MOST_MUTED)}.", small=True))
    return Section("checks", "Data checks", tuple(blocks))


def command(facts: RunFacts) -> Section | LeftOut:
    given = facts.run.get("command")
    if not given:
        return LeftOut("Command", "it was not recorded")
    line = str(given)
    seeded = re.search(r"(^|\s)--seed[\s=]", line) is not None
    if not seeded and facts.run.get("seed") is not None:
        line = f"{line} --seed {facts.run['seed']}"
    text = "The same command on the same data, with the same versions, gives the same model."
    return Section("command", "Command", (Text(text), CodeBlock(line)))


def evaluations(facts: RunFacts) -> str:
    """The number of evaluations of the sealed rows, as far as it is known."""
    ledger, seal = facts.ledger, facts.run.get("seal")
    if ledger is not None and ledger.entries:
        return _used_of(ledger.evaluations, ledger.budget)
    if ledger is not None:
        return "unknown, because the ledger was changed"
    recorded = recorded_evaluations(facts)
    if recorded is None:
        return "none, because no rows were sealed; scores are of held-out training rows"
    gone = f" when this run was made; {seal_name(seal)} was not found" if seal else ""
    return recorded + gone


def recorded_evaluations(facts: RunFacts) -> str | None:
    """The number of evaluations that the run recorded; None where no rows were sealed."""
    seal, final = facts.run.get("seal"), facts.final
    if not seal and final is not None:  # a score without its run
        return _used_of(int(final["evaluation"]), int(final["budget"]))
    return _used_of(int(seal.get("evaluations", 0)), int(seal.get("budget", 1))) if seal else None


def seal_name(seal: Any) -> str:
    """The name of the seal that a run was trained on."""
    return str(seal.get("name") or Path(str(seal.get("path", "its seal"))).name)


def _used_of(used: int, budget: int) -> str:
    return f"{used}; {budget} allowed" if used > budget else f"{used} of {budget}"


def _data(data: Any) -> str:
    rows = data.get("rows")
    name = str(data.get("name", "not recorded"))
    return name if rows is None else f"{name}, {count(int(rows), 'row')}"


def _target(facts: RunFacts) -> str:
    target, classes = facts.run.get("target"), facts.run.get("classes")
    if target is None:
        return "none"
    if not classes:
        return str(target)
    return f"{target} ({listed([str(label) for label in classes], MOST_CLASSES)})"


def _task(facts: RunFacts) -> str:
    task = facts.run.get("task") or {}
    kind = task.get("kind") or (facts.validation.kind if facts.validation else None)
    if kind is None:
        return ""
    words = task_in_words(kind) if kind in TARGET_KINDS else str(kind)
    return f"{words}, because {task['reason']}" if task.get("reason") else words


def _model(run: Any) -> str:
    """The name of the model, and its settings that are not the defaults."""
    name = str(run.get("model", "not recorded"))
    usual = MODELS[name].all_defaults() if name in MODELS else {}
    changed = ", ".join(
        f"{key.replace('words__', 'words.')}={setting(value)}"
        for key, value in (run.get("parameters") or {}).items()
        if key not in UNSHOWN and usual.get(key, ...) != value
    )
    return f"{name} with {changed}" if changed else f"{name}, default settings"


def _size_and_findings(look: Record, n: int) -> str:
    size = f"{count(look['rows'], 'row')} and {count(len(look['columns']), 'column')}"
    looked = look.get("rows_looked_at", look["rows"])
    part = "" if looked == look["rows"] else f" (a sample of {looked:,} rows was examined)"
    return f"{size}{part}: {count(n, 'finding') if n else 'no findings'}."


# ── The ledger of the seal: every evaluation of the test set, and whether a line was changed ──────

TITLE = "Ledger"
CHANGED, UNCONFIRMED = "ledger changed", "score not confirmed"  # badges
LONGEST = 160  # letters of a remark
LAST = "Hash of the last line"


def ledger(facts: RunFacts) -> Section | LeftOut:
    found = facts.ledger
    if found is not None:
        return Section("ledger", TITLE, tuple(_blocks(found)))
    if facts.run.get("seal"):
        return Section("ledger", TITLE, tuple(_remembered(facts)))
    return LeftOut(TITLE, f"no rows were sealed; run {facts.command('seal')}")


def warning_of(facts: RunFacts) -> str | None:
    """The warning for a run; None where the ledger and the copy of its score are intact."""
    found = facts.ledger
    if found is None or found.sound:
        return facts.final_problem
    return (
        f"The ledger of {found.name} was changed, so the number of evaluations of its test set is "
        f"unknown: the scores of {facts.name} cannot be trusted. "
        f"{' '.join(found.problems)}"
    )


def badge_of(facts: RunFacts) -> str:
    """The badge of the warning: the ledger itself, or only the copy of its score."""
    return CHANGED if facts.ledger is not None and not facts.ledger.sound else UNCONFIRMED


def with_warning(section: Section, warning: str, badge: str = CHANGED) -> Section:
    """The section with the warning above it, and its notes with the same severity."""
    stop = Remark(warning, badge=badge, tone="stop")
    return replace(section, blocks=(stop, *map(_in_stop_tone, section.blocks)))


def _blocks(found: LedgerFacts) -> list[Block]:
    if not found.sound:
        return [Remark(problem, badge="broken", tone="stop") for problem in found.problems]
    rows = tuple(
        (
            str(entry["n"]),
            str(entry["time"]).replace("T", " ").removesuffix("Z"),
            event_in_words(entry),
            shortened(details_of(entry), LONGEST),
            short_hash(entry["previous"]),
        )
        for entry in found.entries
    )
    return [
        Remark(
            f"{found.name}: {count(len(rows), 'line')}, each with the hash of the previous line; "
            f"no line was changed. {count(found.n_test, 'sealed row')}; "
            f"{allowed_in_words(found.budget, found.judge)}.",
            tone="good",
        ),
        TableBlock(("line", "time (UTC)", "event", "details", "previous hash"), rows, left=5),
        Facts(((LAST, found.head),), code=frozenset({LAST})),
    ]


def _remembered(facts: RunFacts) -> list[Block]:
    """What the run recorded about a seal that was not found."""
    seal = facts.run["seal"]
    name, head = seal_name(seal), f"{LAST} when the run was trained"
    known = (
        ("Sealed rows", seal.get("rows")),
        ("Judge", seal.get("judge")),
        ("Evaluations", recorded_evaluations(facts)),
        ("Lines when the run was trained", seal.get("count")),
        (head, seal.get("head")),
    )
    rows = tuple((what, str(value)) for what, value in known if value not in (None, ""))
    why = f"{name} was not found, so its ledger cannot be checked. The run recorded this:"
    return [Remark(why, tone="warn"), Facts(rows, code=frozenset({head}))]


def _in_stop_tone(block: Block) -> Block:
    if isinstance(block, Gallery):
        return replace(block, blocks=tuple(map(_in_stop_tone, block.blocks)))
    return replace(block, tone="stop") if isinstance(block, Remark) else block
