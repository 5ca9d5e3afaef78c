"""The limit of memory for one inference, compared with the plan before anything is allocated."""

import os
import re
from math import inf

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
