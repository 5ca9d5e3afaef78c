"""Peak memory of this process, from the kernel.

On Linux the high-water mark (VmHWM) can be set back, so that the peak of one fit is seen and
not that of making its data.  ``ru_maxrss`` is not used there: it cannot be set back, and a
child inherits its parent's.  Elsewhere it is all there is, and growth is then a lower bound.
"""

import ctypes
import gc
import resource
import sys
from collections.abc import Callable
from pathlib import Path

MB = 1e6
STATUS = Path("/proc/self/status")
RESET_PEAK = "5"  # proc(5), clear_refs


def peak() -> float:
    """The most memory this process ever held in RAM (or since the last reset), in bytes."""
    if STATUS.exists():
        return _status("VmHWM")
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def peak_growth(work: Callable[[], object]) -> float:
    """How far the memory rises above what is held before the work, in bytes."""
    gc.collect()
    if not STATUS.exists():
        before = peak()
        work()
        return peak() - before
    ctypes.CDLL(None).malloc_trim(0)  # free memory kept by malloc would hide the first growth
    Path("/proc/self/clear_refs").write_text(RESET_PEAK)
    before = _status("VmRSS")
    work()
    return _status("VmHWM") - before


def _status(field: str) -> float:
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return float(line.split()[1]) * 1024
    raise LookupError(f"{STATUS} has no {field}; Linux was expected to say it.")
