"""The roles of columns that are not features: the target, weights, offsets, exposures, clusters."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.inputs.rows import AT_PREDICTION
from likely.inputs.targets import check_numbers, check_weight

if TYPE_CHECKING:
    import pyarrow as pa

ARGUMENTS = {  # role of a column: argument of fit
    "weight": "sample_weight",
    "offset": "offset",
    "exposure": "exposure",
    "clusters": "groups",
}


class Roles(NamedTuple):
    """The columns that are not features, by role; None where there is none."""

    target: str | None = None
    weight: str | None = None
    offset: str | None = None
    exposure: str | None = None
    clusters: str | None = None  # rows that belong together, for clustered standard errors

    @property
    def columns(self) -> list[str]:
        """All columns that have a role, the target first."""
        return [name for name in self if name is not None]

    def given(self) -> dict[str, str]:
        """The columns that are not features, by role."""
        return {role: name for role in ARGUMENTS if (name := getattr(self, role)) is not None}

    def to_fit(self) -> dict[str, str]:
        """The arguments of ``fit`` other than X and y, as names of columns."""
        return {ARGUMENTS[role]: name for role, name in self.given().items()}

    def to_predict(self, table: "pa.Table") -> dict[str, Any]:
        """The arguments of a prediction other than X, taken from a table."""
        given = self.given()
        return {role: table.column(given[role]) for role in AT_PREDICTION if role in given}

    def weights(self, table: "pa.Table") -> Array | None:
        """The weight of each row, checked; None where rows have none."""
        if self.weight is None:
            return None
        what = f"weight {self.weight}"
        return check_weight(table.column(self.weight), n_rows=table.num_rows, what=what)

    def offsets(self, table: "pa.Table") -> Array | None:
        """An offset, and the logarithm of an exposure, checked; None where there is neither."""
        n_rows, total = table.num_rows, None
        if self.offset is not None:
            column, what = table.column(self.offset), f"The offset {self.offset!r}"
            total = check_numbers(column, what, n_rows=n_rows)
        if self.exposure is not None:
            column, what = table.column(self.exposure), f"The exposure {self.exposure!r}"
            exposure = check_numbers(column, what, n_rows=n_rows, positive=True)
            total = np.log(exposure) if total is None else total + np.log(exposure)
        return total

    def at_prediction(self) -> list[str]:
        """The columns that a prediction needs in addition to the features."""
        given = self.given()
        return [given[role] for role in AT_PREDICTION if role in given]


def roles_in_run(facts: Mapping[str, Any]) -> Roles:
    """The roles of the columns of a RUN, from ``run.json``."""
    return Roles(
        **{role: name for role, name in facts.get("roles", {}).items() if role in ARGUMENTS}
    )
