"""What is shown about a model that was trained: its data, its scores and its losses, in parts.

A part is a paragraph or a table; a terminal styles them, Python prints them as they are.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from likely.kinds import target_in_words
from likely.output.formatting import WIDEST, count, paragraph, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from likely.metrics import Score
    from likely.workbench.scoring.progressive import ProgressiveLoss


class ShownTable(NamedTuple):
    """The header and the rows of a table."""

    header: "Sequence[str]"
    rows: "Sequence[Sequence[str]]"


Part = str | ShownTable


def plain_text(parts: "Sequence[Part]") -> str:
    """The parts as text without styles."""
    return "\n\n".join(
        "\n".join(paragraph(each, WIDEST) if isinstance(each, str) else text_table(*each))
        for each in parts
    )


def opening(facts: dict[str, Any]) -> str:
    text = f"{count(facts['rows'], 'row')}, {count(len(facts['columns']), 'column')}"
    if facts["target"] is not None:
        n_classes = None if facts["classes"] is None else len(facts["classes"])
        what = target_in_words((facts["task"] or {}).get("kind"), n_classes)
        text += f", target {facts['target']} ({what})"
    text += "".join(f", {role} {name}" for role, name in facts["roles"].items())
    return f"{facts['model']} on {facts['data']}: {text}."


def score_text(score: "Score | None", facts: dict[str, Any]) -> list[Part]:
    """The table, which names the second of two classes where it is about one; and a paragraph."""
    if score is None:
        return ["The model was fitted to all rows."]
    return [ShownTable(*score.table(facts["classes"])), " ".join([*_how(score), *score.remarks()])]


def progressive_table(losses: "Sequence[ProgressiveLoss]", note: str = "") -> tuple[Part, ...]:
    """The losses as a table, with a note on them; nothing where there are none."""
    if not losses:
        return ()
    cells = [[f"{each.rows:,}", *(f"{loss:.4f}" for loss in each[1:])] for each in losses]
    head = ["documents", "log loss since the last line", "so far", "baseline"]
    title = (
        "Progressive validation: each document is predicted before it is learned from. The log "
        "loss of the documents since the last line, of all so far, and of the best constant "
        "prediction for them (baseline):"
    )
    return (title, ShownTable(head, cells), *([note] if note else []))


def losses_text(model: Any) -> list[Part]:
    """The learning curve of a model that is trained in epochs: some of them, as a table."""
    from likely.output.description import describe
    from likely.output.loss_curves import shown_rows

    curves = describe(model).curves
    if not curves:
        return []
    first = curves[0]
    losses = {"training loss": first.train, "held-out loss": first.validation}
    columns = {first.noun: [str(k + 1) for k in range(len(first.train))]}
    columns |= {name: [f"{x:.4g}" for x in values] for name, values in losses.items() if values}
    every = shown_rows(columns, max(first.kept - 1, 0))
    rows = [row for row in every if row[0] != "…"]
    which = "" if len(curves) == 1 else f" of the first of {len(curves)} networks"
    text = f"Learning curve{which}; the parameters are those of {first.noun} {first.kept}."
    return [text, ShownTable(list(columns), rows)]


def score_findings(score: "Score | None", n_rows: int | None) -> tuple[str, ...]:
    """A note if there is no score; the verdict has those about a score."""
    if score is not None:
        return ()
    rows = "too few rows" if n_rows is None else f"only {count(n_rows, 'row')}"
    return (f"There are {rows}, too few to hold some out, so the model has no score.",)


def _how(score: "Score") -> list[str]:
    """Which rows were scored, and what the model of the RUN has learned from."""
    from likely.metrics.score import groups_text
    from likely.workbench.scoring.progressive import PROGRESSIVE

    fitted = "The model was then fitted to all rows."
    if score.how == PROGRESSIVE:
        rows = count(score.n_rows, "row")
        return [
            f"Scored on the last {rows}, predicted by a model of those before them.",
            "The model has then learned from them, too.",
        ]
    if score.folds is None:
        return [f"Scored on {count(score.n_rows, 'held-out row')}.", fitted]
    groups = ""
    if score.n_groups is not None:
        groups = f", in {groups_text(score.n_groups, score.group)}"
    scored = f"Scores of {count(score.n_rows, 'row')} by {score.how}"
    return [f"{scored}; intervals are for all rows together{groups}.", fitted]
