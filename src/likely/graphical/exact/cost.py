"""Whether inference runs its compiled loops or their readable twins.

Compiling takes seconds, and loading what was compiled before some tenths of one, so small graphs
are answered without it, until their work adds up to more than that, or the loops are there.

The limit of memory for one inference, compared with the plan before anything is allocated.
"""

import os
import re
import sys
from functools import cache
from math import inf
from pathlib import Path

from likely.errors import InvalidInput

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY_UNITS = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def memory_limit(memory: int | None = None) -> int:
    """``memory`` in bytes; by default half of the free memory."""
    return free_memory() // 2 if memory is None else memory


def memory_in_bytes(memory: int | float | str | None) -> int | None:
    """A limit as a person writes it: bytes, "256MB", "8GB", "2GiB"; None is the default.

    >>> memory_in_bytes("256MB")
    256000000
    """
    if memory is None:
        return None
    if isinstance(memory, str):
        units = UNITS | BINARY_UNITS
        found = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]i?|)b?\s*", memory.lower())
        if found and found[1].count(".") <= 1 and found[1] != ".":
            return int(float(found[1]) * units[found[2]])
    elif not isinstance(memory, bool) and 0 < memory < inf:
        return int(memory)
    raise InvalidInput(
        f"memory={memory!r} was given; a number of bytes or text such as '8GB' was expected."
    )


def free_memory() -> int:
    """The bytes of memory that programs can still take."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES")) // 2
    except (AttributeError, ValueError, OSError):
        return 4 * 2**30


FAST_WORK = 2_000_000  # cells of tables that the readable loops go through in about 0.2 s
CLIQUE_WORK = 1000  # cells that take as long as the readable loops' steps for one clique
VARIABLE_WORK = 5000  # cells that take as long as the readable planning of one variable
TO_LOAD, TO_COMPILE = FAST_WORK, 10 * FAST_WORK  # cells of small questions, in all, before either
LOOPS = "propagation"

_done = 0.0  # cells that the readable loops have gone through in this process


def is_fast(work: float) -> bool:
    """Whether work on that many cells of tables is for the compiled loops."""
    global _done
    if work >= FAST_WORK or f"likely.fast.{LOOPS}" in sys.modules or _done >= _patience():
        return True
    _done += work
    return False


@cache
def _patience() -> float:
    """How much work is worth the wait for the loops: less where they are compiled already."""
    beside = Path(__file__).parents[2] / "fast" / "__pycache__"
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or beside)
    return TO_LOAD if any(folder.rglob(f"{LOOPS}.*.nbi")) else TO_COMPILE
