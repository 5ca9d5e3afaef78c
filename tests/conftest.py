"""How tests draw, and which cases of a product of parameters run in the fast suite.

Properties: the same few examples in CI, fresh ones at a desk, many in slow runs. A fit without a
seed: the same seeds in every run of its test, so that one rare start fails a test always or never.
"""

import gc
import os
from itertools import count

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from hypothesis import HealthCheck, settings

settings.register_profile(
    "likely",
    deadline=None,  # the first call of a compiled loop may compile it
    suppress_health_check=[HealthCheck.too_slow],  # it is a limit in seconds
    max_examples=int(os.environ.get("LIKELY_EXAMPLES", "10")),
    derandomize="CI" in os.environ,
)
settings.load_profile("likely")


def _position(item, mark):
    """Where the values of a parametrised test are in their list."""
    names, cases = mark.args[:2]
    several = not isinstance(names, str)
    given = [item.callspec.params[name] for name in (names if several else [names])]
    for position, case in enumerate(cases):
        if isinstance(case, ParameterSet):
            case = case.values if several else case.values[0]
        if all(a is b for a, b in zip(case if several else [case], given, strict=True)):
            return position
    raise AssertionError(f"{item.nodeid} has none of the cases of {names!r}")


@pytest.fixture(scope="session", autouse=True)
def nothing_waits_for_the_disk():
    """A test does not outlive a power cut, and a disk takes milliseconds for each file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


_drawn, _default_rng = count(), np.random.default_rng


def _seeded(seed=None):
    """The generator of this seed; without one, of how many of the test's drew without one."""
    return _default_rng([0, next(_drawn)] if seed is None else seed)


np.random.default_rng = _seeded


@pytest.hookimpl(tryfirst=True)  # before the fixtures of the test draw
def pytest_runtest_setup():
    global _drawn  # one test runs at a time in a process
    _drawn = count()


def pytest_collection_finish():
    """The collected cases stay to the end: the collector need not visit them again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before the cases that are marked slow are deselected
def pytest_collection_modifyitems(items):
    """Leave to slow runs what is off the diagonals of a product of cases.

    ``diagonal(n)`` on a test of two parameters, the shorter of n values, keeps every value of each
    in one case at least: (0, 0), (1, n − 1), (2, n − 2), …
    """
    for item in items:
        mark = item.get_closest_marker("diagonal")
        if (
            mark
            and sum(_position(item, m) for m in item.iter_markers("parametrize")) % mark.args[0]
        ):
            item.add_marker(pytest.mark.slow)
