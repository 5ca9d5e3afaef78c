"""How fast this machine is, by work that is not ours: limits of time are multiples of it."""

import os
import subprocess
import sys
from functools import cache

LIBRARIES = "import pandas, pyarrow.compute, sklearn.base"


def processor_seconds(command, **environment):
    """Seconds of the processors; other work on the machine does not count."""
    before = os.times()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    after = os.times()
    spent = after.children_user + after.children_system
    return spent - before.children_user - before.children_system


@cache
def import_seconds():
    """What a fresh interpreter needs for the libraries under every model: one to two seconds."""
    return min(processor_seconds([sys.executable, "-c", LIBRARIES]) for _ in range(3))
