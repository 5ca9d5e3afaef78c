"""Loops on disk are told apart by name: the symbols of two of one name may be mixed up."""

from collections import Counter
from importlib import import_module
from pkgutil import iter_modules

from numba.core.dispatcher import Dispatcher

from likely import fast


def test_every_loop_has_a_name_of_its_own():
    loops = {}
    for each in iter_modules(fast.__path__):
        module = import_module(f"likely.fast.{each.name}")
        for loop in vars(module).values():
            if isinstance(loop, Dispatcher):
                loops[id(loop)] = (loop.py_func.__module__, loop.py_func.__qualname__)
    assert len(loops) > 100
    repeated = [name for name, n in Counter(loops.values()).items() if n > 1]
    assert repeated == []
    assert [name for _, name in loops.values() if "<locals>" in name] == []
