"""Clocks: interleaved, the best of several, on fresh copies; and whole processes.

A side prepares its work (this is where copies are made), then the clock runs.
"""

import gc
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, ParamSpec, TypeVar

ROOT = Path(__file__).resolve().parent.parent

P = ParamSpec("P")
R = TypeVar("R")

Work = Callable[[], Any]


class Timed(NamedTuple):
    seconds: float  # the best
    answer: Any  # what the work returned


def without_warnings(function: Callable[P, R]) -> Callable[P, R]:
    """Both sides are stopped before they converge, which both would remark on."""

    @wraps(function)
    def quiet(*args: P.args, **named: P.kwargs) -> R:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **named)

    return quiet


def with_all_steps(model: Any, n_iter: int) -> Any:
    """The model, if it took every step that it was asked for: fewer are no fair contest."""
    if model.n_iter_ != n_iter:
        raise RuntimeError(f"{type(model)} took {model.n_iter_} steps; {n_iter} were asked for.")
    return model


def best_of(repeats: int, sides: Mapping[str, Callable[[], Work]]) -> dict[str, Timed]:
    """The best time of each side; the sides take turns, and who goes first alternates."""
    best: dict[str, Timed] = {}
    for turn in range(repeats):
        names = list(sides)
        for name in names if turn % 2 == 0 else reversed(names):
            here = clocked(sides[name]())
            if name not in best or here.seconds < best[name].seconds:
                best[name] = here
    return best


def clocked(work: Work) -> Timed:
    gc.collect()
    start = perf_counter()
    answer = work()
    return Timed(perf_counter() - start, answer)


def best_process_times(repeats: int, commands: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """The best wall time of each command line of this Python, in turns, after one for the disk."""
    best = dict.fromkeys(commands, float("inf"))
    for turn in range(repeats + 1):
        for name, arguments in commands.items():
            seconds = clocked(partial(python, arguments)).seconds
            if turn > 0:
                best[name] = min(best[name], seconds)
    return best


def python(arguments: Sequence[str], *, environment: Mapping[str, str] | None = None) -> str:
    """What a fresh process of this Python prints; its complaint is raised if it fails."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"python {' '.join(arguments)[:200]} failed:\n{done.stderr[-2000:]}")
    return done.stdout
