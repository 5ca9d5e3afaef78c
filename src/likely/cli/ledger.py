"""``likely ledger``: what has happened to a seal, and whether it is as it was written."""

import shlex
from collections.abc import Mapping
from math import inf, nan
from typing import Any

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.settings import Settings, global_options
from likely.cli.show import count, heading, number, shortened, table, wrapped

BESIDE = {"event", "n", "previous", "time"}  # of every line
HASH_DIGITS = 12
LONGEST = 70


@click.command()
@click.argument("action", type=click.Choice(["show", "verify"]))
@click.argument("seal")
@global_options
@click.pass_obj
def ledger(settings: Settings, action: str, seal: str) -> Answer:
    """Show the ledger of SEAL, or verify that it is as it was written (exit 4 if not)."""
    return _show(seal) if action == "show" else _verify(seal)


def _show(name: str) -> Answer:
    from likely.sealing.folder import open_folder
    from likely.sealing.ledger import verify_ledger

    folder, problems = open_folder(name), verify_ledger(name).problems
    entries = folder.ledger.entries()
    head = folder.ledger.verdict().head
    rows = [[str(e["n"]), e["time"], e["event"], _told(e)] for e in entries]
    looks, budget = folder.looks(), folder.manifest.budget
    title = (
        f"{heading(name)}: {count(len(entries), 'line')}, {count(looks, 'look')} of {budget} used; "
        f"head {head[:HASH_DIGITS]}…"
    )
    return Answer(
        text=f"{title}\n\n{table(['n', 'time', 'event', ''], rows, left=4)}",
        result={"seal": name, "looks": looks, "budget": budget, "head": head, "entries": entries},
        findings=(f"{name} is not as it was written. {' '.join(problems)}",) if problems else (),
        next=f"likely ledger verify {shlex.quote(name)}",
    )


def _verify(name: str) -> Answer:
    from pathlib import Path

    from likely.errors import InvalidInput
    from likely.sealing.ledger import ADVICE, LEDGER, MANIFEST, verify_ledger

    if not any(Path(name, file).is_file() for file in (LEDGER, MANIFEST)):
        raise InvalidInput(
            f"{name} is no seal; expected a folder such as churn.seal from likely seal. Check the "
            "path, or seal the data first."
        )
    verdict = verify_ledger(name)
    if not verdict.sound:
        raise Refusal(
            f"{name} is not as it was written. {' '.join(verdict.problems)} {ADVICE}",
            Exit.CHECK,
            f"likely ledger show {shlex.quote(name)}",
        )
    told = (
        f"{count(verdict.lines, 'line')}, each following the one before; all files are those that "
        f"were sealed. Head {verdict.head}. Compare it with one written down elsewhere: a whole "
        "folder put back to an earlier state would show only there."
    )
    return Answer(
        text=f"{heading(name)} is sound.\n{wrapped(told)}",
        result={"seal": name, "sound": True, "lines": verdict.lines, "head": verdict.head},
        next=f"likely ledger show {shlex.quote(name)}",
    )


def _told(entry: Mapping[str, Any]) -> str:
    """What is peculiar to a line, in short."""
    event = entry["event"]
    if event == "score":
        ends = zip(("value", "low", "high"), (nan, -inf, inf), strict=True)  # null is an open end
        value, low, high = (number(end if entry[key] is None else entry[key]) for key, end in ends)
        of = "" if entry.get("own", True) else ", of an earlier model: this one is not better"
        return f"look {entry['look']}: {entry['metric']} {value} ({low} to {high}){of}"
    if event == "commit":
        return shortened(f"look {entry['look']}: {entry['model']}", LONGEST)
    own = (f"{key} {_short(value)}" for key, value in entry.items() if key not in BESIDE)
    return shortened(", ".join(own), LONGEST)


def _short(value: object) -> str:
    text = str(value)
    is_hash = len(text) == 64 and set(text) <= set("0123456789abcdef")
    return f"{text[:HASH_DIGITS]}…" if is_hash else text
