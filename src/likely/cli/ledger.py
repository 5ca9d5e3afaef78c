"""``likely ledger``: the record of a seal, and whether it was changed."""

import shlex

import click

from likely.cli.answer import Answer
from likely.cli.terminal import GlobalOptions, global_options, heading, table, wrapped
from likely.output.formatting import count, short_hash
from likely.tasks.request import Exit, Refusal

BEFORE_DETAILS = 51  # letters of the columns before the details of a line


@click.command()
@click.argument("action", type=click.Choice(["show", "verify"]))
@click.argument("seal")
@global_options
@click.pass_obj
def ledger(settings: GlobalOptions, action: str, seal: str) -> Answer:
    """Show the ledger of SEAL, or verify that nothing was changed (exit code 4 if it was)."""
    return _show(seal) if action == "show" else _verify(seal)


def _show(name: str) -> Answer:
    from likely.sealing.folder import open_folder
    from likely.sealing.ledger import details_of, event_in_words, used_in_words, verify_ledger

    folder, verdict = open_folder(name), verify_ledger(name)
    problems = verdict.problems
    entries, head = folder.ledger.history()
    rows = []
    for entry in entries:
        first, *more = wrapped(details_of(entry), BEFORE_DETAILS).split("\n")
        time = entry["time"].replace("T", " ").removesuffix("Z")
        rows.append([str(entry["n"]), time, event_in_words(entry), first])
        rows += [["", "", "", line.strip()] for line in more]
    used, budget = sum(each["event"] == "commit" for each in entries), folder.manifest.budget
    title = (
        f"{heading(name)}: {count(len(entries), 'line')}, {used_in_words(used, budget)}; "
        f"last hash {short_hash(head)}"
    )
    header = ["line", "time (UTC)", "event", "details"]
    return Answer(
        text=f"{title}\n\n{table(header, rows, words=range(4))}",
        result={
            "seal": name,
            "evaluations": used,
            "budget": budget,
            "head": head,
            "entries": entries,
        },
        findings=(f"{name} was changed after it was written. {' '.join(problems)}",)
        if problems
        else verdict.notes,
        next=f"likely ledger verify {shlex.quote(name)}",
    )


def _verify(name: str) -> Answer:
    from pathlib import Path

    from likely.errors import InvalidInput
    from likely.sealing.ledger import ADVICE, LEDGER, MANIFEST, verify_ledger

    if not any(Path(name, file).is_file() for file in (LEDGER, MANIFEST)):
        raise InvalidInput(
            f"{name} is not a SEAL; expected a folder such as churn.seal, written by likely seal. "
            "Check the path, or seal the data first."
        )
    verdict = verify_ledger(name)
    if not verdict.sound:
        raise Refusal(
            f"{name} was changed after it was written. {' '.join(verdict.problems)} {ADVICE}",
            Exit.CHECK,
            f"likely ledger show {shlex.quote(name)}",
        )
    text = (
        f"{count(verdict.lines, 'line')}, each with the hash of the previous line; no sealed file "
        f"was changed. Hash of the last line: {verdict.head}. Compare it with a copy kept "
        "elsewhere, as every RUN has one: only that shows whether the whole folder was replaced by "
        "an earlier one, or written again with other lines."
    )
    return Answer(
        text=f"{heading(name)} is intact.\n{wrapped(text)}",
        result={"seal": name, "sound": True, "lines": verdict.lines, "head": verdict.head},
        findings=verdict.notes,
        next=f"likely ledger show {shlex.quote(name)}",
    )
