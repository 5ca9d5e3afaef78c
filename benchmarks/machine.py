"""The machine and the versions a number was measured with; never its name or its paths."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from likely import __version__
from likely.compute.executor import usable_cores

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pyarrow",
    "pandas",
    "glum",
    "statsmodels",
    "adelie",
    "celer",
    "snapml",
    "liblinear-official",
    "skordinal",
)
CPUINFO = Path("/proc/cpuinfo")


def environment() -> dict[str, Any]:
    np.dot(np.ones(2), np.ones(2))  # BLAS is seen once it is loaded
    return {
        "cpu": _cpu(),
        "cores": usable_cores(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": platform.system(),
        "versions": {"python": platform.python_version(), "likely": __version__, **_versions()},
        "threads": {
            "likely": usable_cores(),
            "blas": sorted({pool["num_threads"] for pool in threadpool_info()}),
        },
    }


def _cpu() -> str:
    if CPUINFO.exists():
        for line in CPUINFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
