"""The ledger of the seal: every evaluation of the test set, and whether a line was changed."""

from dataclasses import replace

from likely.formatting import (
    count,
    short_hash,
    shortened,
)
from likely.reports.section import Block, Facts, Gallery, LeftOut, Remark, Section, TableBlock
from likely.reports.sections.question import recorded_evaluations, seal_name
from likely.runs.folder import RunFacts
from likely.runs.seals import LedgerFacts
from likely.sealing.ledger_text import allowed_in_words, details_of, event_in_words

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
