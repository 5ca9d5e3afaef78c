"""Random numbers by key on tensors: ``likely.keyed_random`` bit for bit, for many keys at once.

    z ← mix(z ⊕ (n G + G))   (mod 2⁶⁴)

torch has no unsigned 64-bit arithmetic, but int64 wraps around, so sums and products have the same
bits.  A shift to the right copies the sign, which is masked; an unsigned comparison is a signed
one with the top bit flipped.
"""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from likely.keyed_random import FIRST, GOLDEN, SECOND, WORD, keyed
from likely.neural.tensors.library import torch_library
from likely.solvers.mini_batches import WINDOW

HALF = WORD // 2
DRAWS = 2**53  # a uniform number is k / 2⁵³ with k from 0 to 2⁵³ − 1


def signed(word: int) -> int:
    """The int64 with the bits of a word modulo 2⁶⁴."""
    word %= WORD
    return word - WORD if word >= HALF else word


G, M1, M2 = signed(int(GOLDEN)), signed(int(FIRST)), signed(int(SECOND))
TOP_BIT = signed(HALF)


def mix(z: Any) -> Any:
    """SplitMix64's bijection of 64-bit words."""
    z = (z ^ shifted(z, 30)) * M1
    z = (z ^ shifted(z, 27)) * M2
    return z ^ shifted(z, 31)


def shifted(z: Any, bits: int) -> Any:
    """z / 2^bits of the unsigned word."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def next_key(key: Any, number: Any) -> Any:
    """The key with one more number; tensors that broadcast."""
    return mix(key ^ (number * G + G))


def keys_of(seeds: Sequence[int], number: int, device: Any) -> Any:
    """The keys (seed, number) of several seeds, (n_seeds,)."""
    words = np.array([keyed(seed, number) for seed in seeds], dtype=np.uint64)
    return torch_library().from_numpy(words.view(np.int64)).to(device)


def least_dropped(kept: float) -> int:
    """The least k with k / 2⁵³ ≥ ``kept``: whole numbers compare as the uniform numbers do."""
    return ceil(kept * DRAWS)


def kept_units(row_key: Any, size: int, least: Any) -> Any:
    """Whether units 0 … size − 1 are kept, for each key of a row: (…, size) of Booleans."""
    units = torch_library().arange(size, device=row_key.device)
    return shifted(next_key(row_key[..., None], units), 11) < least


def epoch_orders(
    n_rows: int, seeds: Sequence[int], epoch: int, device: Any, *, window: int = WINDOW
) -> Any:
    """``epoch_order`` of several seeds, (n_seeds, n_rows), sorted where the tensors are."""
    torch = torch_library()
    index = torch.arange(n_rows, device=device)
    key = next_key(keys_of(seeds, epoch, device)[:, None], index) ^ TOP_BIT
    order = torch.empty_like(key)
    for low in range(0, n_rows, window):
        order[:, low : low + window] = low + key[:, low : low + window].argsort(dim=1, stable=True)
    return order
