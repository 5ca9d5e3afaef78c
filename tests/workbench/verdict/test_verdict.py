"""Each rule of the verdict objects to what it is for, and to nothing else."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from likely.metrics import Prediction, Score, Truth, metrics_for, score_of
from likely.metrics.baseline import constant_prediction
from likely.numerics.intervals import Estimate
from likely.output.formatting import percent
from likely.sealing.final_score import FinalScore
from likely.workbench.scoring.paired import lone_rows, paired_differences
from likely.workbench.scoring.reference import Reference
from likely.workbench.scoring.validation import Validation
from likely.workbench.verdict.checks import (
    Evidence,
    best_threshold,
    evidence_in_run,
    far_in_words,
    important_columns,
    worse_means,
)
from likely.workbench.verdict.verdict import (
    FEWEST_ROWS,
    MISCALIBRATED,
    MISTAKEN,
    RULES,
    UNEXPLAINED,
    better_metrics,
    verdict_on,
    worse_metrics,
)

DOCS = Path(__file__).parents[3] / "docs" / "verdict.rst"


def numbers(*, n=400, shift=None, spread=1.0, kind="real", seed=0):
    """Held-out rows of a good model of numbers; ``shift`` is added to its predicted means."""
    rng = np.random.default_rng(seed)
    mean = 10 + rng.normal(0, 2, n)
    y = mean + rng.normal(size=n)
    said = mean if shift is None else mean + shift
    log_density = -np.square((y - said) / spread) / 2 - np.log(spread) - 0.919
    truth = Truth(y, kind=kind)
    prediction = Prediction.of_numbers(said, log_density)
    return held(truth, prediction, pit=np.random.default_rng(1).uniform(size=n))


def classes(*, n=600, factor=1.0, seed=0):
    """Held-out rows of two classes, with log-odds that are ``factor`` times the true ones."""
    rng = np.random.default_rng(seed)
    eta = rng.normal(0, 2, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(np.int64)
    log_p = -np.logaddexp(0, np.stack([factor * eta, -factor * eta], axis=1))
    return held(Truth(y, None, ("no", "yes"), "binary"), Prediction.of_classes(log_p))


def held(truth, prediction, **more):
    constant = constant_prediction(truth, truth)
    score = score_of(metrics_for(truth.kind), truth, prediction, constant)
    n = len(truth.y)
    return Validation(
        truth.kind,
        "y",
        truth,
        prediction,
        row=np.arange(n),
        fold=np.arange(n) % 5,
        score=replace(score, folds=5),
        gain=prediction.gain_over(constant, truth),
        **more,
    )


def of_held(found, **more):
    return Evidence(found.score, held=found, **more)


def judged(evidence):
    """The names of the rules that object."""
    return [each.rule for each in verdict_on(evidence).objections]


def gained(value, low, high, **measures):
    """Evidence of a gain, with estimates of metrics by name."""
    estimates = {"log-likelihood": Estimate(-2.0, -2.7, -1.3, -2.5), **measures}
    return Evidence(Score(estimates, Estimate(value, low, high, 0.0), 100))


def final(score, **changes):
    known = {
        "metric": "log-loss",
        "estimate": score.main,
        "level": 0.95,
        "n_rows": score.n_rows,
        "evaluation": 1,
        "budget": 1,
        "judge": "plain",
        "gain": score.gain,
        "measures": score.estimates,
    }
    return FinalScore(**{**known, **changes})


@pytest.mark.parametrize("found", [numbers(), classes()], ids=["numbers", "classes"])
def test_a_good_model_is_green_and_no_rule_objects(found):
    verdict = verdict_on(of_held(found))
    assert verdict.objections == ()
    assert verdict.severity == "good"
    assert verdict.reasons == ()
    assert "clearly better than the baseline: the gain over the baseline" in verdict.conclusion


def test_worse_a_negative_gain_stops():
    verdict = verdict_on(gained(-1.0, -1.5, -0.5, r2=Estimate(0.16, 0.12, 0.19, 0.0)))
    assert verdict.severity == "stop"
    assert [each.rule for each in verdict.objections] == ["worse"]
    assert "seems to contradict R² 0.160 (0.120 to 0.190), which is better" in verdict.doubts[0]


def test_no_gain_an_interval_with_0_warns_and_names_metrics_that_gain():
    """Never that nothing was learned beside R² 0.156."""
    plain = verdict_on(gained(0.1, -0.1, 0.3))
    assert (plain.severity, judged(gained(0.1, -0.1, 0.3))) == ("warn", ["no-gain"])
    assert "By other metrics" not in plain.doubts[0]
    other = verdict_on(gained(0.1, -0.1, 0.3, r2=Estimate(0.156, 0.12, 0.19, 0.0)))
    assert "R² 0.156" in other.doubts[0]


def test_other_metrics_that_are_worse_than_their_baseline_are_said():
    """A gain in log-likelihood beside R² −4.5e12."""
    bad = {"r2": Estimate(-4.5e12, -9e12, -1e11, 0.0), "rmse": Estimate(9e9, 8e9, 1e10, 4e3)}
    verdict = verdict_on(gained(0.5, 0.4, 0.6, **bad))
    assert [each.rule for each in verdict.objections] == ["other-metrics"]
    assert "By 2 other metrics it is clearly worse than the baseline: R²" in verdict.doubts[0]
    assert "but not everything agrees" in verdict.conclusion
    assert verdict.reasons == verdict.objections
    infinite = {"poisson-deviance": Estimate(np.inf, -np.inf, np.inf, 3.0)}
    assert judged(gained(0.5, 0.4, 0.6, **infinite)) == ["other-metrics"]
    assert judged(gained(0.5, 0.4, 0.6, r2=Estimate(-0.1, -0.3, 0.1, 0.0))) == []


def test_range_predictions_far_outside_the_observed_one_are_said():
    """Diamonds: prices up to 915,264, where the largest is 18,823."""
    shift = np.zeros(400)
    shift[7] = 900.0
    found = numbers()
    far = replace(found, prediction=replace(found.prediction, mean=found.prediction.mean + shift))
    assert judged(of_held(far)) == ["range"]
    assert "1 prediction of 400 is far outside" in verdict_on(of_held(far)).doubts[0]


def test_impossible_values_that_had_probability_0_are_said():
    found = classes()
    log_p = found.prediction.log_p.copy()
    log_p[3, found.truth.y[3]] = -np.inf
    worse = replace(found, prediction=Prediction.of_classes(log_p))
    assert "impossible" in judged(of_held(worse))
    sealed = Evidence(found.score, final(found.score, n_impossible=2))
    assert judged(sealed) == ["impossible"]


def test_leak_a_suspect_among_the_features_is_said():
    leak = [{"code": "LK401", "columns": ["paid"], "text": ""}, {"code": "LK102", "columns": ["x"]}]
    found = classes()
    assert judged(of_held(found, findings=leak)) == ["leak"]
    assert judged(of_held(found, findings=leak, features=frozenset({"paid"}))) == ["leak"]
    assert judged(of_held(found, findings=leak, features=frozenset({"age"}))) == []


def test_leak_and_what_it_says_stands_in_the_conclusion():
    leak = [{"code": "LK401", "columns": ["paid"], "text": ""}]
    made = [{"code": "LK404", "columns": ["a", "b"], "text": "y is a + b."}]
    verdict = verdict_on(of_held(classes(), findings=[*leak, *made]))
    assert not verdict.better
    assert verdict.reasons == ()
    assert "clearly better" not in verdict.conclusion
    assert "'paid' is suspiciously close" in verdict.conclusion
    assert "LK404: y is a + b." in verdict.conclusion
    some = frozenset({"a"})
    assert judged(of_held(classes(), findings=made, features=some)) == []


def test_alone_a_column_that_is_nearly_enough_is_named_and_the_verdict_stays_good():
    found = [{"code": "LK405", "columns": ["fee"], "text": ""}]
    verdict = verdict_on(of_held(classes(), findings=found))
    assert (verdict.severity, verdict.better) == ("good", True)
    assert [each.rule for each in verdict.reasons] == ["alone"]
    assert "'fee' predicts the target nearly alone (LK405): check that it is known" in str(verdict)
    both = [*found, {"code": "LK405", "columns": ["fee", "tax"], "text": ""}]
    said = verdict_on(of_held(classes(), findings=both)).doubts[0]
    assert "'fee', 'tax' each predict the target nearly alone (LK405): check that they are" in said
    assert judged(of_held(classes(), findings=found, features=frozenset({"age"}))) == []


@pytest.mark.parametrize("code", ["LK205", "LK206"])
def test_copies_that_folds_cannot_keep_together_leave_it_open_which_model_is_better(code):
    found = [{"code": code, "columns": [], "sentence": "Rows are alike."}]
    wide = replace(numbers(), pit=0.3 + 0.4 * np.random.default_rng(0).uniform(size=400))
    verdict = verdict_on(of_held(wide, findings=found))
    assert [each.rule for each in verdict.objections] == ["copies", "quantiles"]
    assert [each.rule for each in verdict.reasons] == ["quantiles"]
    assert not verdict.better
    assert verdict.to_json()["better_than_baseline"] is False
    assert f"but: {code}: Rows are alike." in verdict.conclusion
    other = gained(0.1, -0.1, 0.3, r2=Estimate(0.156, 0.12, 0.19, 0.0))
    assert "clearly better:" not in verdict_on(replace(other, findings=found)).conclusion


def test_together_near_copies_that_folds_keep_so_are_said_and_do_not_forbid_a_verdict():
    found = [{"code": "LK205", "columns": [], "severity": "note", "text": "Rows are alike."}]
    verdict = verdict_on(of_held(numbers(), findings=found))
    assert (verdict.better, verdict.severity) == (True, "good")
    assert verdict.objections == (("together", "note", "LK205: Rows are alike."),)


def test_probabilities_that_are_too_certain_are_said():
    assert "probabilities" in judged(of_held(classes(n=2000, factor=3.0)))


def test_quantiles_of_intervals_that_are_too_narrow_wide_or_shifted_are_said():
    u = np.random.default_rng(0).uniform(size=400)
    narrow = of_held(replace(numbers(), pit=np.where(u < 0.5, u / 3, 1 - (1 - u) / 3)))
    wide = of_held(replace(numbers(), pit=0.3 + 0.4 * u))
    shifted = of_held(replace(numbers(), pit=u**2.0))
    assert judged(narrow) == judged(wide) == judged(shifted) == ["quantiles"]
    assert "too narrow" in verdict_on(narrow).doubts[0]
    assert "too wide" in verdict_on(wide).doubts[0]
    assert "below their predicted median" in verdict_on(shifted).doubts[0]


def test_quantiles_of_few_rows_are_given_the_benefit_of_chance():
    pit = np.random.default_rng(3).uniform(size=25)
    assert judged(of_held(replace(numbers(), pit=pit))) == []


def test_folds_in_which_the_model_is_worse_than_the_baseline_are_said():
    found = numbers()
    gain = np.where(found.fold == 2, found.gain - found.gain[found.fold == 2].mean() - 2.0, 1.0)
    gain = gain + 0.1 * np.random.default_rng(0).normal(size=400)
    evidence = of_held(replace(found, gain=gain))
    assert judged(evidence) == ["folds"]
    assert "In fold 3 of 5 the model is clearly worse" in verdict_on(evidence).doubts[0]


def copied(found, times=4):
    """The same rows several times, with the first of each as its group."""
    n = len(found.row)
    index = np.tile(np.arange(n), times)
    score = replace(found.score, n_groups=n, n_rows=times * n)
    return replace(
        found,
        truth=found.truth.rows(index),
        prediction=found.prediction.rows(index),
        row=np.arange(times * n),
        fold=found.fold[index],
        gain=found.gain[index],
        score=score,
        groups=index,
    )


def test_paired_differences_of_copies_are_those_of_the_different_rows():
    for found in (numbers(), classes()):
        alone, several = paired_differences(found), paired_differences(copied(found))
        assert alone.keys() == several.keys() != set()
        for name, ends in alone.items():
            np.testing.assert_allclose(several[name], ends, rtol=1e-6)
        assert paired_differences(replace(copied(found), groups=None)) == {}


def test_folds_of_copies_that_are_worse_are_said_and_copies_do_not_make_them_so():
    found = numbers()
    gain = 1.0 + 0.1 * np.random.default_rng(0).normal(size=400)
    bad = replace(found, gain=np.where(found.fold == 2, -gain, gain))
    assert judged(of_held(copied(bad))) == ["folds"]
    assert judged(of_held(replace(copied(bad), groups=None))) == []
    grouped = copied(bad)
    grouped = replace(grouped, score=replace(grouped.score, group="shop"))
    assert judged(of_held(grouped)) == []
    few = np.random.default_rng(2).normal(-0.2, 1.0, 400)
    unclear = replace(found, gain=np.where(found.fold == 2, few, gain))
    assert judged(of_held(unclear)) == judged(of_held(copied(unclear))) == []


def test_sealed_rows_that_are_harder_than_held_out_ones_are_said():
    score = classes().score
    harder = Estimate(0.60, 0.56, 0.64, 0.69)
    measures = {**score.estimates, "log-loss": harder}
    worse = final(score, estimate=harder, measures=measures)
    assert judged(Evidence(score, worse)) == ["sealed"]
    near = Estimate(score.main.value + 0.05, score.main.low - 0.1, score.main.high + 0.15, 0.69)
    assert judged(Evidence(score, final(score, estimate=near))) == []


def test_a_score_of_an_earlier_model_has_no_verdict():
    score = classes().score
    assert verdict_on(Evidence(score, final(score, of_this_model=False))) is None
    assert verdict_on(Evidence()) is None


def comparison_with(gain, low, *, closer=("glm-poisson",)):
    gains = {"glm-poisson": Estimate(gain, low, 2 * gain - low, 0.0)}
    found = Reference(gains, 400, closer=closer)
    return {"reference": replace(found, columns=("hr", "work"), pairs=(("hr", "work"),)).to_json()}


def test_reference_a_boosted_gain_that_is_clear_and_worth_it_warns_and_names_columns():
    of_run = {"model": "glm-poisson", "scores": numbers().score.to_json()}
    seen = evidence_in_run(of_run, comparisons=[comparison_with(0.3, 0.2)])
    assert "reference" in judged(seen)
    assert "'hr', 'work' carry it (also as a product: hr × work)" in seen.missed
    assert verdict_on(seen).severity == "warn"
    for silent in (comparison_with(0.3, -0.1), comparison_with(0.04, 0.03), {"reference": None}):
        assert not evidence_in_run(of_run, comparisons=[silent]).missed
    assert not evidence_in_run(of_run, comparisons=[comparison_with(0.3, 0.2, closer=())]).missed
    other = {**of_run, "model": "linear"}
    assert not evidence_in_run(other, comparisons=[comparison_with(0.3, 0.2)]).missed


def tried(p=0.01, *, value=0.2, better="lower"):
    """A record of two models, of which ``second`` has this p against the best."""
    against = None if p is None else {"p": p}
    models = [
        {"model": "first", "value": 0.1, "against_best": None},
        {"model": "second", "value": value, "against_best": against},
    ]
    return {"metric": "log-loss", "better": better, "best": "first", "models": models}


def test_surpassed_a_model_that_was_clearly_better_on_the_same_folds_is_named():
    run = {"model": "second"}
    seen = evidence_in_run(run, comparisons=[tried()])
    assert seen.surpassed == (
        "In the comparison on these rows first was clearly better than second, with default "
        "settings: log loss 0.1 after 0.2 (p = 0.010)."
    )
    others = [{"models": [{"model": "third"}], "best": "third"}]
    assert evidence_in_run(run, comparisons=[tried(), *others]).surpassed, "the newest with it"
    for silent in ([tried(0.06)], [tried(None)], [tried(), tried(0.5)], others, []):
        assert not evidence_in_run(run, comparisons=silent).surpassed
    assert not evidence_in_run({"model": "first"}, comparisons=[tried()]).surpassed


@pytest.mark.parametrize(
    ("own", "better", "said"),
    [
        (0.3, "lower", True),
        (0.1, "lower", False),
        (0.05, "lower", False),
        (0.3, "higher", False),
        (0.05, "higher", True),
    ],
)
def test_surpassed_says_nothing_of_a_run_that_is_as_good_with_other_settings(own, better, said):
    score = Score({"log-loss": Estimate(own, own, own, 1.0)}, Estimate(0.1, 0.0, 0.2, 0.0), 100)
    run = {"model": "second", "scores": score.to_json()}
    seen = evidence_in_run(run, comparisons=[tried(better=better)])
    assert bool(seen.surpassed) is said


def test_other_metrics_an_infinite_deviance_of_means_that_are_clearly_better_is_no_reason():
    """A Gaussian of counts has means below 0, where a Poisson deviance does not exist."""
    endless = Estimate(np.inf, np.nan, np.nan, 2.0)
    good, bad = Estimate(0.9, 0.85, 0.95, 0.0), Estimate(-0.9, -3.0, 1.0, 0.0)
    assert worse_metrics({"poisson-deviance": endless, "r2": good}) == []
    assert worse_metrics({"poisson-deviance": endless, "r2": bad}) == ["poisson-deviance"]


def test_every_rule_has_a_test():
    names = " ".join(name for name in globals() if name.startswith("test_"))
    for rule in RULES:
        assert f"test_{rule.replace('-', '_')}_" in names, rule


def test_the_docs_have_the_rules_of_the_code():
    rows = []
    for line in DOCS.read_text().partition("*stop*")[0].splitlines():
        text = line.strip()
        if text.startswith("* - ``"):
            rows.append([text.removeprefix("* - ").strip("`")])
        elif text.startswith("- ") and rows:
            rows[-1].append(text.removeprefix("- "))
    assert rows == [[name, rule.severity, rule.when] for name, rule in RULES.items()]


def test_a_better_metric_must_exceed_the_noise_of_its_baseline_too():
    """An interval that excludes a baseline number says little if that number is as uncertain."""
    barely = gained(0.01, -0.02, 0.04, r2=Estimate(0.1, 0.01, 0.19, 0.0))
    assert "By other metrics" not in verdict_on(barely).doubts[0]
    around = gained(0.01, -0.02, 0.04, r2=Estimate(0.1, -0.01, 0.21, -0.5))
    assert "By other metrics" not in verdict_on(around).doubts[0]
    clear = gained(0.01, -0.02, 0.04, r2=Estimate(0.5, 0.3, 0.7, -0.01))
    assert "By other metrics" in verdict_on(clear).doubts[0]
    for n_rows in (FEWEST_ROWS - 1, FEWEST_ROWS):
        few = replace(clear, score=replace(clear.score, n_rows=n_rows))
        assert ("By other metrics" in verdict_on(few).doubts[0]) == (n_rows == FEWEST_ROWS)


def test_a_worse_likelihood_with_a_better_mean_is_explained():
    counts = {
        "poisson-deviance": Estimate(2.0, 1.8, 2.2, 4.0),
        "poisson-deviance-explained": Estimate(0.5, 0.4, 0.6, 0.0),
    }
    text = verdict_on(gained(-0.5, -0.8, -0.2, **counts)).doubts[0]
    assert "seems to contradict" in text
    assert "overdispersion" in text
    assert "By other metrics" not in text


def test_one_row_that_alone_makes_a_model_bad_is_named():
    """Diamonds: a row with lengths of 0 costs 5,925 nats per row on average."""
    found = numbers()
    density = found.prediction.log_density.copy()
    density[7] -= 40_000
    prediction = replace(found.prediction, log_density=density)
    surprising = ({"row": 7, "cells": {}, "unusual": {"x": 0.0, "z": 0}},)
    bad = replace(
        held(found.truth, prediction, pit=found.pit), surprising=surprising, row=found.row
    )
    verdict = verdict_on(of_held(bad))
    assert "one-row" in [each.rule for each in verdict.objections]
    (text,) = (each.text for each in verdict.objections if each.rule == "one-row")
    assert text.startswith("One row carries 99.9 % of what the model loses to the baseline: row 7")
    assert "(x = 0, z = 0). Without it, the mean gain per row would be 0." in text
    assert text.endswith("Check whether its values are possible.")
    two = density.copy()
    two[9] -= 40_000
    bad = held(found.truth, replace(found.prediction, log_density=two), pit=found.pit)
    said = " ".join(verdict_on(of_held(bad)).doubts)
    assert "2 rows carry" in said and "whether their values are possible" in said
    everywhere = held(found.truth, replace(found.prediction, log_density=density - 90))
    assert "one-row" not in judged(of_held(everywhere))


def test_computed_an_almost_perfect_fit_is_suspicious_and_its_columns_are_named():
    """Caschool: the target is the mean of two columns."""
    exact = gained(5.0, 4.9, 5.1, r2=Estimate(0.99999, 0.99995, 1.0, 0.0))
    assert judged(exact) == ["computed"]
    named = verdict_on(replace(exact, important=("read", "math")))
    assert "'read', 'math' have the largest effects" in named.doubts[0]
    assert "target may be computed from these columns" in named.doubts[0]
    assert judged(gained(3.0, 2.9, 3.1, r2=Estimate(0.9995, 0.999, 0.9999, 0.0))) == []
    classes_found = {
        "log-loss": Estimate(1e-5, 1e-6, 0.03, 0.6),
        "accuracy": Estimate(1.0, 0.99, 1.0, 0.6),
    }
    perfect = Score(classes_found, Estimate(0.6, 0.55, 0.65, 0.0), 300)
    assert judged(Evidence(perfect)) == ["computed"]
    penguins = {
        "log-loss": Estimate(0.007, 0.001, 0.05, 1.05),
        "accuracy": Estimate(1.0, 0.989, 1.0, 0.44),
    }
    assert judged(Evidence(Score(penguins, Estimate(1.04, 1.0, 1.07, 0.0), 344))) == []
    many = {"accuracy": Estimate(1.0, 0.9999, 1.0, 0.6), "log-loss": Estimate(0.01, 0, 0.01, 0.6)}
    assert judged(Evidence(Score(many, Estimate(0.6, 0.5, 0.65, 0.0), 50_000))) == ["computed"]


def test_threshold_a_rare_class_that_is_never_predicted_is_a_hint_only():
    rng = np.random.default_rng(0)
    eta = rng.normal(-3, 0.8, 2000)
    y = (rng.random(2000) < 1 / (1 + np.exp(-eta))).astype(np.int64)
    log_p = -np.logaddexp(0, np.stack([eta, -eta], axis=1))
    for labels, order in ((("no", "yes"), [0, 1]), (("a yes", "b no"), [1, 0])):
        codes = np.array(order)[y]
        truth = Truth(codes, None, labels, "binary")
        found = held(truth, Prediction.of_classes(np.minimum(log_p[:, order], 0)))
        if (found.prediction.predicted == order[1]).any():
            rows = np.flatnonzero(found.prediction.predicted != order[1])
            found = held(truth.rows(rows), found.prediction.rows(rows))
        verdict = verdict_on(of_held(found))
        assert [each.rule for each in verdict.objections] == ["threshold"]
        assert verdict.severity == "good"
        assert "not everything agrees" not in verdict.conclusion
        (hint,) = verdict.doubts
        assert f"{labels[order[1]]!r} (" in hint
        value = float(hint.split("--threshold ")[1].split(":")[0])
        picked = (np.exp(found.prediction.log_p[:, 1]) >= value) == (order[1] == 1)
        rare = found.truth.y == order[1]
        assert picked[rare].mean() > picked[~rare].mean()
        assert f"finds {percent(picked[rare].mean())} of them" in hint
    assert "threshold" not in judged(of_held(classes()))


def test_other_metrics_are_compared_row_by_row_where_rows_are_known():
    """Large errors are shared by model and constant: only their difference counts."""
    rng = np.random.default_rng(0)
    signal = rng.normal(0, 1.5, 400)
    y = signal + rng.laplace(0, 5, 400)
    prediction = Prediction.of_numbers(signal, np.full(400, -9.0))  # a density that is far too low
    found = held(Truth(y, kind="real"), prediction)
    paired = paired_differences(found)
    constant = np.array([y[found.fold != k].mean() for k in found.fold])
    d = np.square(y - constant) - np.square(y - signal)
    low, high = ttest_1samp(d, 0).confidence_interval()
    assert paired["rmse"] == pytest.approx((low, high), rel=1e-6)
    middle = np.array([np.median(y[found.fold != k]) for k in found.fold])
    of_medians = ttest_1samp(np.abs(y - middle) - np.abs(y - signal), 0).confidence_interval()
    assert paired["mae"] == pytest.approx(tuple(of_medians), rel=1e-6)
    assert low > 0
    assert "r2" not in better_metrics(found.score.estimates, 400)
    (text,) = (each.text for each in verdict_on(of_held(found)).objections if each.rule == "worse")
    assert "R²" in text
    grouped = replace(found, score=replace(found.score, n_groups=20))
    assert paired_differences(grouped) == {}


def test_other_metrics_of_classes_are_compared_row_by_row():
    found = classes(factor=0.5)
    share = np.array(
        [[np.mean(found.truth.y[found.fold != k] == c) for c in (0, 1)] for k in range(5)]
    )
    constant = share[found.fold]
    own = np.eye(2)[found.truth.y]
    p = np.exp(found.prediction.log_p)
    d = np.square(constant - own).sum(axis=1) - np.square(p - own).sum(axis=1)
    expected = ttest_1samp(d, 0).confidence_interval()
    assert paired_differences(found)["brier"] == pytest.approx(tuple(expected), rel=1e-6)
    right = (p.argmax(axis=1) == found.truth.y) * 1.0 - (constant.argmax(axis=1) == found.truth.y)
    expected = ttest_1samp(right, 0).confidence_interval()
    assert paired_differences(found)["accuracy"] == pytest.approx(tuple(expected), rel=1e-6)


def test_one_row_among_sealed_ones_is_counted_by_the_interval_and_not_shown():
    """Diamonds: the row with lengths of 0 is sealed; mean −5,925, interval −28,266 to 5,703."""
    found = numbers()
    zeros = [{"code": "LK117", "columns": ["x", "y"]}]
    saved = np.random.default_rng(0).normal(1, 0.5, 1200)
    saved[5] -= 7e6
    half = 1.96 * saved.std() / np.sqrt(1200)
    gain = Estimate(saved.mean(), saved.mean() - 4 * half, saved.mean() + half, 0.0)
    bad = final(replace(found.score, gain=gain, n_rows=1200))
    verdict = verdict_on(Evidence(found.score, bad, found, findings=zeros))
    (text,) = (each.text for each in verdict.objections if each.rule == "one-row")
    assert text.startswith("About one of 1,200 sealed rows carries nearly all of the loss")
    assert "zeros in 'x', 'y'" in text
    usual = final(replace(found.score, gain=Estimate(-0.2, -0.6, 0.2, 0.0)))
    assert "one-row" not in judged(Evidence(found.score, usual, found))


def test_two_rows_among_sealed_ones_are_counted_whatever_they_lose():
    found = numbers()
    for loss in (7e6, 7e4):
        saved = np.random.default_rng(0).normal(1, 0.5, 1200)
        saved[[5, 9]] -= loss
        half = 1.96 * saved.std() / np.sqrt(1200)
        gain = Estimate(saved.mean(), saved.mean() - 4 * half, saved.mean() + half, 0.0)
        bad = final(replace(found.score, gain=gain, n_rows=1200))
        verdict = verdict_on(Evidence(found.score, bad, found))
        (text,) = (each.text for each in verdict.objections if each.rule == "one-row")
        assert text.startswith("About 2 of 1,200 sealed rows carry nearly all of the loss")
    for n_rows, said in ((3.2, ["one-row"]), (4.0, [])):
        half = 1.96 * 50 / np.sqrt(n_rows)
        bad = final(replace(found.score, gain=Estimate(-50.0, -99.0, half - 50, 0.0)))
        rules = judged(Evidence(found.score, bad, found))
        assert [rule for rule in rules if rule == "one-row"] == said


def test_one_of_several_metrics_and_models_must_be_further_from_the_baseline():
    """z = 2.2 of one metric is clear; of five, or of one metric of five models, it is chance."""
    names = ("accuracy", "auc", "average-precision", "balanced-accuracy", "kappa")
    found = {name: Estimate(0.61, 0.61 - 0.098, 0.61 + 0.098, 0.5) for name in names}
    one = {"auc": found["auc"]}
    assert better_metrics(one, 200) == ["auc"]
    assert better_metrics(found, 200) == []
    assert better_metrics(one, 200, n_models=5) == []
    far = {name: Estimate(0.7, 0.602, 0.798, 0.5) for name in names}
    assert better_metrics(far, 200, n_models=5) == ["auc", "balanced-accuracy", "kappa"]
    drawn = {name: Estimate(0.5, 0.45, 0.55, 0.3333) for name in ("f1", "macro-f1")}
    assert better_metrics(drawn, 200) == []  # what classes drawn at random have
    ends = {"accuracy": (0.01, 0.2)}
    assert better_metrics({"accuracy": found["accuracy"]}, 200, ends) == ["accuracy"]
    assert better_metrics(found, 200, ends) == []
    assert better_metrics(found, 200, {"accuracy": (0.05, 0.2)}) == ["accuracy"]


def test_bounds_of_the_rules_are_not_beyond_them():
    """R² exactly 1 − UNEXPLAINED, a calibration error of 0.02, two folds, quantiles of 0.5."""
    for low, expected in ((MISCALIBRATED, []), (MISCALIBRATED + 1e-9, ["probabilities"])):
        error = Estimate(0.03, low, 0.04, 0.0)
        assert judged(gained(5.0, 4.9, 5.1, **{"calibration-error": error})) == expected
    exact = gained(5.0, 4.9, 5.1, r2=Estimate(0.99999, 0.99995, 1.0, 0.0))
    for n_rows, expected in ((FEWEST_ROWS - 1, []), (FEWEST_ROWS, ["computed"])):
        assert judged(replace(exact, score=replace(exact.score, n_rows=n_rows))) == expected
    edge = gained(5.0, 4.9, 5.1, r2=Estimate(0.99999, 1 - UNEXPLAINED, 1.0, 0.0))
    assert judged(edge) == []
    found = numbers()
    two = replace(found, fold=found.fold % 2)
    assert paired_differences(two).keys() == paired_differences(found).keys() != set()
    assert paired_differences(replace(found, fold=np.zeros(400, int))) == {}
    middle = np.sort(np.random.default_rng(0).uniform(size=400))
    middle[100:300] = 0.5
    middle[300:] = 0.95
    (text,) = verdict_on(of_held(replace(found, pit=middle))).doubts
    assert text.startswith(
        "The predicted quantiles are not calibrated: 75.0 % of the held-out values"
    )


def test_computed_a_log_loss_is_measured_by_that_of_the_baseline():
    for value, expected in ((0.5 * UNEXPLAINED * 0.3, ["computed"]), (UNEXPLAINED, [])):
        measures = {"log-loss": Estimate(value, 0.0, 0.03, 0.3)}
        assert judged(Evidence(Score(measures, Estimate(0.3, 0.2, 0.4, 0.0), 300))) == expected


def test_computed_mistakes_are_measured_by_those_of_the_baseline():
    """Nine in ten rows are of one class; a mistake in 200 is a twentieth of its mistakes."""
    beyond, below = 1 - 1.5 * MISTAKEN * 0.1, 1 - 0.5 * MISTAKEN * 0.1
    for low, expected in ((0.995, []), (beyond, []), (below, ["computed"])):
        measures = {"accuracy": Estimate(1.0, low, 1.0, 0.9)}
        found = judged(Evidence(Score(measures, Estimate(0.3, 0.2, 0.4, 0.0), 300)))
        assert found == expected


def test_a_metric_that_is_better_when_low_must_exceed_the_noise_of_its_baseline_too():
    def judged_better(low, high):
        brier = {"brier": Estimate(0.4, low, high, 0.5)}
        return "By other metrics" in verdict_on(gained(0.01, -0.02, 0.04, **brier)).doubts[0]

    assert judged_better(0.35, 0.45)
    assert not judged_better(0.31, 0.49)  # √2 · 0.09 is more than the distance 0.1
    assert judged_better(0.2, 0.45)  # only the end on the side of the baseline counts


def test_one_row_carries_its_share_of_the_loss_by_weight():
    gain = np.full(100, 1.0)
    gain[3], gain[7] = -1000.0, -1.0
    weight = np.ones(100)
    weight[7] = 40.0
    found = lone_rows(gain, weight, np.arange(100))
    assert found.rows == (3,)
    assert found.share == pytest.approx(1000 / 1040, rel=1e-12)
    assert found.without == pytest.approx((98 - 40) / 138, rel=1e-12)


def test_three_rows_of_twenty_carry_a_loss_that_the_others_do_not_have():
    gain = 1 + 0.01 * np.arange(20.0)
    gain[[2, 5, 7]] = -90.0, -80.0, -70.0
    assert lone_rows(gain, np.ones(20), np.arange(20)).rows == (2, 5, 7)


def test_columns_with_large_effects_are_named_unless_they_were_shuffled_together():
    increase = np.array([2.0, 0.3, 0.1, 1.9])
    names = ("a", "b", "c", "d + e")
    found = SimpleNamespace(names=names, increase=increase, together=(("d", "e"),))
    assert important_columns(SimpleNamespace(importance=found)) == ("a", "b")
    found.increase = np.zeros(4)
    assert important_columns(SimpleNamespace(importance=found)) == ()


def test_the_threshold_of_a_rare_class_has_the_largest_f1_and_its_recall_and_precision():
    from sklearn.metrics import f1_score, precision_score, recall_score

    rng = np.random.default_rng(4)
    p = np.round(rng.beta(1, 6, 500), 2).clip(0.01, 0.49)
    truth = Truth(rng.binomial(1, p), rng.integers(1, 4, 500) * 1.0, ("no", "yes"), "binary")
    found = held(truth, Prediction.of_classes(np.log(np.stack([1 - p, p], axis=1))))
    value, recall, precision = best_threshold(found, 1)
    weight = truth.weights
    tried = {v: f1_score(truth.y, p > v - 1e-9, sample_weight=weight) for v in np.unique(p)}
    assert value == max(tried, key=tried.get)
    picked = p > value - 1e-9
    assert recall == pytest.approx(recall_score(truth.y, picked, sample_weight=weight))
    assert precision == pytest.approx(precision_score(truth.y, picked, sample_weight=weight))


def test_quantiles_are_compared_with_uniform_ones_from_both_sides():
    """Kolmogorov's distance of 20 rows, 0.4: with steps of 1/20 it is 0.35 from one side only."""
    low = np.arange(20) / 20  # the empirical distribution function jumps from here
    up, down = np.minimum(low + 0.4, 1.0), np.maximum(low + 0.05 - 0.4, 0.0)
    for pit in (up, down):
        assert judged(of_held(replace(numbers(n=20, spread=1e9), pit=pit)))[-1] == "quantiles"
        short = replace(numbers(n=20, spread=1e9), pit=0.25 * pit + 0.75 * (low + 0.025))
        assert "quantiles" not in judged(of_held(short))


