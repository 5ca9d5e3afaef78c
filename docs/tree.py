"""The tree of source files, from the first line of each docstring, as a page of the manual."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "_build" / "tree.md"
SOURCE = ROOT / "src" / "likely"
WIDTH = 120


def tree() -> str:
    """One line for each file, folder by folder: its name, and what it is."""
    lines = ["src/likely/", *_files(SOURCE, "├── ")]
    for folder in sorted(path.parent for path in SOURCE.rglob("__init__.py")):
        if folder != SOURCE:
            name = f"{folder.relative_to(SOURCE).as_posix()}/"
            lines.append(_line("├── ", name, _summary(folder / "__init__.py")))
            lines += _files(folder, "│   ├── ")
    return "\n".join(lines) + "\n"


def write() -> None:
    """The page, for Sphinx to read: it is not kept in the repository."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(f"# The tree of files\n\n```\n{tree()}```\n", encoding="utf-8")


def _files(folder: Path, branch: str) -> list[str]:
    files = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
    return [_line(branch, path.name, _summary(path)) for path in files]


def _line(branch: str, name: str, summary: str) -> str:
    return f"{branch}{name:<{27 - len(branch)}} {summary}"[:WIDTH].rstrip()


def _summary(path: Path) -> str:
    """The first sentence of the docstring, without markup."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.split("\n")[0].replace("``", "").rstrip(".")
