"""Limits on cost that hold on any machine: counts of calls, or multiples of a unit of work.

A second says nothing on a processor that is slow, or that others use too.  A call of a function is
a call everywhere.  Where the work is in compiled code, its cost is compared with that of other work
just before and just after it.
"""

import os
import subprocess
import sys
import time

LIBRARIES = "import pandas, pyarrow.compute, sklearn.base"
COUNTED = """
import sys
calls = 0
def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")
sys.setprofile(count)
try:
    exec(sys.argv.pop(1))
finally:
    sys.setprofile(None)
    print(calls, file=sys.stderr)
"""


def n_calls(code, *words, **environment):
    """The functions that a fresh interpreter calls to run this, in Python and in C."""
    command = [sys.executable, "-c", COUNTED, code, *words]
    given = {**os.environ, **environment}
    counts = []
    for _ in range(2):  # the first may have to compile modules
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=given)
        counts.append(int(done.stderr.split()[-1]))
    return min(counts)


def processor_seconds(work):
    """Seconds of the processors for a call and its children; other processes do not count."""

    def now():
        times = os.times()
        return time.process_time() + times.children_user + times.children_system

    before = now()
    work()
    return now() - before


def python(code, *words, **environment):
    """A fresh interpreter runs this."""
    command = [sys.executable, "-c", code, *words]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})


def import_libraries():
    """A unit: what a fresh interpreter needs for the libraries under every model."""
    python(LIBRARIES)


def costs_at_most(factor, unit, work, tries=4):
    """Whether some time the work costs less than ``factor`` units beside it; else, the ratios.

    Something else on the machine makes a ratio too large at times, and not four times in turn.
    """
    ratios = []
    for _ in range(tries):
        before, cost, after = (processor_seconds(each) for each in (unit, work, unit))
        ratios.append(cost / max(before, after, 1e-9))
        if ratios[-1] < factor:
            return True
    raise AssertionError(f"{', '.join(f'{r:.3g}' for r in ratios)} units; at most {factor}")
