"""Columns of free text in a prepared table: their words beside the other columns."""

from dataclasses import dataclass
from typing import Any, final

from likely.workbench.preparation.cells import Cells, text_of
from likely.workbench.preparation.steps import Step


@final
@dataclass(frozen=True)
class SavedText(Step):
    """A ``TextColumn`` as it is in a file; its words are a saved ``BagOfWords``."""

    name: str
    words: Any
    missing: float  # the share of missing texts in the fit
    length: float | None  # of a row of weights; None where words are counted

    def columns(self, cells: Cells) -> dict[str, Any]:
        return {}

    def description(self) -> str:
        return "text"


def documents_of(cells: Cells) -> list[str]:
    """The texts of a column; a missing one is an empty document."""
    factor = text_of(cells)
    texts = [*factor.values.tolist(), ""]  # the last is for a missing cell, of code −1
    return [texts[code] for code in factor.codes.tolist()]
