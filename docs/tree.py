"""The tree of source files in docs/architecture.md, drawn from the first line of each docstring.

``python docs/tree.py`` rewrites it; a test says when that is needed.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
SOURCE = ROOT / "src" / "likely"
WIDTH = 120
START, END = "```\nsrc/likely/\n", "```"


def tree() -> str:
    """One line for each file, folder by folder: its name, and what it is."""
    lines = ["src/likely/", *_files(SOURCE, "├── ")]
    for folder in sorted(path.parent for path in SOURCE.rglob("__init__.py")):
        if folder != SOURCE:
            name = f"{folder.relative_to(SOURCE).as_posix()}/"
            lines.append(_line("├── ", name, _summary(folder / "__init__.py")))
            lines += _files(folder, "│   ├── ")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page with the tree drawn again."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    return f"{before}```\n{tree()}{END}{rest.partition(END)[2]}"


def _files(folder: Path, branch: str) -> list[str]:
    files = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
    return [_line(branch, path.name, _summary(path)) for path in files]


def _line(branch: str, name: str, summary: str) -> str:
    return f"{branch}{name:<{27 - len(branch)}} {summary}"[:WIDTH].rstrip()


def _summary(path: Path) -> str:
    """The first sentence of the docstring, without markup."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.split("\n")[0].replace("``", "").rstrip(".")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
