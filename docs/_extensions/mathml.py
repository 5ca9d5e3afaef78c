"""Formulas as MathML, which browsers draw themselves: the manual needs no network to be read."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

# browsers leave no room after the name of a function whose argument has no bracket
APPLIED = re.compile(r"<mo>&ApplyFunction;</mo>(?!\s*<mo)")


def mathml(tex: str, *, block: bool = False) -> str:
    return APPLIED.sub('<mspace width="0.17em"/>', tex2mathml(tex, as_block=block))


def visit_inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_display(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
