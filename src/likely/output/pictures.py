"""What pictures share: new axes, bars with names, and fonts that have the characters of names.

Matplotlib is imported when a picture is drawn.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from likely._typing import Array
from likely.errors import MissingFont, warn_user
from likely.numerics.intervals import wilson

GREY = "0.5"
BINS, LEVEL = 10, 0.95  # of a reliability diagram
LONGEST_NAME = 32  # letters of a name beside a bar
LONGEST_TICK = 14  # letters of a category below an axis
WIDTH, ROW_HEIGHT, LEAST_HEIGHT = 6.4, 0.28, 2.2  # inches
FALLBACKS = (  # fonts with many scripts, tried in this order where they are installed
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans CJK KR",
    "Source Han Sans",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "IPAexGothic",
    "IPAGothic",
    "Hiragino Sans",
    "PingFang SC",
    "Apple SD Gothic Neo",
    "Yu Gothic",
    "Microsoft YaHei",
    "MS Gothic",
    "Malgun Gothic",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
    "Noto Sans Hebrew",
    "Noto Sans Thai",
    "Arial Unicode MS",
    "Unifont",
    "Droid Sans Fallback",
)
MISSING_GLYPH = r"Glyph \d+.* missing from"


def new_axes(n_rows: int | None = None, *, size: tuple[float, float] = (WIDTH, 4.0)) -> Any:
    """New matplotlib axes; with ``n_rows`` names along the side, as high as they need."""
    import matplotlib.pyplot as plt

    if n_rows is not None:
        size = WIDTH, max(LEAST_HEIGHT, 1.0 + ROW_HEIGHT * n_rows)
    return plt.subplots(figsize=size, layout="constrained")[1]


def names_along_side(ax: Any, names: Sequence[str]) -> None:
    """Names at 0, 1, … from the top, shortened, in fonts that have their characters."""
    ax.set_yticks(range(len(names)), [shortened_name(name) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    readable(ax)


def readable(ax: Any) -> None:
    """Give each text of the axes a font that has its characters, where one is installed."""
    texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
    texts += [*ax.get_xticklabels(), *ax.get_yticklabels()]
    legend = ax.get_legend()
    texts += [] if legend is None else legend.get_texts()
    for text in texts:
        text.set_parse_math(False)  # a column may be called $x$
    fonts, missing = fonts_for(text.get_text() for text in texts)
    if fonts:
        for text in texts:
            text.set_fontfamily([*text.get_fontfamily(), *fonts])
    if missing:
        _warn_of_missing(missing)


def shortened_name(name: str, most: int = LONGEST_NAME) -> str:
    """A name of at most ``most`` letters; the middle is left out, because ends tell more."""
    if len(name) <= most:
        return name
    tail = most // 2
    return f"{name[: most - tail - 1]}…{name[len(name) - tail :]}"


def fonts_for(texts: Iterable[str]) -> tuple[list[str], str]:
    """Fonts to be added to the usual one for these texts; characters that no font has."""
    wanted = {ord(c) for text in texts for c in text if ord(c) > 0x7F}
    missing = wanted - _characters("DejaVu Sans")
    chosen = []
    for name in FALLBACKS if missing else ():
        found = missing & _characters(name)
        if found:
            chosen.append(name)
            missing -= found
        if not missing:
            break
    return chosen, "".join(map(chr, sorted(missing)))


@cache
def _warn_of_missing(characters: str) -> None:
    """Warn once of characters that are drawn as boxes, instead of for each at each draw."""
    warn_user(
        f"No installed font has the characters {characters[:10]!r} of a picture, which are drawn "
        "as boxes. Install a font that has them, such as Noto Sans CJK.",
        MissingFont,
    )
    warnings.filterwarnings("ignore", message=MISSING_GLYPH)


@cache
def _characters(font: str) -> frozenset[int]:
    """The code points that an installed font has; none of one that is not installed."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        path = findfont(FontProperties(family=font), fallback_to_default=False)
    except ValueError:
        return frozenset()
    return frozenset(get_font(path).get_charmap())


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """Draw without a warning for each character that no installed font has."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=MISSING_GLYPH)
        yield


def intervals_along_side(
    ax: Any,
    names: Sequence[str],
    estimates: Sequence[tuple[float, float, float]],
    label: str,
    *,
    reference: float | None = 0.0,
) -> Any:
    """Estimates (value, low, high) as dots with bars, from the top; grey where they contain 0."""
    axes = new_axes(len(names)) if ax is None else ax
    if reference is not None:
        axes.axvline(reference, color=GREY, lw=1, linestyle=(0, (4, 3)), zorder=0)
    for i, (value, low, high) in enumerate(estimates):
        clear = reference is None or (low - reference) * (high - reference) > 0
        colour = "C0" if clear else GREY
        axes.plot([low, high], [i, i], color=colour, lw=4, alpha=0.35, solid_capstyle="round")
        axes.plot([value], [i], "o", color=colour, markersize=5)
    axes.set_xlabel(label)
    names_along_side(axes, names)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.grid(visible=True, axis="x", alpha=0.4)
    axes.set_axisbelow(True)
    return axes


def draw_reliability(ax: Any, curves: Mapping[str, Array], actual: Array) -> Any:
    """Observed shares against predicted probabilities, one line per name; the axes.

    ``curves`` hold probabilities and ``actual`` 0 or 1 of the same events.
    """
    axes = new_axes(size=(4.8, 4.4)) if ax is None else ax
    axes.plot([0, 1], [0, 1], color=GREY, lw=1, linestyle=(0, (4, 3)), zorder=0)
    for k, (name, probability) in enumerate(curves.items()):
        p, seen = probability.ravel(), actual.ravel()
        parts = np.array_split(np.argsort(p, kind="stable"), min(BINS, len(p)))
        predicted = [p[part].mean() for part in parts]
        observed = np.array([seen[part].mean() for part in parts])
        ends = np.array(
            [wilson(share, len(part), LEVEL) for share, part in zip(observed, parts, strict=True)]
        )
        spread = np.abs(ends.T - observed)
        colour = f"C{k}"
        axes.errorbar(predicted, observed, yerr=spread, fmt="none", ecolor=colour, alpha=0.5)
        axes.plot(predicted, observed, "o-", color=colour, markersize=4, label=name)
    axes.set(
        xlabel="Predicted probability",
        ylabel="Observed share",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
    )
    axes.legend(fontsize=8, loc="upper left")
    return axes
