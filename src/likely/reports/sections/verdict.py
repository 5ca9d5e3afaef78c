"""The result: one sentence with interval and baseline, a picture, and all metrics."""

from math import isfinite
from typing import Any, NamedTuple

from likely.formatting import capitalised, count, estimate, estimate_cells, percent_level
from likely.metrics import Estimate
from likely.metrics.score import score_sentence, title_of
from likely.reports.figures import ACCENT, INK, MUTED, few_ticks, picture
from likely.reports.section import Block, Gallery, LeftOut, Picture, Remark, Section, Tone
from likely.reports.sections.scores import (
    metrics_table,
    rows_held,
    score_of_run,
)
from likely.runs.folder import RunFacts
from likely.sealing.final_score import FinalScore
from likely.workbench.verdict.evidence import evidence_in_run
from likely.workbench.verdict.verdict import Verdict, verdict_on

ROOM = 0.08  # on both sides of the marks, as a share of their distance
EDGE = 0.25  # of the ruler: here names lean inwards


class ScoreVerdict(NamedTuple):
    """A score, and the verdict on its model; None where the score is not that of this model."""

    sentence: str
    title: str  # of the metric
    score: Estimate
    judged: Verdict | None
    level: float = 0.95  # of the interval

    @property
    def tone(self) -> Tone:
        return "plain" if self.judged is None else self.judged.severity

    @property
    def judgement(self) -> str:
        return "" if self.judged is None else self.judged.conclusion


def verdict(facts: RunFacts) -> Section | LeftOut:
    found = verdict_of(facts)
    if found is None:
        return LeftOut("Result", "the run has no score, because no rows were held out")
    text = " ".join(filter(None, [found.sentence, found.judgement, _flattery(facts)]))
    remark = Remark(text, tone=found.tone)
    blocks: list[Block] = [remark]
    if found.judged is not None and isfinite(sum(found.score)):
        blocks = [Gallery((remark, _ruler(found)))]
    if found.judged is not None:
        blocks += [Remark(each.text, tone=each.severity) for each in found.judged.reasons]
    score = score_of_run(facts)
    if score is not None:
        blocks.append(metrics_table(facts, score))
    return Section("verdict", "Result", tuple(blocks))


def verdict_of(facts: RunFacts) -> ScoreVerdict | None:
    """The score of the sealed rows if there is one, else that of held-out rows."""
    if facts.final is None:
        return held_out_verdict(facts)
    score = FinalScore.from_json(facts.final)
    shown, title = score.shown, score.title
    return ScoreVerdict(str(score), title, shown, _judged(facts, score), level=score.level)


def held_out_verdict(facts: RunFacts) -> ScoreVerdict | None:
    """The score of training rows while they were held out."""
    score = score_of_run(facts)
    if score is None:
        return None
    found, title = score.main, title_of(score.metric)
    sentence = score_sentence(title, found, rows_held(facts, score), score.baseline)
    return ScoreVerdict(sentence, title, found, _judged(facts))


def _judged(facts: RunFacts, final: FinalScore | None = None) -> Verdict | None:
    evidence = evidence_in_run(
        facts.run,
        look=facts.look,
        held=facts.validation,
        final=final,
        effects=facts.effects,
    )
    return verdict_on(evidence)


def _flattery(facts: RunFacts) -> str:
    """A sentence that the best score of a search is optimistic; not for sealed rows."""
    if facts.final is not None or facts.study is None:
        return ""
    trials = count(len(facts.study["trials"]), "trial")
    nested = facts.study.get("nested")
    if not nested:
        return f"Its settings are the best of {trials} on these rows, so this score is optimistic."
    score = estimate(nested["value"], *nested["interval"])
    return f"Its settings are the best of {trials} on these rows; the nested score is {score}."


def _ruler(found: ScoreVerdict) -> Picture:
    """The interval and the baseline on one line."""
    middle, low, high, constant = found.score
    value, ends, baseline = estimate_cells(*found.score)
    marks = (
        (middle, f"model {value}", ACCENT, True),
        (constant, f"baseline {baseline}", MUTED, False),
    )

    def draw(ax: Any) -> None:
        ax.plot([low, high], [0, 0], color=ACCENT, linewidth=5, alpha=0.35)
        ax.plot([middle], [0], "o", color=ACCENT, markersize=8)
        ax.plot([constant], [0], "|", color=INK, markersize=18, markeredgewidth=2)
        places = sorted((low, high, constant))
        room = ROOM * (places[-1] - places[0] or 1.0)
        ax.set_xlim(places[0] - room, places[-1] + room)
        ax.set_ylim(-2.2, 1.8)
        for x, name, colour, up in marks:
            _tag(ax, x, name, colour, up=up)
        ax.set_yticks([])
        ax.grid(visible=False)  # lines would cross the names
        few_ticks(ax.xaxis)
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(capitalised(found.title))

    label = (
        f"{found.title}: model {value}, {percent_level(found.level)} interval {ends}; "
        f"baseline {baseline}."
    )
    caption = f"The bar is a {percent_level(found.level)} interval."
    if found.judged is not None:
        caption += " Model and baseline are compared row by row."
    return picture(draw, label, caption=caption, size=(4.8, 1.4))


def _tag(ax: Any, x: float, text: str, colour: str, *, up: bool) -> None:
    """A name above or below a mark, kept inside the picture."""
    low, high = ax.get_xlim()
    place = (x - low) / (high - low)
    side = "left" if place < EDGE else "right" if place > 1 - EDGE else "center"
    offset = {"left": -5, "center": 0, "right": 5}[side]
    ax.annotate(
        text,
        (x, 0),
        xytext=(offset, 10 if up else -12),
        textcoords="offset points",
        ha=side,
        va="bottom" if up else "top",
        color=colour,
        fontsize=9,
        fontweight="bold" if up else "normal",
    )
