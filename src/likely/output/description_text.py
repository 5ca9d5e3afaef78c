"""A description of a model as text, and as HTML for a notebook.

A table of classes that is too wide for the page is shown class by class, with the rows that matter
most to each.
"""

from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap

from likely.output.control_characters import printable
from likely.output.description import Description, Fact, NamedTable
from likely.output.formatting import (
    WIDEST,
    count,
    fixed,
    html_block,
    html_paragraph,
    html_table,
    number,
    paragraph,
    shortened,
    text_table,
)

MOST_ROWS = 60  # shown when printed
MOST_PER_GROUP = 4  # where there are too many groups for a table
FACT_COLUMNS = 3
LONGEST_CELL = 18  # letters of a cell of a group, and of the name of the group
NARROWEST = 72  # columns of notes, so that they are not broken into very short lines
SHORTEST_NAME = 8  # letters that stay of the first column of a wide table
RULE = "─"


def text_of(
    description: Description, *, top: int | None = None, width: int = WIDEST, more: str = ""
) -> str:
    """The description as lines of at most ``width`` columns.

    ``top`` is the number of rows shown of each table, the most important ones; ``more`` says how to
    see the others, and may contain their number as ``{}``.
    """
    shown = MOST_ROWS if top is None else top
    first, *others = [_lines(table, shown, width, more) for table in description.tables] or [[]]
    blocks = [[shortened(description.title, width)]]
    if description.fit:
        blocks.append(_between_rules(description, first))
    else:
        blocks += [["", *paragraph(_shares(description), width)]] if description.shares else []
        blocks += [["", *first]] if first else []
    wide = max(NARROWEST, *(len(line) for block in blocks for line in block))
    notes = [paragraph(f"Note: {note}", min(wide, width)) for note in description.notes]
    blocks += [[""], *notes] if notes and not description.fit else notes
    blocks += [["", *table] for table in others]
    for part in description.parts:
        blocks.append(["", *text_of(part, top=top, width=width, more=more).splitlines()])
    return printable("\n".join(line for block in blocks for line in block))


def html_of(description: Description, *, top: int = MOST_ROWS, more: str = "") -> str:
    """The description for a notebook."""
    facts = [
        [cell for fact in row for cell in (fact.name, fact.written)]
        for row in zip_longest(*_in_columns(description.fit), fillvalue=Fact("", "", "", " "))
    ]
    parts = [html_paragraph(description.title, bold=True)]
    parts += [html_paragraph(_shares(description))] if description.shares else []
    parts += [html_table((), facts, words=(0, 2, 4))] if facts else []
    for table in description.tables:
        head, rows = cells_of(table, [*table.chosen(top), *table.always()])
        parts += [html_paragraph(table.title)] if table.title else []
        parts.append(html_table(head, rows, words=words_of(table)))
        parts += [html_paragraph(line) for line in _left_out(table, top, more)]
    parts += [html_paragraph(f"Note: {note}") for note in description.notes]
    return html_block(*parts, *(html_of(part, top=top, more=more) for part in description.parts))


def cells_of(table: NamedTable, rows: Sequence[int]) -> tuple[list[str], list[list[str]]]:
    """The heads and the cells of these rows; weights, if they are named, before the groups."""
    head = [_short(each.head, each.group) for each in table.columns]
    body = [
        [
            _short(text, column.group)
            for column, text in zip(table.columns, table.written(i), strict=True)
        ]
        for i in rows
    ]
    if table.weights_are:
        place = _n_leading(table)
        head.insert(place, table.weights_are)
        weight = table.importance()
        for i, cells in zip(rows, body, strict=True):
            cells.insert(place, number(weight[i]))
    return head, body


def words_of(table: NamedTable) -> list[int]:
    """Which columns of ``cells_of`` are words, flush left."""
    leading = _n_leading(table)
    return [j for j, each in enumerate(table.columns[:leading]) if each.form == "word"]


def by_group(table: NamedTable, most: int) -> list[tuple[str, str]]:
    """Each group with the rows that matter most to it, in words."""
    found = []
    for k, group in enumerate(table.groups):
        own = [j for j, each in enumerate(table.columns) if each.group == group]
        weight = table.importance(k)
        rows = []
        for i in table.chosen(most, k):
            cells = table.written(i)
            words = " ".join([cells[0], *(cells[j] for j in own)])
            rows.append(f"{words} ({number(weight[i])})" if table.weights_are else words)
        found.append((group, "; ".join(rows)))
    return found


