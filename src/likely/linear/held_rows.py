"""Rows that a rule holds out to stop a search: of each class the same share, by weight.

The responses are read once to choose them.  A row that is held out has weight 0 for the fit, and
one that is not has weight 0 for the loss.
"""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.data.block import ArrayBlocks, Block, Blocks, MappedBlocks
from likely.data.copies import copies_in_blocks
from likely.data.split import share_of_each_class
from likely.errors import InvalidInput
from likely.solvers.stopping import HeldOutPatience, StoppingRule


class HeldRows(NamedTuple):
    """Rows to fit, and rows to judge the steps by."""

    fitted: Blocks
    held: Blocks | None


def hold_out(estimator: Any, blocks: Blocks) -> HeldRows:
    """What the rule of an estimator holds out: nothing without one that needs it.

    The estimator stores how many rows were held out and how many are left, for its summary.
    """
    stop = estimator.stop
    if stop is None:
        return HeldRows(blocks, None)
    if not isinstance(stop, StoppingRule):
        raise InvalidInput(
            f"stop={stop!r} was given; a rule of likely.solvers was expected. "
            "Use stop=HeldOutPatience(5), or max_iter for a number of steps."
        )
    rule = stop.held_out_rule()
    if rule is None:
        return HeldRows(blocks, None)
    target = np.concatenate([np.asarray(block.target) for block in blocks])
    held = held_mask(rule, target, copies_in_blocks(blocks))
    estimator.held_out_ = (int(held.sum()), int((~held).sum()))
    return HeldRows(_only(blocks, ~held), _only(blocks, held))


def held_mask(rule: HeldOutPatience, target: Array, copies: Codes | None = None) -> Array:
    """A share of the rows, of each class where y holds codes; at least one, and never all."""
    held = share_of_each_class(target, rule.share, rule.random_state, copies)
    if not held.any():
        raise InvalidInput(
            f"HeldOutPatience(share={rule.share:g}) holds out none of {len(target)} rows; one or "
            "more were expected. Raise the share, or give more rows."
        )
    return held


def _only(blocks: Blocks, mask: Array) -> Blocks:
    if isinstance(blocks, ArrayBlocks):
        weight = mask.astype(float) if blocks.weight is None else blocks.weight * mask
        return replace(blocks, weight=weight)
    return MappedBlocks(blocks, partial(_masked, mask), blocks.n_features)


def _masked(mask: Array, block: Block) -> Block:
    own = mask[block.start : block.start + block.n_rows]
    weight = own.astype(float) if block.weight is None else block.weight * own
    return replace(block, weight=weight)
