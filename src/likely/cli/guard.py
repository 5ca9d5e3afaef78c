"""Sealed rows in files: found before a fit, and noted when they are predicted."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from likely.cli.exits import Exit, Refusal
from likely.errors import HonestyRefusal

if TYPE_CHECKING:
    from likely.cli.tables import Data
    from likely.sealing.folder import SealFolder


def seals_near(name: str) -> "tuple[SealFolder, ...]":
    """The seals in the working folder and beside the file."""
    from likely.sealing.folder import seals_in

    beside = [Path(name).parent] if Path(name).is_file() else []
    return seals_in([Path(), *beside])


def refuse_sealed_rows_in(data: "Data", name: str, *, doing: str) -> None:
    """Before a fit: exit 3 where a tenth or more of a seal's sealed rows are in the data."""
    if data.seal is not None:
        return
    seals = seals_near(name)
    if not seals:
        return
    from likely.sealing.accidents import refuse_sealed_rows

    try:
        refuse_sealed_rows(iter(data.source), seals, label=data.label, doing=doing)
    except HonestyRefusal as error:
        nearest = next(seal for seal in seals if seal.path.name in str(error))
        used = shlex.quote(str(nearest.path))
        raise Refusal(str(error), Exit.HONESTY, f"likely compare {used}") from None


def note_sealed_rows_in(data: "Data", name: str) -> tuple[str, ...]:
    """Before predictions: the seals write it down, and it is said."""
    if data.seal is not None:
        return ()
    seals = seals_near(name)
    if not seals:
        return ()
    from likely.sealing.accidents import log_prediction

    held = log_prediction(iter(data.source), seals, label=data.label)
    return tuple(f"{data.label} holds {one}; the ledger remembers this prediction." for one in held)
