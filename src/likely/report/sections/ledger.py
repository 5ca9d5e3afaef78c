"""The ledger of the seal: every look at the test set, and whether the chain of lines holds."""

import re
from typing import Any

from likely.formatting import (
    count,
    estimate_cells,
    percent_level,
    short_hash,
    short_number,
    shortened,
)
from likely.report.section import Block, Facts, LeftOut, Remark, Section, Table
from likely.report.sections.question import looks, seal_name
from likely.runs.folder import RunFacts
from likely.runs.seals import LedgerFacts

LONGEST = 160  # letters of a remark
LONG_NUMBER = re.compile(r"(?<![\w.])-?\d*\.\d{4,}(?:e[-+]?\d+)?(?!\w)", re.IGNORECASE)


def ledger(facts: RunFacts) -> Section | LeftOut:
    found = facts.ledger
    if found is not None:
        return Section("ledger", "The ledger", tuple(_blocks(found)))
    if facts.run.get("seal"):
        return Section("ledger", "The ledger", tuple(_remembered(facts)))
    return LeftOut("The ledger", f"no rows were sealed; {facts.command('seal')} keeps some")


def _blocks(found: LedgerFacts) -> list[Block]:
    if not found.sound:
        return [Remark(problem, badge="broken", tone="stop") for problem in found.problems]
    rows = tuple(
        (
            str(entry["n"]),
            str(entry["time"]).replace("T", " ").removesuffix("Z"),
            str(entry["event"]),
            shortened(_told(entry), LONGEST),
            short_hash(entry["previous"]),
        )
        for entry in found.entries
    )
    return [
        Remark(
            f"{found.name}: {count(len(rows), 'line')}, each with the hash of the line before; the "
            f"chain holds. {count(found.n_test, 'sealed row')}, judge {found.judge}.",
            tone="good",
        ),
        Table(("line", "time (UTC)", "event", "what", "hash of the line before"), rows, left=5),
        Facts((("Head", found.head),), code=frozenset({"Head"})),
    ]


def _remembered(facts: RunFacts) -> list[Block]:
    """Of a seal that is gone: what the run and its look have written down."""
    seal, final = facts.run["seal"], facts.final or {}
    name = seal_name(seal)
    known = (
        ("Sealed rows", final.get("n_rows", seal.get("rows"))),
        ("Judge", final.get("judge", seal.get("judge"))),
        ("Looks", looks(facts).partition(",")[0]),
        ("Lines when the run was trained", seal.get("count")),
        ("Head when the run was trained", seal.get("head")),
        ("Head after the look", final.get("head")),
    )
    rows = tuple((what, str(value)) for what, value in known if value not in (None, ""))
    why = f"{name} is not here, so that its ledger cannot be checked; the run remembers this."
    heads = frozenset(what for what, _ in rows if what.startswith("Head"))
    return [Remark(why, tone="warn"), Facts(rows, code=heads)]


def _told(entry: Any) -> str:
    """What a line says, in words."""
    event = entry["event"]
    if event == "score":
        numbers = (entry[key] for key in ("value", "low", "high", "constant"))
        value, ends, constant = estimate_cells(*numbers)
        of = "" if entry.get("own", True) else "; of an earlier model: this one is not better"
        return (
            f"evaluation {entry['look']}: {entry['metric']} {value} ({_level(entry)}interval "
            f"{ends}), baseline {constant}{of}"
        )
    if event == "commit":
        return f"evaluation {entry['look']}: predictions fixed, of {_rounded(str(entry['model']))}"
    if event == "again":
        return f"evaluation {entry['look']}, because: {entry['reason']}"
    if event == "refused":
        return _refused(entry)
    left_out = ("n", "time", "event", "previous", "manifest")
    said = ", ".join(f"{key} {value}" for key, value in entry.items() if key not in left_out)
    return _rounded(said)


def _refused(entry: Any) -> str:
    """What was asked for, and why it was not done."""
    doing = str(entry.get("doing", ""))
    if entry.get("data") is not None:
        rows = count(int(entry.get("rows", 0)), "sealed row")
        return f"{doing} of {entry['data']}, which holds {rows}"
    return f"{doing}: {entry['why']}" if entry.get("why") else doing


def _level(entry: Any) -> str:
    level = entry.get("level")
    return "" if level is None else f"{percent_level(level)} "


def _rounded(text: str) -> str:
    """Settings with four digits that count, and room to break a line after each comma."""
    short = LONG_NUMBER.sub(lambda found: short_number(float(found[0])), text)
    return re.sub(r",(?=\S)", ", ", short)
