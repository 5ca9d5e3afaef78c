"""The ledger of the seal: every look at the test set, and whether the chain of lines holds."""

from typing import Any

from likely.report.run_files import LedgerFacts, RunFacts
from likely.report.section import Block, Facts, LeftOut, Remark, Section, Table
from likely.report.wording import count, number, short_hash, shortened

LONGEST = 160  # letters of a remark


def ledger(facts: RunFacts) -> Section | LeftOut:
    found = facts.ledger
    if found is not None:
        return Section("ledger", "The ledger", tuple(_blocks(found)))
    if facts.final is not None and facts.final.get("head"):
        told = Facts((("Head", str(facts.final["head"])),), code=frozenset({"Head"}))
        why = Remark("The sealed folder is not here; this is its last line as the run saw it.")
        return Section("ledger", "The ledger", (why, told))
    return LeftOut("The ledger", "no rows were sealed; likely seal DATA --target COL keeps some")


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


def _told(entry: Any) -> str:
    """What a line says, in words."""
    event = entry["event"]
    if event == "score":
        said = f"{entry['metric']} {number(entry['value'])}"
        ends = f"({number(entry['low'])} to {number(entry['high'])})"
        return f"look {entry['look']}: {said} {ends}, best constant {number(entry['constant'])}"
    if event == "commit":
        return f"look {entry['look']}: predictions of {entry['model']} fixed"
    if event == "again":
        return f"look {entry['look']}, because: {entry['reason']}"
    if event == "refused":
        return f"{entry.get('doing', '')}: {entry.get('why', '')}"
    left_out = ("n", "time", "event", "previous", "manifest")
    return ", ".join(f"{key} {value}" for key, value in entry.items() if key not in left_out)
