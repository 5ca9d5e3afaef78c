"""docs/compare.rst gives what it says."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "compare.rst"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def test_the_examples_of_the_page_give_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(PAGE.read_text("utf-8"), {}, "compare.rst", "", 0)
    assert len(test.examples) > 10
    said = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert not said, "".join(said)
