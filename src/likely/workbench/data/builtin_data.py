"""The built-in data sets: real tables of scikit-learn, and a corpus of texts made on the spot.

A corpus of short texts: docstrings of Python's standard library, labelled by their module.

The source files are parsed, and no module is imported.  The corpus is the same for all machines
with one version of Python; modules that an installation does not have are left out.
"""

import ast
import re
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

TEXT, TARGET = "text", "module"
MODULES = (  # with many docstrings, in all versions of Python that are supported
    *("asyncio", "email", "http", "importlib", "inspect", "ipaddress", "logging", "mailbox"),
    *("multiprocessing", "statistics", "tarfile", "threading", "turtle", "typing", "unittest"),
    *("urllib", "xml"),
)
FEWEST_WORDS = 4  # of a docstring; shorter ones say little
TESTS = frozenset({"test", "tests", "__pycache__"})  # folders that an installation may not have
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Builtin(NamedTuple):
    """A built-in data set: how it is loaded, and the name of its target."""

    loader: str  # in sklearn.datasets; empty for the corpus
    target: str
    about: str
    texts: tuple[str, ...] = ()  # columns whose words are counted


BUILTIN = {
    "iris": Builtin("load_iris", "species", "150 flowers of three species, measured in cm"),
    "wine": Builtin("load_wine", "cultivar", "178 wines of three cultivars, analysed"),
    "breast-cancer": Builtin("load_breast_cancer", "diagnosis", "569 tumours, measured by image"),
    "digits": Builtin("load_digits", "digit", "1,797 handwritten digits of 8 × 8 pixels"),
    "diabetes": Builtin(
        "load_diabetes", "progression", "442 patients and their disease progression after a year"
    ),
    "pydoc": Builtin("", TARGET, "docstrings of Python's standard library", (TEXT,)),
}


def builtin_table(name: str) -> "pa.Table":
    """The table of a built-in set, its target in the last column."""
    import pyarrow as pa
    from sklearn import datasets

    entry = BUILTIN[name]
    if not entry.loader:
        return pydoc_table()
    loaded = getattr(datasets, entry.loader)()
    columns = {}
    for j, feature in enumerate(loaded.feature_names):  # "sepal length (cm)" is sepal_length
        tidy = re.sub(r"\W+", "_", re.sub(r"\(.*?\)", "", str(feature)).strip())
        columns[tidy] = pa.array(loaded.data[:, j])
    y = loaded.target
    if name not in ("digits", "diabetes"):  # classes by name; those two are numbers
        y = [str(loaded.target_names[code]) for code in y]
    columns[entry.target] = pa.array(y)
    return pa.table(columns)


@cache
def pydoc_table() -> "pa.Table":
    """The docstrings in the order of modules, files and lines, and the module of each."""
    import pyarrow as pa

    found = [(text, module) for module in MODULES for text in _docstrings(module)]
    rows = dict.fromkeys(found)  # a docstring that a module repeats is one document
    texts, modules = zip(*rows, strict=True)
    return pa.table({TEXT: pa.array(texts, pa.string()), TARGET: pa.array(modules, pa.string())})


def _docstrings(module: str) -> Iterator[str]:
    """The docstrings of a module or a package."""
    for path in _sources(module):
        for node in _in_order(ast.parse(path.read_bytes(), str(path))):
            text = ast.get_docstring(node)
            if text is not None and len(text.split()) >= FEWEST_WORDS:
                yield text


def _sources(module: str) -> list[Path]:
    """The files of a module, or of all modules of a package."""
    root = Path(sysconfig.get_path("stdlib"))
    alone, package = root / f"{module}.py", root / module
    if alone.is_file():
        return [alone]
    files = (path for path in package.rglob("*.py") if TESTS.isdisjoint(path.parts))
    return sorted(files, key=lambda path: path.as_posix())


def _in_order(tree: ast.Module) -> list[Documented]:
    """What may have a docstring, by line."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, Documented)]
    return sorted(nodes, key=lambda node: getattr(node, "lineno", 0))
