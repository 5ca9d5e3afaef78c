"""What skops would make of an archive, checked before it makes it.

The constructor and the state of scikit-learn's trees read the memory of their arrays without asking
whether these are arrays.  So a tree must be written as skops writes it: its number of columns and
of outputs as numbers, its classes, nodes and values as arrays.
"""

import json
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import numpy as np

from likely.errors import InvalidInput

ARRAY, TREE, LOSS = "NdArrayNode", "TreeNode", "LossNode"


def check_archive(archive: ZipFile) -> None:
    """Refuse trees that are not made of arrays, and losses that are none."""
    nodes = list(_nodes(json.loads(archive.read("schema.json"))))
    ids = [node["__id__"] for node in nodes if node.get("__id__") is not None]
    twice = {each for each, times in Counter(map(str, ids)).items() if times > 1}
    for node in nodes:
        loader = node.get("__loader__")
        fine = (
            (loader != TREE or _is_tree(node, twice, archive))
            and (loader != LOSS or str(node.get("__module__")).startswith("sklearn._loss."))
            and ("__reduce__" not in node or loader in (TREE, LOSS))
        )
        if not fine:
            raise InvalidInput(
                "a tree in it has other things in place of its arrays; expected what scikit-learn "
                "writes. Save the model again."
            )


def _is_tree(node: dict[str, Any], twice: set[str], archive: ZipFile) -> bool:
    """Whether the arguments and the state have arrays, which no other object of the same id is."""
    args, state = node["__reduce__"]["args"], node["content"]
    if (args["__loader__"], state["__loader__"]) != ("TupleNode", "DictNode"):
        return False
    arrays = [args["content"][1], *(state["content"][name] for name in ("nodes", "values"))]
    alone = all(str(each.get("__id__")) not in twice for each in (args, state, *arrays))
    return (
        len(args["content"]) == 3
        and alone
        and all(_is_array(each) and _ndim(archive, each) for each in arrays)
    )


def _ndim(archive: ZipFile, node: dict[str, Any]) -> int:
    if (node["__module__"], node["__class__"]) != ("numpy", "ndarray"):
        return 0
    return int(np.ndim(np.load(BytesIO(archive.read(node["file"])), allow_pickle=False)))


def _is_array(node: Any) -> bool:
    return (
        isinstance(node, dict) and node.get("__loader__") == ARRAY and node.get("type") == "numpy"
    )


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of the schema."""
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, dict):
            yield each
            stack += each.values()
        elif isinstance(each, list):
            stack += each
