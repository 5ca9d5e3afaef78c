"""Compiled loops on disk: a changed loop of another file is noticed, and compiling is reported."""

import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from likely.errors import LoopsNotKept
from likely.fast import kept_loops
from likely.output.progress import listening

INNER = """from numba import njit


@njit(cache=True)
def inner(x):
    return x + {number}
"""
OUTER = """from numba import njit

from likely.fast.inner_loop import inner


@njit(cache=True)
def outer(x):
    return 10 * inner(x)
"""


@pytest.fixture
def loops(tmp_path, monkeypatch):
    """Write two files of loops and load them, as a new process would: (the outer loop, steps)."""
    monkeypatch.setattr(kept_loops, "FOLDER", tmp_path)
    (tmp_path / "outer_loop.py").write_text(OUTER)

    def load(number):
        (tmp_path / "inner_loop.py").write_text(INNER.format(number=number))
        kept_loops.source_stamp.cache_clear()
        for name in ("inner_loop", "outer_loop"):
            spec = spec_from_file_location(f"likely.fast.{name}", tmp_path / f"{name}.py")
            module = module_from_spec(spec)
            monkeypatch.setitem(sys.modules, spec.name, module)
            spec.loader.exec_module(module)
        steps = []
        with listening(steps.append):
            answer = module.outer(1)
        return answer, [step.what for step in steps]

    yield load
    kept_loops.source_stamp.cache_clear()


def refuse(locator):
    raise OSError("read-only")


@pytest.mark.parametrize("place", ["__pycache__", "given", "read-only"])
def test_a_changed_loop_of_another_file_is_compiled_again(loops, tmp_path, monkeypatch, place):
    kept = tmp_path / place
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(kept) if place == "given" else "")
    if place == "read-only":  # the folder of the sources is; the user's cache is not
        monkeypatch.setenv("XDG_CACHE_HOME", str(kept))
        monkeypatch.setattr(kept_loops.caching.InTreeCacheLocator, "ensure_cache_path", refuse)
    answer, steps = loops(1)
    assert answer == 20 and set(steps) == {"compiling"}
    assert list(kept.rglob("outer_loop.outer*.nbi"))
    assert loops(1) == (20, [])  # loaded
    answer, steps = loops(2)
    assert answer == 30 and "compiling" in steps


def test_a_stamp_is_of_the_file_and_all_it_imports():
    def changed_by(name):
        """The files whose stamps depend on that file, from their import lines."""
        return {file.stem for file in kept_loops.FOLDER.glob("*.py") if name in reached(file.stem)}

    def reached(name, seen=()):
        content = (kept_loops.FOLDER / f"{name}.py").read_bytes()
        found = {(a or b).decode() for a, b in kept_loops.IMPORTED.findall(content)}
        return {name}.union(*(reached(other, (*seen, name)) for other in found - {*seen, name}))

    assert {"rows", "single_rows", "propagation"} <= changed_by("strided")
    assert changed_by("dense") == {"dense"}
    stamps = {file.stem: kept_loops.source_stamp(file) for file in kept_loops.FOLDER.glob("*.py")}
    assert len(set(stamps.values())) == len(stamps)


def test_loops_of_other_packages_keep_their_own_place():
    def loop_of_another_package(x):
        return x

    kept = kept_loops.dispatcher.FunctionCache(loop_of_another_package)
    assert type(kept) is kept_loops.caching.FunctionCache


def test_an_index_of_other_sources_is_not_read(loops, tmp_path, monkeypatch):
    """It may name types that the sources no longer have."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")
    loops(1)
    kept = list(tmp_path.rglob("*.nbi"))
    assert kept
    for file in kept:
        file.write_bytes(b"no index")
    assert loops(2)[0] == 30


@pytest.fixture
def nowhere(monkeypatch):
    """Nothing can be written, neither beside the sources nor in the home folder."""
    kept_loops._say_not_kept.cache_clear()
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")

    def close():
        for place in ("InTreeCacheLocator", "UserWideCacheLocator"):
            locator = getattr(kept_loops.caching, place)
            monkeypatch.setattr(locator, "ensure_cache_path", refuse)

    yield close
    kept_loops._say_not_kept.cache_clear()


def test_without_a_place_to_write_loops_are_compiled_with_one_warning(loops, nowhere):
    nowhere()
    with pytest.warns(LoopsNotKept, match="NUMBA_CACHE_DIR") as said:
        answer, steps = loops(1)
    assert answer == 20 and set(steps) == {"compiling"} and len(said) == 1


def test_loops_beside_read_only_sources_are_used(loops, nowhere):
    loops(1)
    nowhere()
    assert loops(1) == (20, [])


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_loops_on_disk_are_compiled_again_and_replaced(loops, tmp_path, nowhere, ending):
    loops(1)
    for file in tmp_path.rglob(f"*.{ending}"):
        file.write_bytes(file.read_bytes()[:20])
    answer, steps = loops(1)
    assert answer == 20 and set(steps) == {"compiling"}
    assert loops(1) == (20, [])
