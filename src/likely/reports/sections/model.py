"""The model: its description, with a picture of estimates and their intervals."""

from collections.abc import Sequence
from typing import Any

from likely.explanations.effects import PartialEffect, PartialEffects
from likely.explanations.importance import Importance
from likely.output.description import DescribedLosses, Description, NamedTable
from likely.output.description_text import by_group, cells_of
from likely.output.formatting import (
    capitalised,
    count,
    estimate_cells,
    fixed,
    listed,
    number,
    shortened,
)
from likely.output.pictures import shortened_name
from likely.reports.figures import (
    ACCENT,
    INK,
    MUTED,
    SECOND,
    SERIES,
    few_ticks,
    legend_above,
    picture,
)
from likely.reports.section import (
    Block,
    Facts,
    Gallery,
    Heading,
    LeftOut,
    Picture,
    Remark,
    Section,
    TableBlock,
    Text,
)
from likely.runs.folder import RunFacts
from likely.workbench.data.roles import roles_in_run
from likely.workbench.scoring.column_effects import why_no_effects

TITLE = "Model"
MOST_ROWS = 30  # of a table
MOST_STEPS = 60  # of a table of words alone, such as the preparation of columns
MOST_DRAWN = 15  # estimates in a picture
MOST_GROUPS = 8  # classes side by side; more are listed one below the other
MOST_PER_GROUP = 8
MOST_SHARES = 20
LONGEST_NAME = 40
LONGEST_DRAWN = 22  # letters of a name beside a picture


def model_page(facts: RunFacts) -> Section | LeftOut:
    if facts.description is None:
        return LeftOut(TITLE, "it was not saved")
    return Section("model", TITLE, tuple(_blocks(facts.description)))


def _blocks(about: Description) -> list[Block]:
    blocks: list[Block] = [Text(f"{about.title}.{_shares(about)}")]
    if about.fit:
        blocks.append(Facts(tuple((capitalised(fact.name), fact.written) for fact in about.fit)))
    if about.curves:
        blocks += [Heading("Learning curves"), _curves(about.curves)]
    for table in about.tables:
        if table.key == "steps":
            blocks.append(Heading("Preparation of the columns"))
        elif table.title:
            blocks.append(Heading(table.title))
        blocks += _table(table)
    blocks += [Remark(capitalised(note), tone="note") for note in about.notes]
    for part in about.parts:
        blocks += [Heading(part.title), *_blocks(part)[1:]]
    return blocks


def _curves(curves: Sequence[DescribedLosses]) -> Gallery:
    """The losses of training and of held-out rows after each step, with the step that was kept."""
    first = curves[0]
    several = len(curves) > 1

    def draw(ax: Any) -> None:
        for k, curve in enumerate(curves):
            steps = range(1, len(curve.train) + 1)
            names = ("Training", "Held out", "Kept") if k == 0 else ("_", "_", "_")
            faint = 0.45 if several else 1.0
            ax.plot(steps, curve.train, color=SECOND, lw=1.4, alpha=faint, label=names[0])
            if curve.validation:
                ax.plot(steps, curve.validation, color=ACCENT, lw=1.4, alpha=faint, label=names[1])
                if 0 < curve.kept <= len(curve.validation):
                    at = curve.validation[curve.kept - 1]
                    ax.plot([curve.kept], [at], "o", color=INK, markersize=5, label=names[2])
        ax.set(xlabel=capitalised(first.noun), ylabel="Mean loss")
        legend_above(ax, 3)

    judged = [curve for curve in curves if curve.validation]
    ends = [
        f"{curve.title + ': ' if curve.title else ''}training {number(curve.train[-1])} after "
        f"{count(len(curve.train), curve.noun)}"
        + (f", held out {number(min(curve.validation))} at best" if curve.validation else "")
        for curve in curves
    ]
    caption = f"Mean loss after each {first.noun}, without penalties."
    if judged:
        caption += f" The dot is the {first.noun} whose parameters were kept."
    if several:
        caption += f" One line for each of {count(len(curves), 'network')}."
    return Gallery((picture(draw, f"Learning curves. {'; '.join(ends)}.", caption=caption),))


def _shares(about: Description) -> str:
    pairs = list(zip(about.groups, about.shares, strict=False))
    if not pairs:
        return ""
    shares = [f"{shortened(group, LONGEST_DRAWN)} {fixed(p, 2)}" for group, p in pairs]
    return f" Shares: {listed(shares, MOST_SHARES)}."


def _table(table: NamedTable) -> list[Block]:
    """The table, or one list for each of many groups; with a picture of any intervals."""
    listed = bool(table.groups) and bool(table.weights)
    if listed and len(table.groups) > MOST_GROUPS:
        return [_lists(table)]
    words = all(each.form == "word" for each in table.columns)
    most = MOST_STEPS if words and not table.groups else MOST_ROWS
    estimated = _estimated(table)
    chosen = [i for i in table.chosen(most) if not estimated or i in estimated]
    head, rows = cells_of(table, [*chosen, *table.always()])
    leading = next((j for j, c in enumerate(table.columns) if c.form != "word" or c.group), 0)
    drawn = TableBlock(
        tuple(head),
        tuple((shortened(first, LONGEST_NAME), *others) for first, *others in rows),
        caption=_held(table, estimated),
        left=leading or len(head),
        names=frozenset(() if words and not table.groups else range(1, len(head))),
        more=_more(len(table.rows) - table.last, most, table.noun),
    )
    if estimated:
        return [Gallery((_forest(table, estimated), drawn))]
    also = listed and len(table.rows) > most
    return [drawn, *([_lists(table)] if also else [])]


