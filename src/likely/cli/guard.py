"""Sealed rows in files: refused before a fit or a score, and noted when they are predicted."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from likely.cli.exits import Exit, Refusal
from likely.errors import HonestyRefusal

if TYPE_CHECKING:
    from likely.cli.tables import Data
    from likely.sealing.folder import SealFolder


def refuse_sealed_rows_in(
    data: "Data", name: str, *, doing: str, also: "SealFolder | None" = None
) -> None:
    """Before a fit or a score: exit 3 where a tenth or more of a seal's sealed rows are there.

    Seals are looked for near the working folder and the file; ``also`` may be elsewhere.
    """
    if data.seal is not None:
        return
    seals = _seals_for(name, also)
    if not seals:
        return
    from likely.sealing.recognition import SCORE, refuse_sealed_rows

    try:
        refuse_sealed_rows(iter(data.source), seals, label=data.label, doing=doing)
    except HonestyRefusal as error:
        nearest = next(seal for seal in seals if seal.path.name in str(error))
        used = shlex.quote(shown_path(nearest.path))
        verb = "ledger show" if doing == SCORE else "compare"
        raise Refusal(str(error), Exit.HONESTY, f"likely {verb} {used}") from None


def _seals_for(name: str, also: "SealFolder | None") -> "tuple[SealFolder, ...]":
    from likely.sealing.folder import seals_near

    near = seals_near(name)
    if also is None or also.path.resolve() in {seal.path.resolve() for seal in near}:
        return near
    return (*near, also)


def shown_path(path: Path) -> str:
    """From the working folder, where that is shorter to write."""
    here = Path().resolve()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def note_sealed_rows_in(data: "Data", name: str) -> tuple[str, ...]:
    """Before predictions: the seals write it down, and it is said."""
    if data.seal is not None:
        return ()
    seals = _seals_for(name, None)
    if not seals:
        return ()
    from likely.sealing.recognition import log_prediction

    held = log_prediction(iter(data.source), seals, label=data.label)
    return tuple(f"{data.label} holds {one}; the ledger remembers this prediction." for one in held)
