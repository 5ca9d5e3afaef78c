"""How often a model is right, beside the most frequent class, before any log loss."""

import numpy as np
import pandas as pd
import pytest

import likely as lk
from likely.metrics.score import right_in_words
from likely.numerics.intervals import Estimate


@pytest.mark.parametrize(
    ("value", "baseline", "said"),
    [
        (0.72, 0.62, "right for 72 of 100 rows; always saying No is right for 62"),
        (0.7241, 0.7214, "right for 724 of 1,000 rows; always saying No is right for 721"),
        (0.9991, 0.62, "right for 999 of 1,000 rows; always saying No is right for 620"),
        (1.0, 0.4014, "right for 100 of 100 rows; always saying No is right for 40"),
        (0.6214, 0.6214, "right for 62 of 100 rows; always saying No is right for 62"),
    ],
)
def test_so_many_rows_are_named_that_both_shares_differ_and_no_mistake_is_rounded_away(
    value, baseline, said
):
    assert right_in_words(Estimate(value, value, value, baseline), "No") == said


def test_numbers_have_no_such_sentence_and_an_unknown_class_is_the_most_frequent_one():
    assert right_in_words(None) == ""
    assert right_in_words(Estimate(np.nan, 0, 1, 0.5)) == ""
    assert "always saying the most frequent class" in right_in_words(Estimate(0.7, 0, 1, 0.6))


def test_a_comparison_says_it_before_the_log_loss_with_weighted_rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    frame = pd.DataFrame({"x": x, "w": 1.0 + (x > 0)})
    frame["y"] = np.where(x + rng.normal(size=300) > 0.15, "yes", "no")
    found = lk.compare(frame, "y", ["logistic"], weight="w", folds=3, repeats=1)
    share = frame["w"][frame["y"] == "yes"].sum() / frame["w"].sum()
    assert share > 0.5 > (frame["y"] == "yes").mean(), "the weights decide"
    said = " ".join(str(found).split())
    accuracy = found["logistic"].others["accuracy"]
    sentence = f"The best model, logistic, is right for {100 * accuracy:.0f} of 100 rows; always"
    assert said.index(sentence) < said.index("log loss")
    assert f"always saying yes is right for {100 * share:.0f}." in said
