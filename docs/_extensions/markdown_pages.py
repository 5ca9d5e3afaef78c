"""Markdown pages in the manual, as GitHub shows them: headings, tables, code and links.

Each page becomes one section of rendered HTML under its first heading; links to
other Markdown pages of the manual are turned to the pages made from them.
"""

import re
from typing import Any, ClassVar

from docutils import nodes
from markdown_it import MarkdownIt
from sphinx.application import Sphinx
from sphinx.parsers import Parser

LINK_TO_PAGE = re.compile(r'href="(?!https?:)([^"#]+)\.(?:md|rst)(#[^"]*)?"')
HEADING = re.compile(r"<(h[2-6])>(.*?)</\1>")
LINK_TO_FOLDER = re.compile(r'href="(?!https?:)([^"#]+)/"')


class MarkdownParser(Parser):
    """Renders a page with the same library that rich uses on a terminal."""

    supported: ClassVar[tuple[str, ...]] = ("markdown", "md")

    def parse(self, inputstring: str, document: nodes.document) -> None:
        first, _, rest = inputstring.partition("\n")
        title = first.removeprefix("# ").replace("`", "")
        section = nodes.section(ids=[nodes.make_id(title)], names=[title])
        section += nodes.title(title, title)
        section += nodes.raw("", self._html(rest), format="html")
        document += section

    def _html(self, text: str) -> str:
        html = MarkdownIt("commonmark").enable("table").render(text)
        html = HEADING.sub(_with_anchor, html)
        html = LINK_TO_FOLDER.sub(r'href="\1/index.html"', html)
        return LINK_TO_PAGE.sub(r'href="\1.html\2"', html)


def _with_anchor(heading: re.Match[str]) -> str:
    """A heading with the anchor that links from other pages use."""
    level, text = heading.groups()
    return f'<{level} id="{nodes.make_id(text)}">{text}</{level}>'


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_source_parser(MarkdownParser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
