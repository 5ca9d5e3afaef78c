"""The model's own page: coefficients with errors, telling columns, or components."""

from collections.abc import Mapping, Sequence
from typing import Any

from likely.formatting import (
    capitalised,
    coefficient_cells,
    count,
    fixed,
    number,
    p_value,
    shortened,
    statistic,
)
from likely.report.figures import ACCENT, INK, MUTED, picture
from likely.report.section import (
    Block,
    Gallery,
    Heading,
    LeftOut,
    Picture,
    Remark,
    Section,
    Table,
    Text,
)
from likely.runs.facts import RunFacts

TITLE = "The model"
MOST_TERMS = 25  # coefficients in a table
MOST_STEPS = 60  # columns whose preparation is told
MOST_DRAWN = 15  # coefficients in a picture
MOST_COLUMNS = 30
MOST_GROUPS = 8  # classes side by side; more are told one below the other
MOST_PER_GROUP = 8
LONGEST_NAME = 40
LONGEST_CELL = 24
LONGEST_DRAWN = 22  # letters of a name beside a picture
SCALED = "divided by its standard deviation"  # in the words of a preparation
NONE = number(None)
AS_WRITTEN = frozenset(range(1, 7))  # heads of a summary that are not capitalised


def model_page(facts: RunFacts) -> Section | LeftOut:
    page = facts.page
    blocks: list[Block] = []
    if page is not None:
        blocks += _of(page, _units(facts.steps))
    if facts.steps:
        blocks += _prepared(facts.steps)
    if not blocks:
        return LeftOut(TITLE, "this kind of model has nothing to show")
    return Section("model", TITLE, tuple(blocks))


def _units(steps: Sequence[tuple[str, str]]) -> str:
    """In which units coefficients are, after what was done to the columns."""
    scaled = [name for name, what in steps if SCALED in what]
    if not scaled:
        return "in the units of their columns"
    if len(scaled) == 1:
        return f"{scaled[0]} per standard deviation from its mean, others in their own units"
    return "those of numbers per standard deviation from the mean of their column"


def _of(page: Mapping[str, Any], units: str) -> list[Block]:
    if "cuts" in page:
        return [block for cut in page["cuts"] for block in _cut(cut, units)]
    if "columns" in page:
        return _components(page)
    return _summary(page, units) if "fit" in page else _weights(page, units)


def _cut(cut: Mapping[str, Any], units: str) -> list[Block]:
    """Of ordered classes: the model of one cut between them."""
    return [Heading(f"Above {cut['above']}"), *_of(cut, units)]


def _summary(page: Mapping[str, Any], units: str) -> list[Block]:
    """Coefficients with standard errors, as ``likely explain`` has them."""
    fit = page["fit"]
    terms = [each for each in page["terms"] if number(each["se"]) != NONE]
    held = len(page["terms"]) - len(terms)
    if len(terms) > MOST_TERMS:
        terms = sorted(terms, key=lambda each: -abs(each["z"] or 0.0))
    rows = tuple(
        (
            shortened(each["term"], LONGEST_NAME),
            *cells[:2],
            statistic(each["z"]),
            p_value(each["p"]),
            *cells[2:],
        )
        for each in terms[:MOST_TERMS]
        for cells in [coefficient_cells(*(each[key] for key in ("coef", "se", "low", "high")))]
    )
    said = (
        f"{page['title']}: {count(int(fit['examples']), 'row')}, "
        f"{_parameters(float(fit['parameters']))}; log-likelihood "
        f"{fixed(fit['log_likelihood'], 3)} (intercept only: "
        f"{fixed(fit['null_log_likelihood'], 3)}), AIC {fixed(fit['aic'], 3)}, standard errors: "
        f"{fit['covariance']}. Coefficients: {units}."
    )
    ratio = fit.get("distribution", "z")
    head = ("term", "coef", "std err", ratio, f"P>|{ratio}|", "[0.025", "0.975]")
    notes = [Remark(capitalised(note), tone="note") for note in page["notes"]]
    zeros = f"{count(held, 'term')} at 0 not shown." if held else ""
    more = _more(len(terms), MOST_TERMS, "term")
    table = Table(head, rows, caption=zeros, more=more, names=AS_WRITTEN)
    drawn: Block = Gallery((_forest(terms), table)) if rows else table
    return [Text(said), drawn, *notes]


def _parameters(n: float) -> str:
    """As ``likely explain`` and the AIC count them; under a penalty they need not be whole."""
    return count(int(n), "parameter") if n.is_integer() else f"{n:.2f} effective parameters"


