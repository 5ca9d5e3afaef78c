"""A look as text and as HTML: the columns, the target, and the findings in words."""

from html import escape
from typing import TYPE_CHECKING, Any

from likely.formatting import (
    WIDEST,
    count,
    html_block,
    html_paragraph,
    html_table,
    listed,
    paragraph,
    percent,
    printable,
    short_number,
    shortened,
    text_table,
)
from likely.kinds import target_in_words

if TYPE_CHECKING:
    from likely.workbench.look.look import ColumnFacts, Look

MOST_COLUMNS = 60  # shown when printed; the frame has them all
MOST_CLASSES_SHOWN = 12  # shown of a target
LONGEST_NAME = 24
LONGEST_VALUE = 18
MOST_VALUES = 3
HEAD = ("column", "type", "missing", "distinct", "values")
WORDS = (0, 1, 4)  # columns of the table that hold words
COLOURS = {"stop": "#c0392b", "warn": "#b9770e", "note": "#5d6d7e"}


def text_of(look: "Look", width: int = WIDEST, more: str = "to_frame() has them all") -> str:
    """The columns, the target, the findings; ``more`` says how to see all columns."""
    rows = [_cells(look, column) for column in _shown_columns(look)]
    lines = [title(look), "", *text_table(HEAD, rows, words=WORDS, width=width)]
    if len(look.columns) > len(rows):
        lines.append(f"  (+{len(look.columns) - len(rows)} more; {more})")
    about = [each.sentence() for each in look.texts]
    about += [balance_of(look)] if look.balance else []
    about += [look.doubt] if look.doubt else []
    about += [order_of(look)] if look.time is not None else []
    if about:
        lines += ["", *(line for each in about for line in paragraph(each, width))]
    return "\n".join([*lines, "", *findings_of(look, width)])


def title(look: "Look") -> str:
    """``churn.csv: 7,000 rows, 20 columns, target churn (2 classes).``"""
    text = f"{look.label}: {count(look.n_rows, 'row')}, {count(len(look.columns), 'column')}"
    if look.target is not None:
        what = target_in_words(look.kind, look.n_classes)
        if look.n_classes is None and any(f.code == "LK306" for f in look.findings):
            what = "neither classes nor a number"
        text += f", target {look.target} ({what})"
    if look.n_looked_at < look.n_rows:
        text += f"; a sample of {look.n_looked_at:,} of the rows was examined"
    return text + "."


def balance_of(look: "Look") -> str:
    """``Target churn: no 73 %, yes 27 %.``"""
    (target,) = (column for column in look.columns if column.name == look.target)
    known = look.n_looked_at - target.missing
    words = [f"{_value(v)} {percent(rows / known)}" for v, rows in look.balance.items()]
    n_others = target.distinct - len(words)  # the balance has the most frequent ones
    return f"Target {look.target}: {listed(words + [''] * n_others, MOST_CLASSES_SHOWN)}."


def order_of(look: "Look") -> str:
    """A sentence about rows that are in the order of their dates."""
    return (
        f"Rows are in the order of {look.time}. If later rows are to be predicted from earlier "
        f"ones, seal by time instead: --by-time {look.time} (by_time={look.time!r})."
    )


def findings_of(look: "Look", width: int = WIDEST) -> list[str]:
    """The findings in words, the most severe first."""
    muted = f" (muted: {', '.join(look.muted)})" if look.muted else ""
    if not look.findings:
        return [f"No findings{muted}."]
    lines = [f"{count(len(look.findings), 'finding')}{muted}:"]
    for each in look.findings:
        first, *others = paragraph(each.sentence, width - 14)
        lines += [f"  {each.code} {each.severity}  {first}"]
        lines += [f"{'':14}{line}" for line in others]
    return lines


def html_of(look: "Look") -> str:
    rows = [_cells(look, column) for column in _shown_columns(look)]
    parts = [html_paragraph(title(look), bold=True), html_table(HEAD, rows, words=WORDS)]
    if len(look.columns) > len(rows):
        n_more = len(look.columns) - len(rows)
        parts.append(html_paragraph(f"(+{n_more} more; to_frame() has them all)"))
    parts += [html_paragraph(each.sentence()) for each in look.texts]
    if look.balance:
        parts.append(html_paragraph(balance_of(look)))
    if look.doubt:
        parts.append(html_paragraph(look.doubt))
    parts += [
        f"<p style='margin:.3em .7em;max-width:50em'><b style='color:{COLOURS[each.severity]}'>"
        f"{each.code} {each.severity}</b> {escape(printable(each.sentence))}</p>"
        for each in look.findings
    ]
    if not look.findings:
        parts.append(html_paragraph(findings_of(look)[0]))
    return html_block(*parts)


def _shown_columns(look: "Look") -> list["ColumnFacts"]:
    """All columns of a narrow table; of a wide one some, those with findings, and the target."""
    if len(look.columns) <= MOST_COLUMNS:
        return list(look.columns)
    named = {name for each in look.findings for name in each.columns} | {look.target}
    chosen = [column for column in look.columns if column.name in named][:MOST_COLUMNS]
    room = MOST_COLUMNS - len(chosen)
    taken = {id(column) for column in chosen}
    first = [column for column in look.columns if id(column) not in taken][:room]
    taken |= {id(column) for column in first}
    return [column for column in look.columns if id(column) in taken]


def _cells(look: "Look", column: "ColumnFacts") -> tuple[str, ...]:
    missing = percent(column.missing / look.n_looked_at) if column.missing else ""
    name = shortened(column.name, LONGEST_NAME) + (" *" if column.name == look.target else "")
    return (name, column.type, missing, f"{column.distinct:,}", _values(look, column))


def _values(look: "Look", column: "ColumnFacts") -> str:
    """The minimum, the median and the maximum; or the most frequent values."""
    if column.low is not None:
        return " … ".join(map(short_number, (column.low, column.median, column.high)))
    known = look.n_looked_at - column.missing
    words = [
        _value(value) + (f" {percent(rows / known)}" if rows >= known / 100 else "")
        for value, rows in column.top[:MOST_VALUES]
    ]
    return ", ".join(words) + (", …" if column.distinct > MOST_VALUES else "")


def _value(value: Any) -> str:
    return shortened(value, LONGEST_VALUE)
