"""Comparisons that were made, kept where the report finds them: in a SEAL, or in a RUN.

A folder has one ``comparison.json`` with a list: a comparison on the same folds by the same metric
is joined to the one before, model by model; any other is added.  Nothing that was tried is lost.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from likely.cli.keeping import keep_joined, run_of
from likely.cli.runs import COMPARISON

if TYPE_CHECKING:
    from likely.workbench.comparison import Comparison


def keep_comparison(found: "Comparison") -> tuple[Path, ...]:
    """In the SEAL; of other data, in the newest RUN on them, where there is one."""
    from likely.report.comparisons import joined_comparisons
    from likely.report.run_files import comparisons_in

    seal = found.rows.seal
    home = run_of(found.rows.digest, found.task.target) if seal is None else seal.path
    if home is None:
        return ()
    facts = found.facts()
    return keep_joined(home, COMPARISON, lambda: joined_comparisons(comparisons_in(home), (facts,)))


def told_where(kept: tuple[Path, ...], found: "Comparison") -> str:
    """Where a comparison was kept, or how it would be."""
    from likely.report.comparisons import models_in
    from likely.report.run_files import comparisons_in

    if not kept:
        why = "the seal cannot be written to" if found.rows.sealed else "no run has these data"
        return f"It was not kept, for {why}; on a SEAL every comparison is, for the report."
    tried = models_in(comparisons_in(kept[0].parent))
    now = {each.name for each in found.entries}
    before = [name for name in tried if name not in now]
    also = f" beside {', '.join(before)}, compared before" if before else ""
    return f"Kept in {kept[0]}{also}, for the report."
