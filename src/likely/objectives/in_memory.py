"""Data in memory, for solvers that read rows or columns in their own order."""

from collections.abc import Collection
from typing import cast

import numpy as np

from likely._typing import Array
from likely.data.block import ArrayBlocks, Blocks
from likely.data.layouts.base import Design
from likely.errors import UnsupportedAccess


def in_memory(
    blocks: Blocks, layouts: Collection[type[Design]], *, reads: str, instead: str
) -> ArrayBlocks:
    """The blocks, if they are views of one design of these layouts; refused for a file."""
    design = blocks.X if isinstance(blocks, ArrayBlocks) else None
    if type(design) not in layouts:
        what = type(blocks if design is None else design).__name__
        raise UnsupportedAccess(
            f"{reads}, which {what} cannot give. Use solver={instead!r}, which needs only sums."
        )
    return cast(ArrayBlocks, blocks)


def filled(values: Array | None, default: float, n: int) -> Array:
    """One number per example; ``default`` if none were given."""
    return np.full(n, default) if values is None else np.asarray(values, dtype=float)
