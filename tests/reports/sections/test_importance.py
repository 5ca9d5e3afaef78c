"""The section about importance and effects: what it shows, and what it says where there is none."""

from dataclasses import replace

import numpy as np
import pytest

from likely.explanations.effects import PartialEffect, PartialEffects
from likely.explanations.importance import Importance
from likely.reports.section import Gallery, LeftOut, Section, TableBlock, Text
from likely.reports.sections.model import importance
from likely.runs.folder import RunFacts
from likely.workbench.scoring.column_effects import ColumnEffects, why_no_effects


@pytest.fixture
def facts():
    names = ("size", "size + weight", "a" * 80)
    values = np.array([0.5, 0.4, 0.0])
    about = Importance(
        names, values, values - 0.1, values + 0.1, 0.3, "log loss", 250, 3, (), ("A note.",)
    )
    mean = np.array([[0.8, 0.2], [0.4, 0.6]])
    effects = (
        PartialEffect("size", (1.0, 5.0), mean, mean - 0.1, mean + 0.1, "number"),
        PartialEffect("town", ("Mons", "東京"), mean, mean - 0.1, mean + 0.1),
    )
    found = PartialEffects(effects, ("no", "yes"), "probability", 250)
    return RunFacts("run", {}, effects=ColumnEffects(about, found, held_out=True))


def test_the_importance_is_a_picture_and_a_table(facts):
    section = importance(facts)
    assert isinstance(section, Section)
    first = section.blocks[0]
    assert isinstance(first, Text)
    assert "log loss increases on 250 held-out rows" in first.text
    picture, table = section.blocks[1].blocks
    assert "size 0.5" in picture.label
    assert isinstance(table, TableBlock)
    assert table.rows[0][0] == "size"
    assert any(isinstance(block, Text) and block.text == "A note." for block in section.blocks)


def test_effects_are_drawn_for_numbers_and_categories(facts):
    gallery = importance(facts).blocks[-1]
    assert isinstance(gallery, Gallery)
    labels = [block.label for block in gallery.blocks]
    assert labels == [
        "Effect of size: from 0.2000 to 0.6000.",
        "Effect of town: from 0.2000 to 0.6000.",
    ]
    assert "東京" in gallery.blocks[1].svg  # without a warning about its characters


def test_rows_that_were_given_are_not_called_held_out(facts):
    given = replace(facts, effects=replace(facts.effects, held_out=False))
    assert "250 given rows" in importance(given).blocks[0].text


def test_it_is_left_out_where_nothing_was_measured(facts):
    assert importance(replace(facts, effects=None)) is None
    kept = replace(facts, effects=None, validation=object(), run={"data": {"rows": 12}})
    left = importance(kept)
    assert isinstance(left, LeftOut) and left.why.endswith("because there are fewer than 40 rows")


def test_what_was_measured_is_read_again(facts):
    again = ColumnEffects.from_json(facts.effects.to_json())
    assert again.to_json() == facts.effects.to_json()


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ((39, 2, []), "there are fewer than 40 rows"),
        ((40, 301, []), "there are more than 300 columns"),
        ((39, 301, ["years"]), "predictions also need the offset or exposure 'years'"),
        ((40, 300, []), ""),
    ],
)
def test_effects_that_are_not_measured_have_one_reason(about, why):
    assert why_no_effects(*about) == why
