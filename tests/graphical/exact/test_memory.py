"""Limits of memory as people write them."""

import pytest

from likely.errors import InvalidInput
from likely.graphical.exact import cost
from likely.graphical.exact.cost import free_memory, memory_in_bytes, memory_limit


@pytest.mark.parametrize(
    ("written", "n_bytes"),
    [
        ("8GB", 8 * 10**9),
        ("2 GiB", 2 * 2**30),
        ("1.5k", 1500),
        ("100", 100),
        ("3b", 3),
        (64, 64),
        (None, None),
    ],
)
def test_a_limit_is_a_number_of_bytes(written, n_bytes):
    assert memory_in_bytes(written) == n_bytes


@pytest.mark.parametrize("written", ["", "much", "1.2.3GB", ".", -1, 0, True, float("inf"), "8EB"])
def test_other_limits_are_refused(written):
    with pytest.raises(InvalidInput, match=r"a number of bytes or text such as '8GB'"):
        memory_in_bytes(written)


def test_free_memory_is_asked_of_the_system_in_several_ways(monkeypatch):
    def refused(*_, **__):
        raise OSError

    monkeypatch.setattr("builtins.open", refused)
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}
    monkeypatch.setattr(cost.os, "sysconf", pages.__getitem__)
    assert free_memory() == 4096 * 1000 // 2
    monkeypatch.setattr(cost.os, "sysconf", refused)
    assert free_memory() == 4 * 2**30


def test_the_default_is_half_of_the_free_memory():
    assert memory_limit(5) == 5
    assert 0 < memory_limit() <= free_memory()
