"""The section of curves: all of them, in order, with bands, and with what the run has chosen."""

import re

import pytest

from likely.numerics.intervals import Estimate
from likely.output.description import Description
from likely.reports.sections.curves import curves
from likely.runs import RunFacts
from likely.workbench.comparison.records import joined_curves
from likely.workbench.curves.curves import CurvePoint

RUN = {"model": "logistic", "target": "y", "parameters": {"l2": 0.5, "link": "probit"}}


def curve(of, places, *, model="logistic", baseline=0.7, **more):
    train = Estimate(0.3, 0.2, 0.4, baseline)
    points = [
        CurvePoint(x, train, Estimate(0.5 + 0.01 * k, 0.4, 0.6, baseline)).to_json()
        for k, x in enumerate(places)
    ]
    about = {"data": "a.seal", "target": "y", "metric": "log-loss", "better": "lower", "folds": 3}
    return {**about, "model": model, "of": of, "points": points, **more}


def drawn(*found, n_iter=None):
    section = curves(
        RunFacts("run", RUN, curves=found, description=Description("model", n_iter=n_iter))
    )
    blocks = section.blocks[-1].blocks
    return [each for each in blocks if each.kind == "picture"]


def test_the_baseline_is_a_line():
    assert ">Baseline</text>" in drawn(curve("size", [10, 20]))[0].svg


def test_a_baseline_far_away_is_written_and_does_not_squeeze_the_curves():
    (picture,) = drawn(curve("size", [10, 20], baseline=30.0))
    assert ">Baseline 30.00, outside the axis</text>" in picture.svg
    places = [float(foot) for foot in re.findall(r">(\d\.\d+)</text>", picture.svg)]
    assert places and max(places) < 1


def test_every_curve_is_drawn_with_two_bands():
    pictures = drawn(curve("size", [10, 100]), curve("l2", [0.1, 1.0]), curve("iterations", [1, 2]))
    assert len(pictures) == 3
    for each in pictures:
        assert each.svg.count("FillBetweenPolyCollection") == 2
        assert "95 % intervals of the held-out rows of all 3 folds" in each.caption


def test_the_models_own_come_first_by_size_then_settings_then_iterations():
    pictures = drawn(
        curve("size", [10, 20], model="naive-bayes"),
        curve("iterations", [1, 2]),
        curve("l2", [0.1, 1.0]),
        curve("size", [10, 20]),
    )
    words = ("Learning curve of logistic", "Validation curve", "Score of logistic", "naive-bayes")
    for each, said in zip(pictures, words, strict=True):
        assert said in each.caption


@pytest.mark.parametrize(
    ("of", "places", "chosen"),
    [
        ("l2", [0.1, 1.0], "0.5"),  # between two points
        ("link", ["logit", "probit"], "probit"),
        ("iterations", [1, 2, 3], "3"),
    ],
)
def test_what_the_run_has_is_marked_beside_the_best(of, places, chosen):
    (picture,) = drawn(curve(of, places), n_iter=3)
    assert f"Chosen: {chosen}" in picture.label
    assert f"Best: {places[0]}" in picture.label  # scores rise, and lower is better
    assert re.search(rf">Chosen: {chosen}</text>", picture.svg)


def test_nothing_of_the_run_is_marked_on_the_curve_of_another_model():
    (picture,) = drawn(curve("iterations", [1, 2], model="softmax"), n_iter=2)
    assert "Chosen" not in picture.svg
    assert "Best: 1" in picture.label


def test_a_curve_with_the_settings_of_the_run_says_so():
    usual, own = drawn(curve("size", [10, 20]), curve("size", [10, 20], run="run"))
    assert "settings of this run" not in usual.caption
    assert "Learning curve of logistic, with the settings of this run." in own.caption


def test_more_rows_are_never_called_the_best():
    assert "Best" not in drawn(curve("size", [10, 20]))[0].svg


def test_steps_are_whole_and_large_numbers_have_no_power_of_ten():
    assert "1.5<" not in drawn(curve("iterations", [1, 2, 3]))[0].svg
    assert ">10,000</text>" in drawn(curve("l2", [0.01, 1.0, 20000.0]))[0].svg


def test_a_newer_curve_of_the_same_axis_takes_the_place_of_the_older():
    old, new = curve("l2", [1]), curve("l2", [2], data="elsewhere/a.seal")
    other, own = curve("size", [3]), curve("l2", [4], run="001-logistic")
    assert joined_curves((old, other, own), (new,)) == (new, other, own)


def test_powers_of_ten_along_a_wide_axis_are_few_and_have_commas():
    (picture,) = drawn(curve("l2", [10.0**k for k in range(-4, 6)]))
    feet = re.findall(r">([\d.,]+)</text>", picture.svg)
    powers = [
        each for each in feet if float(each.replace(",", "")) in {10.0**k for k in range(-6, 8)}
    ]
    assert 3 <= len(powers) <= 6
    assert "1000" not in powers


def test_a_choice_that_a_logarithmic_axis_has_not_is_told_in_words():
    run = {**RUN, "parameters": {"l2": 0.0}}
    section = curves(RunFacts("run", run, curves=(curve("l2", [0.001, 1.0, 1000.0]),)))
    picture = section.blocks[-1].blocks[0]
    assert picture.caption.endswith("Chosen: 0 is outside the axis.")
    assert "Chosen" not in picture.svg.partition(">")[2]
