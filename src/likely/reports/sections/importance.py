"""Which columns matter: permutation importance, and the effects of the most important columns."""

from typing import Any

from likely.explanations.effects import PartialEffect, PartialEffects
from likely.explanations.importance import Importance
from likely.formatting import count, estimate_cells, listed, number
from likely.pictures import shortened_name
from likely.reports.figures import (
    ACCENT,
    INK,
    MUTED,
    SERIES,
    few_ticks,
    legend_above,
    picture,
)
from likely.reports.section import (
    Block,
    Gallery,
    Heading,
    LeftOut,
    Picture,
    Section,
    TableBlock,
    Text,
)
from likely.runs.folder import RunFacts

TITLE = "Importance of columns"
MOST_DRAWN = 15
MOST_ROWS = 15  # of the table
MOST_CLASSES = 6  # lines of a picture


def importance(facts: RunFacts) -> Section | LeftOut | None:
    found = facts.effects
    columns = list(facts.run.get("columns") or ())
    if len(columns) == 1 and columns == facts.run.get("texts"):
        return LeftOut(TITLE, f"the model reads one column, {columns[0]}; Model has its words")
    if found is None:
        if facts.validation is None:
            return None
        why = "it was not measured: too few rows, more than 300 columns, or an offset or exposure"
        return LeftOut(TITLE, why)
    about = found.importance
    rows = "held-out" if found.held_out else "given"
    text = (
        f"How much the {about.unit} increases on {count(about.n_rows, f'{rows} row')} when a "
        "column is shuffled, so that its values belong to other rows. A column without "
        "importance may still be useful where another has the same information."
    )
    blocks: list[Block] = [Text(text), Gallery((_forest(about), _table(about)))]
    blocks += [Text(note, small=True) for note in about.notes]
    if found.effects.effects:
        blocks += _effects(found.effects)
    return Section("importance", TITLE, tuple(blocks))


def _forest(about: Importance) -> Picture:
    drawn = range(min(len(about), MOST_DRAWN))

    def draw(ax: Any) -> None:
        ax.axvline(0, color=MUTED, lw=1, linestyle=(0, (4, 3)), zorder=0)
        for i in drawn:
            low, high = float(about.low[i]), float(about.high[i])
            colour = ACCENT if low * high > 0 else MUTED
            ax.plot([low, high], [i, i], color=colour, lw=4, alpha=0.35, solid_capstyle="round")
            ax.plot([about.increase[i]], [i], "o", color=colour, markersize=5)
        ax.set_yticks(list(drawn), [shortened_name(about.names[i], 24) for i in drawn])
        ax.tick_params(axis="y", labelcolor=INK, length=0)
        ax.set_ylim(len(drawn) - 0.5, -0.5)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(f"Increase of the {about.unit}")
        few_ticks(ax.xaxis)

    named = listed([f"{about.names[i]} {number(about.increase[i])}" for i in drawn], MOST_DRAWN)
    caption = "With 95 % intervals over the rows; grey if the interval contains 0."
    size = (4.8, 1.0 + 0.25 * len(drawn))
    return picture(draw, f"Importance of columns: {named}.", caption=caption, size=size)


def _table(about: Importance) -> TableBlock:
    values = zip(about.names, about.increase, about.low, about.high, strict=True)
    rows = [
        (shortened_name(name, 40), *estimate_cells(*map(float, numbers)))
        for name, *numbers in values
    ]
    left = len(rows) - MOST_ROWS
    return TableBlock(
        ("column", "increase", "95 % interval"),
        tuple(rows[:MOST_ROWS]),
        more=count(left, "more column") if left > 0 else "",
    )


def _effects(found: PartialEffects) -> list[Block]:
    text = (
        f"The mean {found.quantity} over {count(found.n_rows, 'row')} if a column had the same "
        "value in all of them and the other columns stayed as they are; the band holds the "
        "curves of 80 % of the rows."
    )
    pictures = tuple(_effect(found, effect) for effect in found.effects)
    if len(pictures) == 1:
        return [Heading("Partial effects"), Gallery((Text(text), *pictures))]
    return [Heading("Partial effects"), Text(text), Gallery(pictures)]


def _effect(found: PartialEffects, effect: PartialEffect) -> Picture:
    few = PartialEffects((effect,), found.groups[:MOST_CLASSES], found.quantity, found.n_rows)

    def draw(ax: Any) -> None:
        few.draw(ax, effect, colours=SERIES)
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()
            legend_above(ax, columns=2)
        if effect.is_number:
            few_ticks(ax.xaxis)

    g = few.shown[0]
    ends = [number(effect.mean[i, g]) for i in (0, -1)]
    label = f"Effect of {effect.column}: from {ends[0]} to {ends[1]}."
    return picture(draw, label)
