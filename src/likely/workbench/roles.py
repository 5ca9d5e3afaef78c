"""Which columns of a table are no features: the target, and what comes with a row beside it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

ARGUMENTS = {  # role of a column: argument of fit
    "weight": "sample_weight",
    "offset": "offset",
    "exposure": "exposure",
    "clusters": "groups",
}
AT_PREDICTION = ("offset", "exposure")  # a prediction needs them too


class Roles(NamedTuple):
    """The columns that have a role besides that of a feature; None where there is none."""

    target: str | None = None
    weight: str | None = None
    offset: str | None = None
    exposure: str | None = None
    clusters: str | None = None  # rows that belong together, for clustered standard errors

    @property
    def columns(self) -> list[str]:
        """All columns that have a role, the target first."""
        return [name for name in self if name is not None]

    def beside(self) -> dict[str, str]:
        """The columns that come with a row beside its features, by role."""
        return {role: name for role in ARGUMENTS if (name := getattr(self, role)) is not None}

    def to_fit(self) -> dict[str, str]:
        """The arguments of ``fit`` besides X and y, as names of columns."""
        return {ARGUMENTS[role]: name for role, name in self.beside().items()}

    def to_predict(self, table: "pa.Table") -> dict[str, Any]:
        """The arguments of a prediction besides X, taken from a table."""
        given = self.beside()
        return {role: table.column(given[role]) for role in AT_PREDICTION if role in given}

    def offsets(self, table: "pa.Table") -> Array | None:
        """An offset, and the logarithm of an exposure; None where there is neither."""
        if self.offset is None and self.exposure is None:
            return None
        total = np.zeros(table.num_rows)
        if self.offset is not None:
            total = total + np.asarray(table.column(self.offset).to_numpy(), dtype=np.float64)
        if self.exposure is not None:
            exposure = np.asarray(table.column(self.exposure).to_numpy(), dtype=np.float64)
            total = total + np.log(exposure)
        return total

    def at_prediction(self) -> list[str]:
        """The columns that a prediction needs besides the features."""
        given = self.beside()
        return [given[role] for role in AT_PREDICTION if role in given]


def roles_in_run(facts: Mapping[str, Any]) -> Roles:
    """The columns that came with the rows of a RUN, by what ``run.json`` says."""
    return Roles(
        **{role: name for role, name in facts.get("beside", {}).items() if role in ARGUMENTS}
    )
