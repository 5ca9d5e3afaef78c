"""The extra pass of automatic shrinkage: fourth powers about known means.

Q_k = Σ_{i: y_i = k} w_i ‖(x_i − m_k) / s_k‖⁴
"""

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from likely._typing import Array
from likely.additive import FieldwiseAdditive
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks


@final
@dataclass(frozen=True, eq=False)
class FourthPowers(FieldwiseAdditive):
    sums: Array  # Q, (n_components,)


def block_fourth_powers(mean: Array, scale: Array, block: Block) -> FourthPowers:
    X, codes = np.asarray(block.X.stored(), dtype=float), block.y
    assert codes is not None  # discriminants always have labels
    z = (X - mean[codes]) / scale[codes]
    fourth = np.einsum("ij,ij->i", z, z) ** 2
    weight = fourth if block.weight is None else fourth * block.weight
    return FourthPowers(np.bincount(codes, weight, len(mean)))


def fourth_powers(mean: Array, scale: Array, blocks: Blocks, executor: Executor) -> Array:
    """One pass over labelled data, (n_components,)."""
    return executor.sum(partial(block_fourth_powers, mean, scale), blocks).sums