def _lists(table: NamedTable) -> TableBlock:
    """The rows that matter most to each group."""
    rows = tuple(
        (shortened(group, LONGEST_NAME), text) for group, text in by_group(table, MOST_PER_GROUP)
    )
    return TableBlock(("group", f"most informative {table.noun}s"), rows, left=2)


def _estimated(table: NamedTable) -> set[int]:
    """The rows that have an estimate with a standard error, if the table has any."""
    forms = [each.form for each in table.columns]
    if not {"estimate", "error", "low", "high"} <= set(forms):
        return set()
    place = forms.index("error")
    return {i for i, row in enumerate(table.rows) if number(row[place]) != number(None)}


def _held(table: NamedTable, estimated: set[int]) -> str:
    held = len(table.rows) - len(estimated) if estimated else 0
    return f"{count(held, table.noun)} at 0 not shown." if held else ""


def _forest(table: NamedTable, estimated: set[int]) -> Picture:
    """Estimates with their intervals, the most important first."""
    places = {each.form: j for j, each in enumerate(table.columns)}
    slopes = [i for i in sorted(estimated) if table.rows[i][0] != "intercept"] or list(estimated)
    weight = table.importance()
    drawn = sorted(slopes, key=lambda i: -weight[i])[:MOST_DRAWN]
    values = [
        tuple(table.rows[i][places[form]] for form in ("estimate", "low", "high")) for i in drawn
    ]

    def draw(ax: Any) -> None:
        ax.axvline(0, color=MUTED, lw=1, linestyle=(0, (4, 3)), zorder=0)
        for i, (estimate, low, high) in enumerate(values):
            colour = ACCENT if low * high > 0 else MUTED
            ax.plot([low, high], [i, i], color=colour, lw=4, alpha=0.35, solid_capstyle="round")
            ax.plot([estimate], [i], "o", color=colour, markersize=5)
        names = [shortened(table.rows[i][0], LONGEST_DRAWN) for i in drawn]
        ax.set_yticks(range(len(drawn)), names)
        ax.tick_params(axis="y", labelcolor=INK, length=0)
        ax.set_ylim(len(drawn) - 0.5, -0.5)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.set_xlabel("Coefficient")

    pairs = zip(drawn, values, strict=True)
    each = ", ".join(f"{table.rows[i][0]} {number(estimate)}" for i, (estimate, _, _) in pairs)
    caption = "Coefficients with 95 % intervals; grey if the interval contains 0."
    if len(slopes) > len(drawn):
        caption += f" The {len(drawn)} largest in standard errors."
    size = (4.8, 0.8 + 0.25 * len(drawn))
    return picture(draw, f"Coefficients: {each}.", caption=caption, size=size)


def _more(n: int, most: int, noun: str) -> str:
    if n <= most:
        return ""
    return f"{count(n - most, f'more {noun}')}; likely explain --top shows them all"


# ── Which columns matter: permutation importance, and the effects of the most important columns ───

IMPORTANCE = "Importance of columns"
MOST_COLUMNS = 15  # drawn, and listed
MOST_CLASSES = 6  # lines of a picture


def importance(facts: RunFacts) -> Section | LeftOut | None:
    found = facts.effects
    columns = list(facts.run.get("columns") or ())
    if len(columns) == 1 and columns == facts.run.get("texts"):
        return LeftOut(IMPORTANCE, f"the model reads one column, {columns[0]}; Model has its words")
    if found is None:
        if facts.validation is None:
            return None
        moving, known = roles_in_run(facts.run).at_prediction(), "data" in facts.run
        why = why_no_effects(facts.run["data"]["rows"], len(columns), moving) if known else ""
        return LeftOut(IMPORTANCE, f"it was not measured{why and f', because {why}'}")
    about = found.importance
    rows = "held-out" if found.held_out else "given"
    text = (
        f"How much the {about.unit} increases on {count(about.n_rows, f'{rows} row')} when a "
        "column is shuffled, so that its values belong to other rows. A column without "
        "importance may still be useful where another has the same information."
    )
    blocks: list[Block] = [Text(text), Gallery((_columns_drawn(about), _columns_listed(about)))]
    blocks += [Text(note, small=True) for note in about.notes]
    if found.effects.effects:
        blocks += _effects(found.effects)
    return Section("importance", IMPORTANCE, tuple(blocks))


def _columns_drawn(about: Importance) -> Picture:
    drawn = range(min(len(about), MOST_COLUMNS))

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

    named = listed([f"{about.names[i]} {number(about.increase[i])}" for i in drawn], MOST_COLUMNS)
    caption = "With 95 % intervals over the rows; grey if the interval contains 0."
    size = (4.8, 1.0 + 0.25 * len(drawn))
    return picture(draw, f"Importance of columns: {named}.", caption=caption, size=size)


def _columns_listed(about: Importance) -> TableBlock:
    values = zip(about.names, about.increase, about.low, about.high, strict=True)
    rows = [
        (shortened_name(name, 40), *estimate_cells(*map(float, numbers)))
        for name, *numbers in values
    ]
    left = len(rows) - MOST_COLUMNS
    return TableBlock(
        ("column", "increase", "95 % interval"),
        tuple(rows[:MOST_COLUMNS]),
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
        if effect.kind == "number":
            few_ticks(ax.xaxis)

    g = few.shown[0]
    ends = [number(effect.mean[i, g]) for i in (0, -1)]
    label = f"Effect of {effect.column}: from {ends[0]} to {ends[1]}."
    return picture(draw, label)