def test_a_baseline_that_is_not_the_constant_is_named():
    found = gained(0.1, -0.1, 0.3)
    assert "not clearly better than the baseline: " in verdict_on(found).doubts[0]
    other = replace(found, score=replace(found.score, baseline="moving average"))
    assert "better than the baseline (moving average): " in verdict_on(other).doubts[0]


def test_one_row_is_no_reason_where_sealed_rows_gain_nothing_and_lose_nothing():
    found = classes()
    even = final(found.score, gain=Estimate(0.0, -0.1, 0.1, 0.0))
    sure = replace(found, gain=np.abs(found.gain))
    assert "one-row" not in judged(Evidence(found.score, even, held=sure))


def test_folds_of_two_are_judged_and_one_without_any_gain_is_not_worse():
    found = numbers()
    fold = np.arange(400) % 2
    for gain, bad in ((-0.1, True), (0.0, False)):
        two = replace(found, fold=fold, gain=np.where(fold == 0, 5.0, gain))
        said = " ".join(verdict_on(of_held(two)).doubts)
        assert ("In fold 2 of 2 the model is clearly worse" in said) == bad


def test_a_model_that_is_the_constant_is_better_by_no_metric():
    same = {"auc": Estimate(0.5, 0.5, 0.5, 0.5), "r2": Estimate(0.0, 0.0, 0.0, 0.0)}
    assert better_metrics(same, 200) == worse_metrics(same) == []
    assert better_metrics(same, 200, {"auc": (0.0, 0.0)}) == []