def _forest(terms: Sequence[Mapping[str, Any]]) -> Picture:
    """Coefficients with their intervals, those furthest from 0 in standard errors first."""
    slopes = [each for each in terms if each["term"] != "intercept"] or list(terms)
    shown = sorted(slopes, key=lambda each: -abs(each["z"] or 0.0))[:MOST_DRAWN]

    def draw(ax: Any) -> None:
        ax.axvline(0, color=MUTED, lw=1, linestyle=(0, (4, 3)), zorder=0)
        for i, each in enumerate(shown):
            ends = [each["low"], each["high"]]
            colour = ACCENT if None not in ends and ends[0] * ends[1] > 0 else MUTED
            ax.plot(ends, [i, i], color=colour, lw=4, alpha=0.35, solid_capstyle="round")
            ax.plot([each["coef"]], [i], "o", color=colour, markersize=5)
        names = [shortened(each["term"], LONGEST_DRAWN) for each in shown]
        ax.set_yticks(range(len(shown)), names)
        ax.tick_params(axis="y", labelcolor=INK, length=0)
        ax.set_ylim(len(shown) - 0.5, -0.5)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.set_xlabel("Coefficient")

    told = ", ".join(f"{each['term']} {number(each['coef'])}" for each in shown)
    caption = "Coefficients with 95 % intervals; grey where the interval holds 0."
    if len(slopes) > len(shown):
        caption += f" The {len(shown)} furthest from 0 in standard errors."
    size = (4.8, 0.8 + 0.25 * len(shown))
    return picture(draw, f"Coefficients: {told}.", caption=caption, size=size)


def _weights(page: Mapping[str, Any], units: str) -> list[Block]:
    """Coefficients without errors, the largest first."""
    groups: Sequence[str] = page["groups"]
    shown = groups[:MOST_GROUPS]
    terms = sorted(page["terms"], key=lambda each: -max(map(abs, each["coef"].values())))
    rows = [
        (shortened(each["term"], LONGEST_NAME), *(number(each["coef"][g]) for g in shown))
        for each in terms[:MOST_TERMS]
    ]
    rows.append(("intercept", *(number(page["intercept"][g]) for g in shown)))
    said = (
        f"{page['model']}: {count(len(terms), 'coefficient')} for each of "
        f"{count(len(groups), 'predictor')}, the largest first, {units}."
    )
    more = _more(len(terms), MOST_TERMS, "term")
    head = ("term", *map(_group, shown))
    names = frozenset(range(1, len(head)))
    return [Text(said), Table(head, tuple(rows), names=names, more=more)]


def _components(page: Mapping[str, Any]) -> list[Block]:
    """What tells classes or components apart, the most telling column first."""
    groups, columns = page["groups"], page["columns"]
    names = [str(group["name"]) for group in groups]
    shares = ", ".join(
        f"{shortened(g['name'], LONGEST_CELL)} {g['share']:.2f}" for g in groups[:20]
    )
    said = (
        f"{page['model']}: {count(len(groups), 'class or component', 'classes or components')}, "
        f"{count(len(columns), 'column')}. Shares: {shares}{', …' if len(groups) > 20 else ''}. "
        "Evidence is the log-odds, in nats, that a column by itself brings on average to the rows "
        "that it tells best."
    )
    if len(names) > MOST_GROUPS:
        return [Text(said), _lists(names, columns)]
    rows = tuple(
        (
            shortened(each["column"], LONGEST_NAME),
            str(each["event"]),
            number(max(each["evidence"].values())),
            *(_parameter(each, name) for name in names),
        )
        for each in columns[:MOST_COLUMNS]
    )
    head = ("column", "event model", "evidence", *map(_group, names))
    more = _more(len(columns), MOST_COLUMNS, "column")
    table = Table(head, rows, left=2, names=frozenset(range(3, len(head))), more=more)
    words = [_lists(names, columns)] if len(columns) > MOST_COLUMNS else []
    return [Text(said), table, *words]


def _parameter(column: Mapping[str, Any], name: str) -> str:
    said = str(column["parameters"][name])
    return shortened(said, LONGEST_CELL)


def _lists(names: Sequence[str], columns: Sequence[Mapping[str, Any]]) -> Table:
    """The most telling columns (words, of a text) of each class."""
    rows = []
    for name in names:
        best = sorted(columns, key=lambda each: -each["evidence"][name])[:MOST_PER_GROUP]
        told = " · ".join(
            f"{shortened(b['column'], LONGEST_CELL)} {b['parameters'][name]}" for b in best
        )
        rows.append((shortened(name, LONGEST_NAME), told))
    return Table(("class", "most telling columns"), tuple(rows), left=2)


def _prepared(steps: Sequence[tuple[str, str]]) -> list[Block]:
    rows = tuple((shortened(name, LONGEST_NAME), what) for name, what in steps[:MOST_STEPS])
    return [
        Heading("How columns were prepared"),
        Text("Learned from the training rows alone, and saved with the model."),
        Table(
            ("column", "what was done"), rows, left=2, more=_more(len(steps), MOST_STEPS, "column")
        ),
    ]


def _group(name: object) -> str:
    return shortened(name, LONGEST_CELL)


def _more(n: int, most: int, what: str) -> str:
    return (
        f"{count(n - most, f'more {what}')}; likely explain --top has them all" if n > most else ""
    )
