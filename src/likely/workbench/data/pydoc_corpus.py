"""A corpus of short texts: docstrings of Python's standard library, labelled by their module.

The source files are parsed, and no module is imported.  The corpus is the same for all machines
with one version of Python; modules that an installation does not have are left out.
"""

import ast
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

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
