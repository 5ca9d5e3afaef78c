"""Values of ``--set``, ``--space`` and ``--try``: sequences as in Python, in JSON, or bare."""

import numpy as np
import pandas as pd
import pytest

from likely.cli.models import assigned, settings_tried, space_given
from likely.tasks.request import Refusal
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


@pytest.mark.parametrize(
    "text",
    ["x2*x3, hour*day", "[('x2', 'x3'), ('hour', 'day')]", '[["x2", "x3"], ["hour", "day"]]'],
)
@pytest.mark.parametrize("name", ["additive", "additive-gaussian"])
def test_pairs_are_named_with_a_star_or_as_in_python(name, text):
    found = assigned(MODELS[name], [f"interactions={text}"])
    assert found == {"interactions": [["x2", "x3"], ["hour", "day"]]}
    assert assigned(MODELS[name], ["interactions=3"]) == {"interactions": 3}


def test_what_names_no_pairs_is_refused_with_the_form_of_the_command_line():
    for text in ("x2", "a*b*c", "[x2]", "['x2']", "(1 +", "a*b,c", "{1}"):
        with pytest.raises(Refusal, match=r"Write --set interactions=10, or --set .*=hour\*work"):
            assigned(MODELS["additive"], [f"interactions={text}"])


def test_terms_that_only_python_has_are_refused_with_the_line_of_python():
    additive = MODELS["additive"]
    assert assigned(additive, ["terms.age=linear"]) == {"terms": {"age": "linear"}}
    assert assigned(additive, ["terms=auto"]) == {"terms": "auto"}
    smooth = "Smooth(cyclic=24)"
    for text in (f"terms={{'hour': {smooth}}}", f"terms.hour={smooth}", "terms=linear"):
        with pytest.raises(Refusal, match=r"only in Python: likely\.train\(data, target, model"):
            assigned(additive, [text])


def test_pairs_of_the_command_line_are_those_of_the_model():
    given = assigned(MODELS["additive"], ["interactions=b*a"])
    a, b = np.repeat(np.arange(12.0), 12), np.tile(np.arange(12.0), 12)
    frame = pd.DataFrame({"a": a, "b": b})
    model = MODELS["additive"].build(None, given).fit(frame, (a * b > 30) ^ (a == b))
    assert len(model.terms_.pairs) == 1
