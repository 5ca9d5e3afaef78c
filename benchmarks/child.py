"""What must be measured in a fresh process: the first call of a fit, and its peak memory.

    python -m benchmarks.child first MODULE SIDE '{"rows": …}'     → {"first": s, "later": s}
    python -m benchmarks.child peak  MODULE SIDE '{"rows": …}'     → {"growth": bytes}

MODULE has ``prepare(side, sizes)``, which makes the data and returns the fit, and ``SMALL``,
sizes just large enough to load and compile everything before memory is measured.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from benchmarks.memory import peak_growth
from benchmarks.workbench import clocked, python

Sizes = Mapping[str, int]
Prepare = Callable[[str, Sizes], Callable[[], Any]]

SIDES = {"ours": "benchmarks.ours", "theirs": "benchmarks.against.scikit_learn"}


class FirstCall(NamedTuple):
    """Seconds that the first fit of a process takes longer than the next."""

    empty_cache: float
    filled_cache: float


def side(name: str) -> Any:
    """The module of adapters of that side."""
    return import_module(SIDES[name])


def first_call(module: str, name: str, sizes: Sizes) -> FirstCall:
    """With nothing compiled on disk, and with what the first process left there."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {"NUMBA_CACHE_DIR": cache}
        command = _command("first", module, name, sizes)
        found = [json.loads(python(command, environment=environment)) for _ in range(2)]
    return FirstCall(*(max(0.0, each["first"] - each["later"]) for each in found))


def peak_of_fit(module: str, name: str, sizes: Sizes) -> float:
    """Bytes that one fit needs beyond its data, when everything is loaded and compiled."""
    growth: float = json.loads(python(_command("peak", module, name, sizes)))["growth"]
    return growth


def _command(what: str, module: str, name: str, sizes: Sizes) -> list[str]:
    return ["-m", "benchmarks.child", what, module, name, json.dumps(dict(sizes))]


def main(what: str, module: str, name: str, sizes: str) -> None:
    bench = import_module(module)
    prepare: Prepare = bench.prepare
    wanted: Sizes = json.loads(sizes)
    if what == "first":
        fit = prepare(name, wanted)
        found = {"first": clocked(fit).seconds, "later": clocked(fit).seconds}
    else:
        prepare(name, {**wanted, **bench.SMALL})()
        found = {"growth": peak_growth(prepare(name, wanted))}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
