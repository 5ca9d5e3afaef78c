"""Data that cannot be learned from, or scored, refused."""

from typing import TYPE_CHECKING

from likely.errors import InvalidInput
from likely.output.formatting import listed

if TYPE_CHECKING:
    from likely.workbench.data.dataset import Dataset


def refuse_no_features(data: "Dataset") -> None:
    """Refuse a table without a column to learn from."""
    others = sorted(data.apart)
    if len(data.source.names) - len(others) - (data.target is not None) > 0:
        return
    also = f" and {listed(others)}" if others else ""
    unused = [
        f", or declare {name!r}: --text {name} (text=[{name!r}]) if it is text, --feature {name} "
        f"(feature=[{name!r}]) if it is a category"
        for name in (*data.identifiers, *data.rare)
    ]
    raise InvalidInput(
        f"The table has no column except {data.target!r}{also}; at least one to learn from was "
        f"expected. Add one{''.join(unused[:1])}."
    )


def refuse_clusters(data: "Dataset", doing: str) -> None:
    """Refuse clusters, which are for standard errors, where none are computed."""
    if data.clusters is not None:
        raise InvalidInput(
            f"{data.clusters!r} was given as clusters, which are for standard errors; {doing} "
            "shows none. Leave it out, or train one model with it."
        )
