"""BLAS is held to one thread, and given back, however fits overlap."""

from contextlib import ExitStack

import scipy.linalg  # noqa: F401  # the BLAS that is counted
from threadpoolctl import threadpool_info

from likely.compute.executor import one_blas_thread


def threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_it_is_given_back():
    before = threads()
    with one_blas_thread():
        assert set(threads()) == {1}
    assert threads() == before


def test_fits_that_overlap_leave_it_as_they_found_it():
    """The first to begin is the first to end, as in two threads."""
    before = threads()
    first, second = ExitStack(), ExitStack()
    first.enter_context(one_blas_thread())
    second.enter_context(one_blas_thread())
    first.close()
    assert set(threads()) == {1}
    second.close()
    assert threads() == before
