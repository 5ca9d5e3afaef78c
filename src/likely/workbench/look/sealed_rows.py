"""A warning before a table is looked at that holds the sealed rows of a seal nearby."""

from likely.errors import SomeSealedRows, warn_user
from likely.sealing.folder import seals_near
from likely.sealing.recognition import holds_sealed_rows
from likely.workbench.data.dataset import Dataset


def warn_of_sealed_rows(data: Dataset) -> None:
    """A warning where the rows, which are only looked at, are those of a seal nearby."""
    seals = () if data.sealed else seals_near(*([] if data.place is None else [data.place]))
    if not seals:
        return  # the table is not read for nothing
    for found in holds_sealed_rows(data.table if data.in_memory else iter(data.source), seals):
        warn_user(
            f"{data.label} holds {found}; what is seen in them should not decide about models. "
            f"Look at {found.seal.path.name}: it has the training rows only.",
            SomeSealedRows,
        )
