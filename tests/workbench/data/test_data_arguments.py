"""The arguments about the data, which five public functions share."""

from inspect import Parameter, signature
from typing import Any, get_type_hints

import pytest

import likely as lk
from likely.workbench.data.data_arguments import DataArguments

FUNCTIONS = ["compare", "tune", "seal", "learning_curve", "look"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_signature_shows_each_argument_with_the_default_of_dataset(name: str) -> None:
    shown, expected = signature(getattr(lk, name)).parameters, signature(lk.dataset).parameters
    assert {*DataArguments.__annotations__} < {*shown}
    assert all(shown[each] == expected[each] for each in DataArguments.__annotations__)
    assert not any(each.kind is Parameter.VAR_KEYWORD for each in shown.values())


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("unknown", ["grup", "clusters"])
def test_an_unknown_argument_is_refused_in_the_name_of_the_function(
    name: str, unknown: str
) -> None:
    given: dict[str, Any] = {unknown: "x"}
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected .* '{unknown}'$"):
        getattr(lk, name)("iris", **given)


def test_types_are_those_of_dataset() -> None:
    hints = get_type_hints(lk.dataset)
    for name, kind in get_type_hints(DataArguments).items():
        assert kind == hints[name], name


def test_all_arguments_of_dataset_are_shared_except_clusters() -> None:
    of_dataset = {
        name
        for name, each in signature(lk.dataset).parameters.items()
        if each.kind is Parameter.KEYWORD_ONLY
    }
    assert of_dataset == {*DataArguments.__annotations__, "clusters"}
