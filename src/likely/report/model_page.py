"""The model's own page: coefficients with errors, telling columns, or components."""

from collections.abc import Mapping, Sequence
from typing import Any

from likely.report.run_files import RunFacts
from likely.report.section import Block, Heading, LeftOut, Remark, Section, Table, Text
from likely.report.wording import count, number, shortened

TITLE = "The model"
MOST_TERMS = 60
MOST_COLUMNS = 30
MOST_GROUPS = 8  # classes side by side; more are told one below the other
MOST_PER_GROUP = 8
LONGEST_NAME = 40
LONGEST_CELL = 24
SMALLEST_P = 1e-4


def model_page(facts: RunFacts) -> Section | LeftOut:
    page = facts.page
    blocks: list[Block] = []
    if page is not None:
        blocks += _of(page)
    if facts.steps:
        blocks += _prepared(facts.steps)
    if not blocks:
        return LeftOut(TITLE, "this kind of model has nothing to show")
    return Section("model", TITLE, tuple(blocks))


def _of(page: Mapping[str, Any]) -> list[Block]:
    if "cuts" in page:
        return [block for cut in page["cuts"] for block in _cut(cut)]
    if "columns" in page:
        return _components(page)
    return _summary(page) if "fit" in page else _weights(page)


def _cut(cut: Mapping[str, Any]) -> list[Block]:
    """Of ordered classes: the model of one cut between them."""
    return [Heading(f"Above {cut['above']}"), *_of(cut)]


def _summary(page: Mapping[str, Any]) -> list[Block]:
    """Coefficients with standard errors, as ``likely explain`` has them."""
    fit, terms = page["fit"], page["terms"]
    rows = tuple(
        (
            shortened(each["term"], LONGEST_NAME),
            *(number(each[key]) for key in ("coef", "se")),
            number(each["z"], 2),
            _p(each["p"]),
            *(number(each[key]) for key in ("low", "high")),
        )
        for each in terms[:MOST_TERMS]
    )
    said = (
        f"{page['title']}: {count(int(fit['examples']), 'row')}, "
        f"{count(int(fit['parameters']), 'parameter')}; log-likelihood "
        f"{number(fit['log_likelihood'])} (without columns {number(fit['null_log_likelihood'])}), "
        f"AIC {number(fit['aic'])}, standard errors: {fit['covariance']}."
    )
    head = ("term", "coefficient", "standard error", "z", "p", "95 % low", "95 % high")
    notes = [Remark(f"{note[:1].upper()}{note[1:]}", tone="note") for note in page["notes"]]
    return [Text(said), Table(head, rows, more=_more(len(terms), MOST_TERMS, "term")), *notes]


def _weights(page: Mapping[str, Any]) -> list[Block]:
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
        f"{count(len(groups), 'predictor')}, the largest first, in the units of their columns."
    )
    more = _more(len(terms), MOST_TERMS, "term")
    return [Text(said), Table(("term", *map(_group, shown)), tuple(rows), more=more)]


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
            *(shortened(each["parameters"][name], LONGEST_CELL) for name in names),
        )
        for each in columns[:MOST_COLUMNS]
    )
    head = ("column", "event model", "evidence", *map(_group, names))
    table = Table(head, rows, left=2, more=_more(len(columns), MOST_COLUMNS, "column"))
    words = [_lists(names, columns)] if len(columns) > MOST_COLUMNS else []
    return [Text(said), table, *words]


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
    rows = tuple((shortened(name, LONGEST_NAME), what) for name, what in steps[:MOST_TERMS])
    return [
        Heading("How columns were prepared"),
        Text("Learned from the training rows alone, and saved with the model."),
        Table(
            ("column", "what was done"), rows, left=2, more=_more(len(steps), MOST_TERMS, "column")
        ),
    ]


def _group(name: object) -> str:
    return shortened(name, LONGEST_CELL)


def _more(n: int, most: int, what: str) -> str:
    return f"{count(n - most, f'more {what}')}; likely explain has them all" if n > most else ""


def _p(p: float | None) -> str:
    if p is None:
        return "–"
    return f"< {SMALLEST_P:.4f}" if p < SMALLEST_P else f"{p:.4f}"
