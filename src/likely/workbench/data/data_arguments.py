"""The keyword arguments about the data that ``compare``, ``tune``, ``seal`` and others share.

They are those of ``likely.dataset``, to which each of these functions hands them on.  Such a
function declares them once, as ``**about: Unpack[DataArguments]``, from which type checkers and
editors know their names and types; ``help`` shows each of them with its default.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypedDict, TypeVar, cast

from likely.kinds import TargetKind
from likely.workbench.data.opening import dataset

Function = TypeVar("Function", bound=Callable[..., Any])


class DataArguments(TypedDict, total=False):
    """What is known about the columns; ``likely.dataset`` has the meanings and the defaults."""

    kind: TargetKind | None
    order: Sequence[Any] | None
    group: str | None
    by_time: str | None
    weight: str | None
    offset: str | None
    exposure: str | None
    drop: Sequence[str]
    category: Sequence[str]
    feature: Sequence[str]
    text: Sequence[str]


def takes_data_arguments(function: Function) -> Function:
    """The function with the arguments about the data in its signature; others are refused."""
    own = signature(function)
    of_dataset = signature(dataset).parameters
    named = {
        name: each
        for name, each in own.parameters.items()
        if each.kind is not Parameter.VAR_KEYWORD
    }
    named |= {name: of_dataset[name] for name in DataArguments.__annotations__}

    @wraps(function)
    def with_known_names(*args: Any, **given: Any) -> Any:
        for name in given:
            if name not in named:  # else ``dataset`` would be named, which nobody called
                raise TypeError(
                    f"{function.__name__}() got an unexpected keyword argument {name!r}"
                )
        return function(*args, **given)

    with_known_names.__signature__ = own.replace(  # type: ignore[attr-defined]  # inspect reads it
        parameters=[*named.values()]
    )
    return cast(Function, with_known_names)
