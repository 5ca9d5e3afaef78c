"""Values of ``--set``, ``--space`` and ``--try``: sequences as in Python, in JSON, or bare."""

import pytest

from likely.cli.models import assigned, settings_tried, space_given
from likely.workbench.models.registry import MODELS

NETWORK = MODELS["neural-network"]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("(100,)", [100]),
        ("(16,8)", [16, 8]),
        (" ( 16, 8, ) ", [16, 8]),
        ("16,8", [16, 8]),
        ("100,", [100]),
        ("[16, 8]", [16, 8]),
        ("()", []),
        ("16", 16),
    ],
)
def test_sizes_of_layers_are_read_as_they_are_written_in_python(text, sizes):
    assert assigned(NETWORK, [f"hidden={text}"]) == {"hidden": sizes}


@pytest.mark.parametrize("text", ["0,1", "(a|b)", "relu,tanh"])
def test_commas_and_brackets_that_are_no_sequence_stay_text(text):
    assert assigned(NETWORK, [f"activation={text}"]) == {"activation": text}


def test_yes_and_no_are_booleans_in_spaces_and_tries_where_the_setting_is_one():
    defaults = NETWORK.all_defaults()
    space = space_given(["batch__shuffle=yes,no", "activation=yes,no"], defaults)
    assert space == {"batch__shuffle": [True, False], "activation": ["yes", "no"]}
    tried = settings_tried(("batch__shuffle=off,l2=1",), defaults)
    assert tried == ({}, {"batch__shuffle": False, "l2": 1})


def test_spaces_and_tries_take_sequences_beside_other_values():
    assert space_given(["hidden=(16,8),[4],100"]) == {"hidden": [[16, 8], [4], 100]}
    assert settings_tried(("hidden=(16,8),l2=1",)) == ({}, {"hidden": [16, 8], "l2": 1})
