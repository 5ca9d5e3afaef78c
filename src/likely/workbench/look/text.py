"""A look, put for the terminal and for the notebook."""

from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likely.workbench.look.look import ColumnFacts, Look

WIDEST = 100  # columns of text
MOST_COLUMNS = 60  # shown when printed; the frame has them all
LONGEST_NAME = 24
LONGEST_VALUE = 18
MOST_VALUES = 3
HEAD = ("column", "type", "missing", "distinct", "values")
LINE = "rgba(127,127,127,.45)"  # seen on a light page and on a dark one
CELL = "text-align:left;padding:.15em .7em;border:0;vertical-align:top"
NUMBER = CELL.replace("left", "right") + ";font-variant-numeric:tabular-nums"
COLOURS = {"stop": "#c0392b", "warn": "#b9770e", "note": "#5d6d7e"}


def text_of(look: "Look", width: int = WIDEST) -> str:
    """The columns, the target, the findings."""
    lines = [title(look), ""]
    shown = _shown_columns(look)
    rows = [HEAD, *(_cells(look, column) for column in shown)]
    wide = [max(len(row[j]) for row in rows) for j in range(len(HEAD))]
    for row in rows:
        left = "  ".join(_placed(row, wide, j) for j in range(len(HEAD) - 1))
        lines.append(_cut(f"  {left}  {row[-1]}".rstrip(), width))
    if len(look.columns) > len(shown):
        lines.append(f"  (+{len(look.columns) - len(shown)} more; to_frame() has them all)")
    if look.balance:
        lines += ["", *wrap(balance_of(look), width)]
    if look.doubt:
        lines += [*([] if look.balance else [""]), *wrap(look.doubt, width, break_on_hyphens=False)]
    return "\n".join([*lines, "", *findings_of(look, width)])


def title(look: "Look") -> str:
    """``churn.csv: 7,000 rows, 20 columns, target churn (2 classes).``"""
    text = f"{look.label}: {_count(look.n_rows, 'row')}, {_count(len(look.columns), 'column')}"
    if look.target is not None:
        what = "a number" if look.n_classes is None else _count(look.n_classes, "class", "classes")
        what = {"count": "a count", "ordinal": f"{what} in order"}.get(str(look.kind), what)
        if look.n_classes is None and any(f.code == "LK306" for f in look.findings):
            what = "no class and no number"
        text += f", target {look.target} ({what})"
    if look.n_looked_at < look.n_rows:
        text += f"; {look.n_looked_at:,} of the rows, chosen by a hash, were looked at"
    return text + "."


def balance_of(look: "Look") -> str:
    """``Target churn: no 73 %, yes 27 %.``"""
    known = sum(look.balance.values())
    words = [f"{_value(v)} {rows / known:.1%}" for v, rows in look.balance.items()]
    most = 12
    more = f", and {len(words) - most} more" if len(words) > most else ""
    return f"Target {look.target}: {', '.join(words[:most])}{more}."


def findings_of(look: "Look", width: int = WIDEST) -> list[str]:
    """The findings in words, the gravest first."""
    muted = f" (muted: {', '.join(look.muted)})" if look.muted else ""
    if not look.findings:
        return [f"No findings{muted}."]
    lines = [f"{_count(len(look.findings), 'finding')}{muted}:"]
    for each in look.findings:
        first, *others = wrap(each.sentence, width - 14, break_on_hyphens=False)
        lines += [f"  {each.code} {each.severity}  {first}"]
        lines += [f"{'':14}{line}" for line in others]
    return lines


def html_of(look: "Look") -> str:
    head = "".join(f"<th style='{_style(j)};font-weight:600'>{h}</th>" for j, h in enumerate(HEAD))
    rows = "".join(
        "<tr style='background:none'>"
        + "".join(f"<td style='{_style(j)}'>{escape(c)}</td>" for j, c in enumerate(cells))
        + "</tr>"
        for cells in (_cells(look, column) for column in _shown_columns(look))
    )
    more = len(look.columns) - len(_shown_columns(look))
    after = f"<p>(+{more} more; to_frame() has them all)</p>" if more else ""
    target = f"<p>{escape(balance_of(look))}</p>" if look.balance else ""
    target += f"<p>{escape(look.doubt)}</p>" if look.doubt else ""
    findings = "".join(
        f"<p style='margin:.3em 0;max-width:50em'><b style='color:{COLOURS[each.severity]}'>"
        f"{each.code} {each.severity}</b> {escape(each.sentence)}</p>"
        for each in look.findings
    )
    return (
        "<div style='font-size:.95em;overflow-x:auto'>"
        f"<p style='font-weight:600'>{escape(title(look))}</p>"
        f"<table style='border-collapse:collapse;color:inherit;border-top:1px solid {LINE};"
        f"border-bottom:1px solid {LINE}'><thead><tr style='background:none'>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>{after}{target}"
        f"{findings or '<p>' + escape(findings_of(look)[0]) + '</p>'}</div>"
    )


def _shown_columns(look: "Look") -> list["ColumnFacts"]:
    """All of a narrow table; of a wide one the first, and those with findings and the target."""
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
    share = column.missing / look.n_looked_at
    missing = "" if not column.missing else f"{share:.1%}" if share >= 0.001 else "<0.1%"
    name = _cut(column.name, LONGEST_NAME) + (" *" if column.name == look.target else "")
    return (name, column.type, missing, f"{column.distinct:,}", _values(look, column))


def _values(look: "Look", column: "ColumnFacts") -> str:
    """The least, the middle and the greatest number; or the most frequent values."""
    if column.low is not None:
        return f"{_number(column.low)} … {_number(column.median)} … {_number(column.high)}"
    known = look.n_looked_at - column.missing
    words = [
        _value(value) + (f" {rows / known:.0%}" if rows >= known / 100 else "")
        for value, rows in column.top[:MOST_VALUES]
    ]
    return ", ".join(words) + (", …" if column.distinct > MOST_VALUES else "")


def _number(value: float | None) -> str:
    text = f"{value:.4g}"
    return f"{value:,.0f}" if "e+" in text and abs(value or 0) < 1e9 else text


def _value(value: Any) -> str:
    return _cut(" ".join(str(value).split()), LONGEST_VALUE)


def _placed(row: tuple[str, ...], wide: list[int], j: int) -> str:
    return row[j].ljust(wide[j]) if j < 2 else row[j].rjust(wide[j])


def _style(j: int) -> str:
    return NUMBER if HEAD[j] in ("missing", "distinct") else CELL


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"
