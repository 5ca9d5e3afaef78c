"""Drawings by matplotlib as SVG inside the page, in the colours of the page.

Pictures are drawn in placeholder colours, ``INK`` or ``ACCENT``, each a hex code that
nothing else uses; in the finished SVG they are replaced by CSS variables of the page, so one
drawing works on the light page, the dark page and paper.  Text stays text, in the page's font.
"""

import re
from collections.abc import Callable, Sequence
from html import escape
from io import StringIO
from typing import Any

from likely.output.formatting import short_number
from likely.output.pictures import without_glyph_warnings
from likely.reports.section import Picture

INK, MUTED, RULE, ACCENT, SECOND = "#010201", "#010202", "#010203", "#010204", "#010205"
SERIES = (ACCENT, SECOND, "#010206", "#010207", "#010208", "#010209")  # of several classes
VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    RULE: "--rule",
    ACCENT: "--accent",
    SECOND: "--second",
    **{code: f"--series-{k}" for k, code in enumerate(SERIES) if k > 1},
}
SIZE = (4.6, 3.3)  # inches: narrow, so that letters stay readable on a phone
REM_PER_INCH = 6.5  # on the page, so that letters have one size in all pictures
POINTS_PER_INCH = 72  # a point of the drawing is a pixel of its own
SMALLEST_DRAWN, SMALLEST_LETTERS = 9, 9  # points of a drawing, and pixels on a phone
MOST_TICKS = 5  # steps along the foot of a narrow picture
ID = "FIGURE-"  # in front of each id; the page puts the number of the picture in its place

STYLE: dict[Any, Any] = {  # of matplotlib
    "svg.fonttype": "none",
    "svg.hashsalt": "likely",  # the same report twice is the same file
    "text.parse_math": False,  # a column may be called $x$
    "font.family": "DejaVu Sans",  # wider than the page's font, so that nothing is cut off
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": RULE,
    "axes.labelcolor": MUTED,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.unicode_minus": False,  # as in the text
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.6,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
}


def picture(
    draw: Callable[[Any], None],
    label: str,
    *,
    caption: str = "",
    size: tuple[float, float] = SIZE,
    grid: tuple[int, int] | None = None,
) -> Picture:
    """The picture that ``draw`` draws on a pair of axes; ``label`` describes it in words.

    With a ``grid`` of rows and columns it gets that many pairs of axes with shared scales.
    """
    import matplotlib as mpl
    from cycler import cycler
    from matplotlib.figure import Figure

    with mpl.rc_context(), without_glyph_warnings():  # the reader's browser has other fonts
        mpl.rcParams.update({**STYLE, "axes.prop_cycle": cycler(color=list(SERIES))})
        figure = Figure(figsize=size, layout="constrained")
        draw(
            figure.subplots()
            if grid is None
            else figure.subplots(*grid, sharex=True, sharey=True, squeeze=False)
        )
        file = StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    wide = REM_PER_INCH * size[0]
    return Picture(_inline(file.getvalue(), label), label, caption, wide, _least(size[0]))


def _least(inches: float) -> float:
    """The width in pixels at which the smallest letters have ``SMALLEST_LETTERS``."""
    return round(inches * POINTS_PER_INCH * SMALLEST_LETTERS / SMALLEST_DRAWN)


def shade(colour: str = "#4f7fd6", strongest: float = 0.6) -> Any:
    """A colour map from transparent to a colour on which text is readable."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    red, green, blue = to_rgb(colour)
    ends = [(red, green, blue, 0.0), (red, green, blue, strongest)]
    return LinearSegmentedColormap.from_list("shade", ends)


def diagonal(ax: Any, ends: Sequence[float] = (0.0, 1.0)) -> None:
    """Draw the line of a perfect model."""
    ax.plot(ends, ends, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)


def few_ticks(axis: Any) -> None:
    """Ticks at round numbers, with space for four digits and a sign."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(MOST_TICKS, steps=[1, 2, 2.5, 5, 10]))


def thousands(axis: Any) -> None:
    """``1,000``, as in the text."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(
        FuncFormatter(
            lambda value, _: f"{value:,.0f}" if value == round(value) else short_number(value)
        )
    )


def legend_above(ax: Any, columns: int = 2) -> None:
    """A legend outside the axes, where it hides nothing and is not cut off."""
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.01),
        ncols=columns,
        borderaxespad=0,
        handlelength=1.6,
        columnspacing=1.2,
    )


def _inline(svg: str, label: str) -> str:
    """The SVG element alone: no prologue, no namespaces, ids of its own, the page's colours."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<(metadata|style)\b.*?</\1>", "", body, flags=re.DOTALL)
    head, rest = body.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None, "matplotlib writes a viewBox"
    rest = re.sub(r'\bid="([^"]+)"', rf'id="{ID}\1"', rest)
    rest = rest.replace("url(#", f"url(#{ID}")
    rest = re.sub(r'(?:xlink:)?href="#', f'href="#{ID}', rest)
    rest = rest.replace("xlink:href=", "href=")
    for colour, variable in VARIABLES.items():
        rest = rest.replace(colour, f"var({variable})")
    rest = re.sub(r"\n\s*", "\n", rest)
    return f'<svg {box[0]} role="img" aria-label="{escape(label, quote=True)}">{rest}'.rstrip()
