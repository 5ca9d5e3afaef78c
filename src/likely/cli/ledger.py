"""``likely ledger``: what has happened to a seal, and whether it is as it was written."""

import shlex
from collections.abc import Mapping
from math import inf, nan
from typing import Any

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.settings import Settings, global_options
from likely.cli.show import heading, table, wrapped
from likely.formatting import count, estimate, shortened

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
    rows = [[str(e["n"]), e["time"], e["event"], _summary(e)] for e in entries]
    looks, budget = folder.looks(), folder.manifest.budget
    title = (
        f"{heading(name)}: {count(len(entries), 'line')}, {looks} of "
        f"{count(budget, 'evaluation')} used; "
        f"head {head[:HASH_DIGITS]}…"
    )
    return Answer(
        text=f"{title}\n\n{table(['n', 'time', 'event', ''], rows, words=range(4))}",
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
            f"{name} is not a seal; expected a folder such as churn.seal, written by likely seal. "
            "Check the path, or seal the data first."
        )
    verdict = verify_ledger(name)
    if not verdict.sound:
        raise Refusal(
            f"{name} is not as it was written. {' '.join(verdict.problems)} {ADVICE}",
            Exit.CHECK,
            f"likely ledger show {shlex.quote(name)}",
        )
    told = (
        f"{count(verdict.lines, 'line')}, each with the hash of the line before; all files are "
        f"those that were sealed. Head {verdict.head}. Compare it with a copy kept elsewhere: only "
        "that shows whether the whole folder was put back to an earlier state."
    )
    return Answer(
        text=f"{heading(name)} is sound.\n{wrapped(told)}",
        result={"seal": name, "sound": True, "lines": verdict.lines, "head": verdict.head},
        next=f"likely ledger show {shlex.quote(name)}",
    )


def _summary(entry: Mapping[str, Any]) -> str:
    """What a line of the ledger records, in short."""
    event = entry["event"]
    if event == "score":
        open_ends = {"value": nan, "low": -inf, "high": inf}  # null in JSON
        ends = (end if entry[key] is None else entry[key] for key, end in open_ends.items())
        of = "" if entry.get("own", True) else ", of an earlier model: this one is not better"
        return f"evaluation {entry['look']}: {entry['metric']} {estimate(*ends)}{of}"
    if event == "commit":
        return shortened(f"evaluation {entry['look']}: {entry['model']}", LONGEST)
    own = (f"{key} {_short(value)}" for key, value in entry.items() if key not in BESIDE)
    return shortened(", ".join(own), LONGEST)


def _short(value: object) -> str:
    text = str(value)
    is_hash = len(text) == 64 and set(text) <= set("0123456789abcdef")
    return f"{text[:HASH_DIGITS]}…" if is_hash else text
