"""The order of ordered classes: given, that of an ordered categorical, or sorted."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from likely._typing import Array
from likely.data.categories import ordered_categories
from likely.errors import AlphabeticalOrder, InvalidInput, warn_user
from likely.inputs.labels import EncodedLabels, check_labels

MOST_NAMED = 6  # classes in a sentence


def ordered_classes(
    y: Any, order: Sequence[Any] | None = None, *, weight: Array | None = None
) -> EncodedLabels:
    """The classes that occur in y, from lowest to highest, and each row's position among them.

    A class of ``order``, or of a categorical, that does not occur is left out.  A class that occurs
    only in rows of weight 0 is left out too, and its rows get the code −1.  Three words or more
    without an order are sorted, with a warning.

    >>> ordered_classes(["hot", "cold", "mild"], ["cold", "mild", "hot"]).codes.tolist()
    [2, 0, 1]
    """
    found = check_labels(y)
    given = ordered_categories(y) if order is None else _distinct(list(order))
    labels = found.classes.tolist()
    if given is None and len(labels) > 2 and isinstance(labels[0], str):  # of two, either order
        warn_user(alphabetical(labels), AlphabeticalOrder)
    rank = np.arange(len(labels)) if given is None else _ranks(labels, given)
    place = np.argsort(rank)
    if weight is not None:
        total = np.bincount(found.codes, weights=weight, minlength=len(labels))
        place = place[total[place] > 0]
    code = np.full(len(labels), -1)
    code[place] = np.arange(len(place))
    return EncodedLabels(found.classes[place], code[found.codes])


def alphabetical(classes: Sequence[str]) -> str:
    """The sentence about an order that was not given."""
    shown = " < ".join([*classes[:MOST_NAMED], *(["…"] if len(classes) > MOST_NAMED else [])])
    return (
        f"The classes are taken in alphabetical order: {shown}; give the order if it is different "
        "(order=, or --order on the command line)."
    )


def _ranks(labels: list[Any], order: list[Any]) -> Array:
    rank = {label: k for k, label in enumerate(order)}
    unknown = [label for label in labels if label not in rank]
    if unknown:
        raise InvalidInput(
            f"y has the label {unknown[0]!r}; the order is {', '.join(map(str, order[:10]))}. "
            "Add the label to the order, or drop its rows."
        )
    return np.array([rank[label] for label in labels])


def _distinct(order: list[Any]) -> list[Any]:
    twice = [label for k, label in enumerate(order) if label in order[:k]]
    if twice:
        raise InvalidInput(
            f"The order names {twice[0]!r} twice; each class has one place. Leave one out."
        )
    return order
