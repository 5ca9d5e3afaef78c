"""Rows far outside those of a fit, whose predictions are bounded: a warning, or their number.

A prediction warns once.  Inside ``counting_bounded`` it adds to a count in place of the warning:
where it is a part of something larger, a score, a picture or a chunk of a file.  The count belongs
to the context, so predictions of other threads warn as usual.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import final

from likely.errors import OutsideFit, warn_user
from likely.output.formatting import count, listed

MOST_NAMES = 3


@final
@dataclass(eq=False)
class BoundedRows:
    """How many rows of how many were bounded, and the columns by which."""

    n: int = 0
    n_rows: int = 0
    columns: dict[str, None] = field(default_factory=dict)  # in their order

    def add(self, n: int, n_rows: int, columns: Iterable[str]) -> None:
        self.n, self.n_rows = self.n + n, self.n_rows + n_rows
        self.columns.update(dict.fromkeys(columns))

    def warn(self) -> None:
        """Warn of them, if there are any."""
        if not self.n:
            return
        by = f" ({listed([*self.columns], MOST_NAMES)})" if self.columns else ""
        one = self.n == 1
        warn_user(
            f"{self.n:,} of {count(self.n_rows, 'row')} {'is' if one else 'are'} far outside the "
            f"rows of the fit{by}; {'its prediction is' if one else 'their predictions are'} "
            f"bounded. Check {'it' if one else 'them'}, or fit again with such rows.",
            OutsideFit,
        )


_counted: ContextVar[BoundedRows | None] = ContextVar("bounded_rows", default=None)


@contextmanager
def counting_bounded() -> Iterator[BoundedRows]:
    """Inside, rows that are bounded are counted, and nothing is warned of."""
    found = BoundedRows()
    token = _counted.set(found)
    try:
        yield found
    finally:
        _counted.reset(token)


def note_bounded(n: int, n_rows: int, columns: Iterable[str]) -> None:
    """Count the rows of one prediction that were bounded, or warn of them."""
    found = _counted.get()
    if found is not None:
        found.add(n, n_rows, columns)
        return
    alone = BoundedRows()
    alone.add(n, n_rows, columns)
    alone.warn()