def test_sealed_rows_that_are_as_hard_as_held_out_ones_are_no_reason():
    sure = Estimate(0.3, 0.3, 0.3, 0.69)
    score = Score({"log-loss": sure}, Estimate(0.39, 0.3, 0.4, 0.0), 100)
    assert judged(Evidence(score, final(score))) == []
    harder = final(score, estimate=sure._replace(value=0.31, low=0.31, high=0.31))
    assert judged(Evidence(score, harder)) == ["sealed"]


def test_leak_of_a_column_that_is_the_only_one_of_the_model_is_said():
    made = [{"code": "LK404", "columns": ["a"], "text": "y is a."}]
    for features, expected in (({"a"}, ["leak"]), ({"a", "b"}, ["leak"]), ({"b"}, [])):
        found = of_held(classes(), findings=made, features=frozenset(features))
        assert judged(found) == expected


def test_range_a_constant_that_is_predicted_exactly_is_not_far_from_its_range():
    y = np.full(30, 3.0)
    assert far_in_words(y, y) == ""
    assert "1 prediction of 30 is far" in far_in_words(y, y + np.eye(30)[4] / 8)


def predicted_means(y, mean, constant, kind="real"):
    """The held-out rows of a model of numbers, as far as their means are judged."""
    return SimpleNamespace(
        task=SimpleNamespace(has_classes=False),
        is_constant=False,
        truth=Truth(y, kind=kind),
        prediction=Prediction.of_numbers(mean),
        constant=Prediction.of_numbers(np.full(len(y), constant)),
        groups=None,
    )


