"""Compiled loops on disk: when they are compiled again, and the word that it is being done.

Numba keeps a compiled loop beside its source, and compiles it again when that file has changed.
The loops of other files that were compiled into it are not looked at, so that a change there would
leave the old machine code in use.  Here a loop is stamped with the content of its own file and of
every file of this folder that it imports, directly or not.  Where loops are kept (beside the
source, in ``NUMBA_CACHE_DIR``, or in the user's cache if the folder is read-only) and how several
processes write there stays Numba's business.  Where none of these can be written, loops that are
beside the source are used, the others are compiled in every process, and a warning says so.
"""

import re
from contextlib import suppress
from functools import cache
from hashlib import sha256
from inspect import getfile
from pathlib import Path
from warnings import warn

from numba.core import caching, dispatcher, event

from likely.errors import LoopsNotKept
from likely.output.progress import report

FOLDER = Path(__file__).parent
BESIDE = "InTreeCacheLocator"  # the sources
PLACES = ("UserProvidedCacheLocator", BESIDE, "UserWideCacheLocator")
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

        def get_disambiguator(self):
            """In the names of files, too: an index of other sources may not even be readable."""
            return f"{super().get_disambiguator()}-{source_stamp(self._py_file).hex()[:12]}"

    return ByAllSources


def _for_reading(locator):
    """The place beside the sources where it cannot be written: what is kept there is read."""

    class ForReading(locator):  # type: ignore[valid-type, misc]  # a class of Numba
        @classmethod
        def from_function(cls, py_func, py_file):
            return cls(py_func, py_file)

    return ForReading


class _Caches:
    """Where a compiled function is kept: by our rules if it is a loop of this folder."""

    def __init__(self, ours, usual):
        self.ours, self.usual = ours, usual

    def __call__(self, py_func):
        own = Path(getfile(py_func)).parent == FOLDER
        return self.ours(py_func) if own else self.usual(py_func)


def keep_by_all_sources():
    """Stamp the loops of this folder; loops of other packages are kept as Numba keeps them."""
    try:
        usual = dispatcher.FunctionCache  # type: ignore[attr-defined]  # not in its stubs
        places = [_by_all_sources(getattr(caching, name)) for name in PLACES]
        ours = _kept_loop([*places, _for_reading(places[PLACES.index(BESIDE)])])
    except AttributeError:
        return  # another version of Numba, whose own ways have to do
    if type(usual).__name__ != _Caches.__name__:  # not twice, after a reload
        dispatcher.FunctionCache = _Caches(ours, usual)  # type: ignore[attr-defined]


def _kept_loop(places):
    """Numba's store of one loop, without which the loop is compiled in every process."""

    class Places(caching.CompileResultCacheImpl):
        _locator_classes = places

    class KeptLoop(caching.FunctionCache):
        _impl_class = Places

        def load_overload(self, sig, target_context):
            """None, so that the loop is compiled, also where what is on disk cannot be read."""
            try:
                return super().load_overload(sig, target_context)
            except Exception:  # damaged files raise errors of every kind
                with suppress(OSError):
                    self.flush()
                return None

        def save_overload(self, sig, data):
            try:
                super().save_overload(sig, data)
            except OSError as error:
                _say_not_kept(self.cache_path, error.strerror)

    return KeptLoop


@cache
def _say_not_kept(folder, reason):
    """Once in a process."""
    warn(
        f"Compiled loops cannot be kept in {folder} ({reason}), so every process compiles them "
        "again, which takes seconds. Set the environment variable NUMBA_CACHE_DIR to a folder "
        "that can be written.",
        LoopsNotKept,
        stacklevel=2,
    )


class _Compilation(event.Listener):
    """Says that Numba begins to compile."""

    def on_start(self, event):
        report("compiling", 0, "once")

    def on_end(self, event):
        pass


def report_compilation():
    """Report when a loop is compiled, which takes seconds, and not when it is loaded."""
    event.register("numba:compile", _Compilation())
