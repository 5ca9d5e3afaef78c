"""What a look at the table found, each with its code."""

from likely.formatting import capitalised, count, listed
from likely.report.section import Block, LeftOut, Remark, Section, Text
from likely.runs.folder import RunFacts
from likely.runs.records import Record

MOST_MUTED = 12


def checks(facts: RunFacts) -> Section | LeftOut:
    look = facts.look
    if look is None:
        return LeftOut("Data checks", f"no look was kept; {facts.command('look')} shows them")
    findings = look.get("findings") or []
    blocks: list[Block] = [Text(_opening(look, len(findings)))]
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
        blocks.append(Text(f"Muted: {listed(look['muted'], MOST_MUTED)}.", small=True))
    return Section("checks", "Data checks", tuple(blocks))


def _opening(look: Record, n: int) -> str:
    size = f"{count(look['rows'], 'row')} and {count(len(look['columns']), 'column')}"
    looked = look.get("rows_looked_at", look["rows"])
    part = "" if looked == look["rows"] else f" (a sample of {looked:,} rows was examined)"
    return f"{size}{part}: {count(n, 'finding') if n else 'no findings'}."