def test_means_that_are_clearly_worse_are_named_by_each_measure():
    y = np.linspace(-1, 1, 400) + 100
    wrong = y + np.where(np.arange(400) % 2, 3.0, -2.0)
    assert worse_means(predicted_means(y, wrong, 100.0)) == (
        f"R² {1 - np.square(y - wrong).sum() / np.square(y - 100).sum():.2f}",
        "mean absolute error 2.5 against 0.5013",
        "100 predictions of 400 are far outside the observed range 99 to 101: up to 104",
    )


def test_means_are_not_worse_for_a_loss_that_is_hardly_larger():
    """Every row loses hardly more than the constant: clearly, and by enough to say it or not."""
    y = 100 + np.where(np.arange(400) % 2, 10.0, -10.0)
    for share, measures in ((1.003, 0), (1.015, 2)):
        away = y + share * np.where(np.arange(400) % 2, 10.0, -10.0)
        assert len(worse_means(predicted_means(y, away, 100.0))) == measures


def test_a_few_far_means_are_no_reason_where_the_squared_error_is_that_of_the_constant():
    rng = np.random.default_rng(0)
    y = rng.uniform(size=400)
    for part, expected in ((1.0, 0), (1.02, 2)):
        mean = y.copy()
        mean[7] = y[7] + np.sqrt(part * np.square(y - y.mean()).sum())
        assert len(worse_means(predicted_means(y, mean, y.mean()))) == expected


def test_a_deviance_is_compared_where_all_means_are_above_0():
    """2 (y log(y/μ) − y + μ) on average, of counts with a mean of 3."""
    y = np.repeat([1.0, 2.0, 6.0], 50)
    mean = np.repeat([6.0, 6.0, 2.0], 50)
    ours, theirs = (2 * np.mean(y * np.log(y / each) - y + each) for each in (mean, 3.0))
    said = worse_means(predicted_means(y, mean, 3.0, "count"))
    assert said[-1] == f"Poisson deviance per row {ours:.3f} against {theirs:.1f}"
    mean[0] = 0.0
    assert not any(
        "deviance" in each for each in worse_means(predicted_means(y, mean, 3.0, "count"))
    )
