"""Which models read the texts of a table; the others use its other columns, if it has any."""

from collections.abc import Sequence
from typing import NamedTuple

from likely.formatting import listed
from likely.inputs.foreign_models import takes_sparse
from likely.workbench.data.dataset import Dataset
from likely.workbench.models.model_entry import ModelEntry
from likely.workbench.models.registry import BASELINE


class TextReaders(NamedTuple):
    """Models to try, and a remark about those that do not read text."""

    entries: list[ModelEntry]
    remarks: tuple[str, ...]


def text_readers(entries: Sequence[ModelEntry], rows: Dataset) -> TextReaders:
    """The models that can learn from these columns."""
    task, texts = rows.settled, listed([*map(repr, rows.texts)], 3)
    blind = [
        entry.name
        for entry in entries
        if task.text and entry.name != BASELINE and not takes_sparse(entry.build(task))
    ]
    if not blind:
        return TextReaders(list(entries), ())
    names, verb = listed(blind, 6), "reads" if len(blind) == 1 else "read"
    if task.text == "beside":
        remark = f"Without the text {texts}, because they read dense columns only: {names}."
        return TextReaders(list(entries), (remark,))
    kept = [entry for entry in entries if entry.name not in blind]
    return TextReaders(kept, (f"Not tried, because they {verb} no text: {names}.",))
