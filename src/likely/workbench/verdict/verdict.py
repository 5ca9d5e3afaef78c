"""The verdict on a model: whether it is better than the baseline, and every reason for doubt.

``RULES`` is the whole of it: each rule looks at one kind of evidence, and returns a sentence if it
objects, else nothing.  A model is called good only if it is clearly better than the baseline and
no rule objects.  ``train``, ``final``, ``compare`` and the report use these rules and no others;
docs/verdict.rst has them as a table.

References
----------
Zou & Donner (2008), Construction of confidence limits about effect measures, Stat. in Medicine 27.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite, isinf, sqrt
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, final

from likely.metrics import METRICS
from likely.metrics.registry import LOSSES
from likely.metrics.score import gain_title, title_of
from likely.numerics.intervals import Ends, Estimate, clearly_better, clearly_worse, difference
from likely.output.formatting import all_listed, count, estimate, paragraph, quoted
from likely.workbench.scoring.paired import LEVEL, paired_differences
from likely.workbench.verdict.checks import (
    Evidence,
    far_predictions,
    impossible_values,
    never_predicted,
    one_row,
    shifted_quantiles,
    worse_folds,
)

Severity = Literal["good", "note", "warn", "stop"]
SEVERITIES: tuple[Severity, ...] = ("good", "note", "warn", "stop")

LEAKS = ("LK401", "LK403", "LK404")
COPIES = ("LK205", "LK206")
NEARLY_ALONE = "LK405"
FLATTERED = ("leak", "copies")  # rules with whose objections no gain is called clear
CALIBRATION = "calibration-error"
MISCALIBRATED = 0.02  # a calibration error that is clearly above this is worth a sentence
UNEXPLAINED = 1e-4  # a share of the loss of the baseline, below which a fit is suspiciously good
MISTAKEN = 1e-3  # the same of wrong classes
MOST_NAMED = 3  # metrics in a sentence
FEWEST_ROWS = 20  # with fewer, no other metric is called clearly better
EXACT = (
    "auc",
    "auc-approximate",
    "balanced-accuracy",
    "kappa",
)  # metrics of which a constant has the same value on all rows


UNLIKE_CHANCE = (
    CALIBRATION,
    "f1",
    "macro-f1",
)  # a constant is worse than classes drawn at random, or better


class VerdictRule(NamedTuple):
    """One rule of the verdict."""

    severity: Severity  # of an objection
    when: str  # it objects, in words
    check: Callable[[Evidence], str]  # the objection in a sentence; empty where there is none


class Objection(NamedTuple):
    rule: str
    severity: Severity
    text: str


@final
@dataclass(frozen=True)
class Verdict:
    """The objections of all rules; good if there are none."""

    objections: tuple[Objection, ...]
    gain: Estimate
    gain_title: str

    @property
    def severity(self) -> Severity:
        return max(("good", *(each.severity for each in self._doubtful)), key=SEVERITIES.index)

    @property
    def _doubtful(self) -> tuple[Objection, ...]:
        """The objections that are more than a hint."""
        return tuple(each for each in self.objections if each.severity != "note")

    @property
    def better(self) -> bool:
        """Whether the gain is clearly above 0, and no leak or copy may explain it."""
        return clearly_better(self.gain) and not self._flattered

    @property
    def _flattered(self) -> tuple[Objection, ...]:
        return tuple(each for each in self.objections if each.rule in FLATTERED)

    @property
    def conclusion(self) -> str:
        """The sentence about the gain."""
        if not clearly_better(self.gain):
            return self.objections[0].text
        gain = estimate(*self.gain[:3])
        if self._flattered:
            first = "It is not known whether the model is better than the baseline. The "
            return f"{first}{self.gain_title} is {gain}, but: {self._flattered[0].text}"
        first = f"The model is clearly better than the baseline: the {self.gain_title} is {gain}"
        return f"{first}, but not everything agrees." if self._doubtful else f"{first}."

    @property
    def reasons(self) -> tuple[Objection, ...]:
        """The objections that the conclusion has not said."""
        if self._flattered and clearly_better(self.gain):
            return tuple(each for each in self.objections if each is not self._flattered[0])
        return self.objections if self.better else self.objections[1:]

    @property
    def doubts(self) -> tuple[str, ...]:
        """Every objection in a sentence."""
        return tuple(each.text for each in self.objections)

    def __str__(self) -> str:
        texts = (self.conclusion, *(each.text for each in self.reasons))
        return "\n\n".join("\n".join(paragraph(each)) for each in texts)

    def to_json(self) -> dict[str, Any]:
        return {
            "severity": self.severity,
            "better_than_baseline": self.better,
            "objections": [each._asdict() for each in self.objections],
        }


def verdict_on(evidence: Evidence) -> Verdict | None:
    """The verdict; None where the model has no score of its own."""
    gain = evidence.gain
    if gain is None:
        return None
    found = ((name, rule, rule.check(evidence)) for name, rule in RULES.items())
    objections = (Objection(name, rule.severity, text) for name, rule, text in found if text)
    return Verdict(tuple(objections), gain, gain_title(evidence.measures))


def better_metrics(
    measures: Mapping[str, Estimate],
    n_rows: int,
    paired: Mapping[str, Ends] | None = None,
    *,
    n_models: int = 1,
) -> list[str]:
    """The metrics that are clearly better than their baseline, which has noise of its own.

    ``paired`` are intervals of differences by row, which decide where they are known.  Elsewhere
    the noise of the baseline is taken to be as large and independent: the value must be beyond the
    baseline by √2 times its own half interval.  A share that is explained must also be clearly
    above 0.  With m metrics of all models, one of which may be better by chance, each interval is
    that of the level 1 − 0.05/m (Bonferroni).
    """
    judged = {
        name: found
        for name, found in measures.items()
        if name not in UNLIKE_CHANCE and name in METRICS and METRICS[name].better is not None
    }
    if n_rows < FEWEST_ROWS or not judged:
        return []
    normal, wrong = NormalDist(), (1 - LEVEL) / 2
    wider = normal.inv_cdf(wrong / (len(judged) * n_models)) / normal.inv_cdf(wrong)
    known, better = paired or {}, []
    for name, (value, low, high, baseline) in judged.items():
        found = Estimate(
            value, value - wider * (value - low), value + wider * (high - value), baseline
        )
        if name in known:
            low, high = known[name]
            if low + high > wider * (high - low):
                better.append(name)
        elif _side(name, found) > 0 and _beyond_noise(name, found):
            better.append(name)
    return better


def _better_in(evidence: Evidence) -> list[str]:
    """The metrics that are clearly better; of held-out rows, by their differences."""
    of_held = evidence.held is not None and evidence.final is None
    paired = paired_differences(evidence.held) if of_held and evidence.held else None
    return better_metrics(evidence.measures, evidence.n_rows, paired)


def _beyond_noise(name: str, found: Estimate) -> bool:
    if name in EXACT:
        return True
    if (name == "r2" or name.endswith("-explained")) and not found.low > 0:
        return False
    half = found.value - found.low if found.value > found.baseline else found.high - found.value
    return abs(found.value - found.baseline) > sqrt(2) * half


def worse_metrics(measures: Mapping[str, Estimate]) -> list[str]:
    """The metrics that are clearly worse than their baseline, or infinitely bad.

    A deviance is infinite where a mean is not above 0, as a Gaussian's of counts may be; where R²
    is clearly better, that is no reason against the means.
    """
    by_squares = "r2" in measures and _side("r2", measures["r2"]) > 0
    return [
        name
        for name, found in measures.items()
        if name != CALIBRATION
        and (
            _side(name, found) < 0
            or (
                isfinite(found.baseline)
                and isinf(found.value)
                and not (by_squares and "deviance" in name)
            )
        )
    ]


def in_words(names: Iterable[str], measures: Mapping[str, Estimate]) -> str:
    """``R² 0.156 (0.12 to 0.19)``, for a few metrics."""
    shown = list(names)[:MOST_NAMED]
    return all_listed([f"{title_of(name)} {estimate(*measures[name][:3])}" for name in shown])


def _side(name: str, found: Estimate) -> int:
    """1 where a metric is clearly better than its baseline, −1 where clearly worse, else 0."""
    better = METRICS[name].better if name in METRICS else None
    if better is None or not isfinite(found.value) or not isfinite(found.baseline):
        return 0
    sign = 1 if better == "higher" else -1
    above, below = found.low > found.baseline, found.high < found.baseline
    return sign * (int(above) - int(below))


def _worse(evidence: Evidence) -> str:
    gain = evidence.gain
    if gain is None or not clearly_worse(gain):
        return ""
    words = _gain_in_words(evidence, gain)
    return f"The model is clearly worse than {evidence.baseline}: {words}.{_explained(evidence)}"


def _no_gain(evidence: Evidence) -> str:
    gain = evidence.gain
    if gain is None or clearly_better(gain) or clearly_worse(gain):
        return ""
    words = _gain_in_words(evidence, gain)
    text = f"The model is not clearly better than {evidence.baseline}: {words}."
    return f"{text}{_better_by(evidence)}"


def _better_by(evidence: Evidence) -> str:
    """A sentence about metrics that contradict a bad gain; may be empty."""
    better = _better_in(evidence)
    if not better or _leaks(evidence) or _found(evidence, COPIES):
        return ""
    return f" By other metrics it is clearly better: {in_words(better, evidence.measures)}."


def _explained(evidence: Evidence) -> str:
    """Why other metrics are better where the likelihood is clearly worse; may be empty."""
    measures = evidence.measures
    better = _better_in(evidence)
    if not better:
        return ""
    if "accuracy" in measures:
        judged, wrong = "the order or the labels of classes", "the probabilities are too extreme"
    elif "poisson-deviance" in measures:
        judged = "predicted means"
        wrong = "the predicted spread is too narrow (overdispersion: try negative-binomial)"
    else:
        judged, wrong = "predicted means", "the predicted spread is wrong"
    return (
        f" This seems to contradict {in_words(better, measures)}, which is better; but that judges "
        f"{judged} alone, so the reason is probably that {wrong}."
    )


def _gain_in_words(evidence: Evidence, gain: Estimate) -> str:
    title = gain_title(evidence.measures)
    return f"the {title} is {estimate(*gain[:3])} on {evidence.where}"


def _other_metrics(evidence: Evidence) -> str:
    gain = evidence.gain
    worse = worse_metrics(evidence.measures)
    if "f1" in worse and never_predicted(evidence):  # the threshold explains it
        worse.remove("f1")
    if gain is None or not worse or clearly_worse(gain):
        return ""
    return (
        f"By {count(len(worse), 'other metric')} it is clearly worse than the baseline: "
        f"{in_words(worse, evidence.measures)}."
    )


def _leaks(evidence: Evidence) -> str:
    suspects = _suspects(evidence, LEAKS[0])
    others = _found(evidence, LEAKS[1:])
    if not suspects:
        return others
    names, verb = quoted(suspects), "is" if len(suspects) == 1 else "are"
    text = (
        f"{names} {verb} suspiciously close to the target ({LEAKS[0]}): if filled in after the "
        "outcome, every score is too good."
    )
    return f"{text} {others}".rstrip()


def _nearly_alone(evidence: Evidence) -> str:
    """A hint only: no rule tells such a column from an honest predictor of its strength."""
    names = _suspects(evidence, NEARLY_ALONE)
    if not names:
        return ""
    if len(names) == 1:
        verb, known = "predicts", "it is"
    else:
        verb, known = "each predict", "they are"
    return (
        f"{quoted(names)} {verb} the target nearly alone ({NEARLY_ALONE}): check that {known} "
        "known before the target is."
    )


def _suspects(evidence: Evidence, code: str) -> list[str]:
    """The columns of the model with this finding, each once."""
    found = (
        str(column)
        for each in evidence.findings
        if each.get("code") == code
        for column in each.get("columns") or ()
        if evidence.features is None or column in evidence.features
    )
    return list(dict.fromkeys(found))


def _found(evidence: Evidence, codes: tuple[str, ...], *, notes: bool = False) -> str:
    """The findings with these codes, all of whose columns the model uses: the notes, or others."""
    return " ".join(
        f"{found['code']}: {found.get('text') or found.get('sentence') or ''}"
        for found in evidence.findings
        if found.get("code") in codes
        and (found.get("severity") == "note") is notes
        and (evidence.features is None or evidence.features >= {*(found.get("columns") or ())})
    )


def _computed(evidence: Evidence) -> str:
    measures = evidence.measures
    perfect = [name for name, found in measures.items() if _almost_perfect(name, found)]
    if not perfect or evidence.n_rows < FEWEST_ROWS:
        return ""
    which = ""
    if evidence.important:
        verb = (
            "has the largest effect" if len(evidence.important) == 1 else "have the largest effects"
        )
        which = f" {quoted(list(evidence.important))} {verb}."
    return (
        f"The fit is almost perfect ({in_words(perfect[:1], measures)}): the target may be "
        f"computed from these columns, or filled in together with them.{which} Drop columns that "
        "are not known before the outcome."
    )


def _almost_perfect(name: str, found: Estimate) -> bool:
    """Whether hardly anything is left to explain, beyond what good models leave."""
    if name == "r2" or name.endswith("-explained"):
        return found.low > 1 - UNEXPLAINED
    if name == "log-loss":
        return 0 <= found.value < UNEXPLAINED * found.baseline
    if name == "accuracy":
        return 1 - found.low < MISTAKEN * (1 - found.baseline)
    return False


def _probabilities(evidence: Evidence) -> str:
    error = evidence.measures.get(CALIBRATION)
    if error is None or not error.low > MISCALIBRATED:
        return ""
    return (
        f"The probabilities are not calibrated: they differ from observed shares by "
        f"{estimate(*error[:3])} on average."
    )


def _sealed_differs(evidence: Evidence) -> str:
    final, score = evidence.final, evidence.score
    if final is None or not final.of_this_model or score is None or final.metric not in LOSSES:
        return ""
    loss = LOSSES[final.metric]
    before = score.estimates.get(loss.metric.name)
    if before is None or not final.measures:
        return ""
    sealed, held = final.estimate, loss.of(before)
    if not difference(sealed, held)[0] > 0:
        return ""
    name = loss.metric.name
    return (
        f"The sealed rows are clearly harder than the held-out rows: {title_of(name)} "
        f"{estimate(*final.measures.get(name, sealed)[:3])} after {estimate(*before[:3])}."
    )


RULES: Mapping[str, VerdictRule] = {
    "worse": VerdictRule("stop", "the interval of the gain over the baseline is below 0", _worse),
    "no-gain": VerdictRule(
        "warn", "the interval of the gain over the baseline contains 0", _no_gain
    ),
    "other-metrics": VerdictRule(
        "warn",
        "another metric is infinite, or its interval is on the worse side of its baseline",
        _other_metrics,
    ),
    "range": VerdictRule(
        "warn",
        "a predicted number is outside the observed range by more than the width of that range",
        far_predictions,
    ),
    "reference": VerdictRule(
        "warn",
        "gradient boosting, which likely compare fits as a reference, is clearly better by more "
        "than 0.05 nats a row on the same held-out rows: the terms of the model miss something",
        lambda evidence: evidence.missed,
    ),
    "one-row": VerdictRule(
        "warn",
        "the gain would be clearly above 0 without one to three rows, or about as many sealed rows "
        "carry nearly all of the loss",
        one_row,
    ),
    "impossible": VerdictRule(
        "warn", "the model gave probability 0 to a value that occurred", impossible_values
    ),
    "leak": VerdictRule(
        "warn",
        "a column of the model is suspiciously close to the target (LK401), was made from it "
        "(LK403), or gives it together with others (LK404)",
        _leaks,
    ),
    "copies": VerdictRule(
        "warn",
        "rows are near copies of others that folds cannot keep together (LK205), or too few are "
        "different (LK206)",
        partial(_found, codes=COPIES),
    ),
    "together": VerdictRule(
        "note",
        "rows are near copies of others, which folds keep together (LK205)",
        partial(_found, codes=COPIES, notes=True),
    ),
    "computed": VerdictRule(
        "warn",
        "the fit is almost perfect: the interval of the explained share is above 0.9999, the log "
        "loss is below 1/10,000 of its baseline, or the upper end of the wrong classes below "
        "1/1,000 of those of the baseline",
        _computed,
    ),
    "probabilities": VerdictRule(
        "warn", "the interval of the calibration error is above 0.02", _probabilities
    ),
    "quantiles": VerdictRule(
        "warn",
        "the quantiles of the observed numbers in their predicted distributions (PIT) are not "
        "uniform: by more than 0.05 beyond chance",
        shifted_quantiles,
    ),
    "folds": VerdictRule(
        "warn",
        "the model is clearly worse than the baseline in a fold (not for groups of a column)",
        worse_folds,
    ),
    "sealed": VerdictRule(
        "warn",
        "the score of the sealed rows is clearly worse than that of the held-out rows",
        _sealed_differs,
    ),
    "threshold": VerdictRule(
        "note",
        "a class with less than 20 % of the rows is never predicted at the threshold of 0.5 (two "
        "classes)",
        never_predicted,
    ),
    "alone": VerdictRule(
        "note", "a column of the model predicts the target nearly alone (LK405)", _nearly_alone
    ),
    "surpassed": VerdictRule(
        "note",
        "another model of likely compare is clearly better on the same folds (p < 0.05)",
        lambda evidence: evidence.surpassed,
    ),
}
