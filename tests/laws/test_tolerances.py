"""A tight absolute tolerance has a relative one beside it: that of NumPy, 1e-7, is not tight."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FOLDERS = (
    "worked",
    "laws",
    "references",
    "linear",
    "solvers",
    "objectives",
    "metrics",
    "workbench",
    "graphical",
    "distributions",
    "generative",
    "text",
    "likelihoods",
)
COMPARISONS = {"assert_allclose", "allclose", "isclose"}
TIGHT = 1e-9


def loose(source):
    """The lines that compare with a tight atol and leave rtol at its default."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            if called in COMPARISONS and len(node.args) < 3 and None not in given:
                found.append((node.lineno, given))
        elif isinstance(node, ast.Dict):
            keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
            found.append((node.lineno, dict(zip(keys, node.values, strict=True))))
    return [
        line
        for line, given in found
        if isinstance(atol := given.get("atol"), ast.Constant)
        and atol.value <= TIGHT
        and "rtol" not in given
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_identities_are_held_to_the_tolerance_that_is_written(folder):
    files = sorted((TESTS / folder).rglob("*.py"))
    assert files
    found = {path.name: lines for path in files if (lines := loose(path.read_text("utf-8")))}
    assert found == {}, "give rtol=0, or the tight value"


def test_a_tight_tolerance_alone_is_found():
    assert loose("assert_allclose(a, b, atol=1e-10)") == [1]
    assert loose("np.testing.assert_allclose(a, b, atol=1e-9)") == [1]
    assert loose('near = {"atol": 1e-12}') == [1]
    assert loose("assert_allclose(a, b, rtol=0, atol=1e-10)") == []
    assert loose("assert_allclose(a, b, 1e-12, atol=1e-10)") == []
    assert loose("assert_allclose(a, b, atol=1e-6)") == []
    assert loose("near(a, b, atol=1e-10)") == []
