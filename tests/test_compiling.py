"""Warming up compiles every loop that the package calls."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "likely"
CHECK = """
import importlib, json, sys
import likely
likely.warmup()
called = json.load(sys.stdin)
cold = [
    f"{module}.{name}"
    for module, name in called
    if not getattr(getattr(importlib.import_module(module), name), "signatures", True)
]
assert not cold, cold
"""


def loops_called() -> list[tuple[str, str]]:
    """The names that files outside of ``fast/`` import from there: loops inside loops are not.

    A loop that another one calls has no signature of its own when that one comes from the disk.
    """
    found = set()
    for file in SOURCE.rglob("*.py"):
        if file.parent.name == "fast":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("likely.fast."):
                found |= {(str(node.module), alias.name) for alias in node.names}
    return sorted(found)


@pytest.mark.slow
def test_every_loop_that_is_called_is_compiled_after_a_warm_up():
    called = loops_called()
    assert len(called) >= 40, called
    done = subprocess.run(
        [sys.executable, "-c", CHECK], input=json.dumps(called), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
