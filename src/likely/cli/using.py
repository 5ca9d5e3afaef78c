"""``--jobs`` for the time of a command."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "LIKELY_JOBS"  # read by likely.compute.threads


@contextmanager
def using_jobs(jobs: int | None) -> Iterator[None]:
    """As many threads as were asked for; None leaves things as they are."""
    before = os.environ.get(VARIABLE)
    if jobs is not None:
        os.environ[VARIABLE] = str(jobs)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before
