"""Compiled loops on disk: when they are compiled again, and the word that it is being done.

Numba keeps a compiled loop beside its source, and compiles it again when that file has changed.
The loops of other files that were compiled into it are not looked at, so that a change there would
leave the old machine code in use.  Here a loop is stamped with the content of its own file and of
every file of this folder that it imports, directly or not.  Where loops are kept (beside the
source, in ``NUMBA_CACHE_DIR``, or in the user's cache if the folder is read-only) and how several
processes write there stays Numba's business.
"""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path

from numba.core import caching, event

from likely.progress import report

FOLDER = Path(__file__).parent
PLACES = ("UserProvidedCacheLocator", "InTreeCacheLocator", "UserWideCacheLocator")
IMPORTED = re.compile(rb"^\s*from likely\.fast\.(\w+) import|^\s*import likely\.fast\.(\w+)", re.M)


@cache
def source_stamp(file):
    """A digest of a file of loops and of all files of loops that it imports."""
    digest, seen, waiting = sha256(), set(), [Path(file)]
    while waiting:
        path = waiting.pop()
        if path in seen or not path.exists():
            continue
        seen.add(path)
        content = path.read_bytes()
        digest.update(content)
        names = sorted(a or b for a, b in IMPORTED.findall(content))
        waiting += [path.with_name(f"{name.decode()}.py") for name in names]
    return digest.digest()


def _by_all_sources(locator):
    """Numba's way to a place on disk, for the loops of this folder, with their stamp."""

    class ByAllSources(locator):  # type: ignore[valid-type, misc]  # a class of Numba
        def get_source_stamp(self):
            return source_stamp(self._py_file)

        @classmethod
        def from_function(cls, py_func, py_file):
            own = Path(py_file).parent == FOLDER
            return super().from_function(py_func, py_file) if own else None

    return ByAllSources


def keep_by_all_sources():
    """Stamp the loops of this folder; loops of other packages are kept as Numba keeps them."""
    try:
        known = caching.CacheImpl._locator_classes
        ours = [_by_all_sources(getattr(caching, name)) for name in PLACES]
    except AttributeError:
        return  # another version of Numba, whose own stamps have to do
    if not any(each.__name__ == ours[0].__name__ for each in known):  # not twice, after a reload
        caching.CacheImpl._locator_classes = [*ours, *known]


class _Compilation(event.Listener):
    """Says that Numba begins to compile."""

    def on_start(self, event):
        report("compiling", 0, "once")

    def on_end(self, event):
        pass


def report_compilation():
    """Report when a loop is compiled, which takes seconds, and not when it is loaded."""
    event.register("numba:compile", _Compilation())
