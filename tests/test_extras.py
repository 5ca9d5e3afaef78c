"""Every extra of the package has code that imports it, and is named in the README."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
FOR_DEVELOPERS = {"test", "bench", "docs", "dev"}


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - FOR_DEVELOPERS))
def test_an_extra_is_imported_somewhere_and_listed_in_the_readme(extra):
    assert f"[{extra}]" in (ROOT / "README.md").read_text()
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    for requirement in EXTRAS[extra]:
        package = re.split(r"[<>=!~ ]", requirement)[0]
        assert f"import {package}" in source