def _between_rules(description: Description, table: list[str]) -> list[str]:
    """Facts and the first table, in the usual form of a summary."""
    drawn = [_paired(_in_columns(description.fit, n)) for n in range(FACT_COLUMNS, 0, -1)]
    facts = next((lines for lines in drawn if max(map(len, lines)) <= WIDEST), drawn[-1])
    rule = RULE * min(max(len(line) for line in [description.title, *facts, *table]), WIDEST)
    return [rule, *facts, rule, *([*table, rule] if table else [])]


def _shares(description: Description) -> str:
    pairs = zip(description.groups, description.shares, strict=True)
    return f"Shares: {', '.join(f'{group} {fixed(share, 2)}' for group, share in pairs)}."


def _lines(table: NamedTable, top: int, width: int, more: str) -> list[str]:
    head, rows = cells_of(table, [*table.chosen(top), *table.always()])
    drawn = _drawn(table, head, rows, width)
    title = [table.title] if table.title else []
    if drawn is None:
        wide = max(map(len, table.groups))
        for group, words in by_group(table, min(top, MOST_PER_GROUP)):
            first, *rest = paragraph(words, width - wide - 4)
            title += [f"  {group:<{wide}}  {first}", *(f"{'':{wide + 4}}{line}" for line in rest)]
        return title
    return [*title, *drawn, *_left_out(table, top, more)]


def _drawn(
    table: NamedTable, head: list[str], rows: list[list[str]], width: int
) -> list[str] | None:
    """The table within the width; None where each group needs its own line."""
    words = words_of(table)
    lines = text_table(head, rows, words=words, indent=0)
    if max(map(len, lines)) <= width:
        return lines
    if table.groups:
        kept = [j for j in range(len(head)) if j == 0 or j not in words]  # the name, and numbers
        few = [[row[j] for j in kept] for row in rows]
        lines = text_table([head[j] for j in kept], few, indent=0)
        return lines if max(map(len, lines)) <= width else None
    if table.columns[-1].form == "word":
        return text_table(head, _broken(rows, width), words=words, indent=0)
    numbers = text_table(head[1:], [row[1:] for row in rows], words=())
    room = max(width - max(map(len, numbers)), SHORTEST_NAME)
    named = [[shortened(row[0], room), *row[1:]] for row in rows]
    return text_table(head, named, words=words, indent=0, width=width)


def _broken(rows: list[list[str]], width: int) -> list[list[str]]:
    """Rows whose last cell is not cut, in as many lines as it needs."""
    taken = sum(max(len(row[j]) for row in rows) + 2 for j in range(len(rows[0]) - 1))
    found = []
    for *cells, last in rows:
        first, *rest = wrap(last, max(width - taken, LONGEST_CELL), break_on_hyphens=False) or [""]
        found += [[*cells, first], *([""] * len(cells) + [line] for line in rest)]
    return found


def _left_out(table: NamedTable, top: int, more: str) -> list[str]:
    left = len(table.rows) - table.last - top
    if left <= 0:
        return []
    how = f" ({more.format(len(table.rows))})" if more else ""
    return [f"… and {count(left, f'more {table.noun}')}{how}"]


def _n_leading(table: NamedTable) -> int:
    """How many columns come before those of groups."""
    return next(
        (j for j, each in enumerate(table.columns) if each.group is not None), len(table.columns)
    )


def _short(text: str, group: str | None) -> str:
    return text if group is None else shortened(text, LONGEST_CELL)


def _in_columns(facts: Sequence[Fact], most: int = FACT_COLUMNS) -> list[list[Fact]]:
    """Facts in columns, from top to bottom, then from left to right."""
    n = -(-len(facts) // most) or 1
    return [list(facts[start : start + n]) for start in range(0, len(facts), n)]


def _paired(columns: list[list[Fact]]) -> list[str]:
    """The columns of names and values, side by side."""
    widths = [
        (max(len(each.name) for each in column), max(len(each.written) for each in column))
        for column in columns
    ]
    lines = []
    for row in zip_longest(*columns, fillvalue=Fact("", "", "", " ")):
        cells = [
            f"{fact.name:<{a}}  {fact.written:>{b}}"
            for fact, (a, b) in zip(row, widths, strict=True)
        ]
        lines.append("    ".join(cells).rstrip())
    return lines
