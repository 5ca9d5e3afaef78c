"""Everything that is known about a run, read from its folder and its seal, for the report."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from likely.errors import InvalidInput
from likely.runs.folder import FACTS, RunFolder
from likely.runs.records import (
    Record,
    comparisons_in,
    curves_in,
    joined_comparisons,
    joined_curves,
)
from likely.runs.seals import LedgerFacts, folder_of_seal, ledger_facts

if TYPE_CHECKING:
    from likely.description import Description
    from likely.workbench.validation import Validation

PARTING = {"group": "--group", "by_time": "--by-time"}
SCORING = ("compare", "tune")  # verbs that take these options


@final
@dataclass(frozen=True, eq=False)
class RunFacts:
    """All that is known about a run; None is what its folder does not hold."""

    name: str
    run: Record
    look: Record | None = None
    comparisons: tuple[Record, ...] = ()
    curves: tuple[Record, ...] = ()
    study: Record | None = None
    validation: "Validation | None" = None
    final: Record | None = None
    ledger: LedgerFacts | None = None
    description: "Description | None" = None  # what its model says about itself
    path: str = "RUN"  # as a command names it

    def command(self, verb: str, *words: str) -> str:
        """``likely VERB DATA WORDS``, with the target where the data do not know it.

        What scores models holds rows out as this run did.
        """
        seal, data = self.run.get("seal"), self.run.get("data") or {}
        name = str(seal["path"] if seal and seal.get("path") else data.get("name", "DATA"))
        target = self.run.get("target")
        asked = [] if seal or target is None else ["--target", str(target)]
        for key, option in PARTING.items() if verb in SCORING else ():
            if self.run.get(key) is not None:
                asked += [option, str(self.run[key])]
        return shlex.join(["likely", verb, name, *words, *asked])


def read_run(folder: str | Path, *, description: "Description | None" = None) -> RunFacts:
    """The facts in a RUN folder; the caller asks its model for the description."""
    held = RunFolder(Path(folder))
    run = held.facts()
    if run is None:
        raise InvalidInput(
            f"{folder} has no {FACTS}; a report tells how a model came about. Give a folder that "
            "likely train wrote, not a model file."
        )
    place = held.path
    seal = folder_of_seal(place, run)
    places = (place,) if seal is None else (place, seal)
    return RunFacts(
        name=place.name or str(place),
        run=run,
        look=held.look(),
        comparisons=joined_comparisons(*map(comparisons_in, places)),
        curves=joined_curves(*map(curves_in, places)),
        study=held.study_facts(),
        validation=held.validation(),
        final=held.final(),
        ledger=None if seal is None else ledger_facts(seal, run["seal"]),
        description=description,
        path=place.name if place.is_absolute() else str(place),
    )
