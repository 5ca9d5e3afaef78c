"""The equations in docstrings are plain Unicode in indented blocks: show them as they stand.

docutils would read an indented block as a quotation and a bar as a substitution.  A module's
docstring therefore turns its indented blocks into literal ones, and elsewhere the bars of |β| are
escaped; bars in an example or between back quotes stay as they are.
"""

import re
from typing import Any

from sphinx.application import Sphinx


def literal_blocks(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    if what != "module":
        return
    shown: list[str] = []
    inside = False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not inside:
            shown += ["::", ""]
        if line.strip():
            inside = indented
        shown.append(line)
    lines[:] = shown


def plain_bars(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """|β| is an absolute value; no docstring has substitutions."""
    if what == "module":
        return
    for i, line in enumerate(lines):
        if "|" in line and "`" not in line and not line.lstrip().startswith((">>>", "...")):
            lines[i] = re.sub(r"(?<!\\)\|(?=\S)", r"\|", line)


def setup(app: Sphinx) -> dict[str, Any]:
    # before numpydoc, which rewrites the sections
    app.connect("autodoc-process-docstring", literal_blocks, priority=100)
    app.connect("autodoc-process-docstring", plain_bars, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
