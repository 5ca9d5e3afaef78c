"""What is said of a run whose ledger is not as it was written, beside whatever else is claimed."""

from dataclasses import replace

from likely.report.section import Block, Gallery, Remark, Section
from likely.runs.folder import RunFacts

BADGE = "ledger broken"


def warning_of(facts: RunFacts) -> str | None:
    """Why the scores of this run prove nothing; None where the ledger holds, or there is none."""
    found = facts.ledger
    if found is None or found.sound:
        return None
    return (
        f"The ledger of {found.name} is not as it was written, so that nobody can tell how often "
        f"its test set was looked at: no score of {facts.name} is shown to be honest. "
        f"{' '.join(found.problems)}"
    )


def with_warning(section: Section, warning: str) -> Section:
    """The section with a stop above it, and nothing in it that looks good."""
    stop = Remark(warning, badge=BADGE, tone="stop")
    return replace(section, blocks=(stop, *map(_doubted, section.blocks)))


def _doubted(block: Block) -> Block:
    if isinstance(block, Gallery):
        return replace(block, blocks=tuple(map(_doubted, block.blocks)))
    return replace(block, tone="stop") if isinstance(block, Remark) else block
