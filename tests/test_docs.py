"""The code in README.md and on the model pages runs, and gives what the page says."""

import doctest
import re
import runpy
from importlib import import_module
from pathlib import Path

import matplotlib
import pytest
from docutils.utils.math.latex2mathml import tex2mathml

import likely
from likely.cli.main import VERBS

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "models").glob("*.rst"))
ALL_PAGES = [*PAGES, *sorted((ROOT / "docs").glob("*.rst"))]
WITH_EXAMPLES = [
    *PAGES,
    *(
        ROOT / "docs" / f"{name}.rst"
        for name in ("explain", "first-table", "runtime", "spreadsheets")
    ),
]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
ARCHITECTURE = ROOT / "docs" / "architecture.md"
SOURCE = ROOT / "src" / "likely"
MADE = {"benchmarks/RESULTS.md"}  # by `make bench`
GALLERY = sorted((ROOT / "docs" / "gallery").glob("*/plot_*.py"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
INSIDE = {("plot_adaptive_looks", "likely.sealing.judges")}  # what a seal does not let out


def markdown_blocks(text):
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def rst_blocks(text):
    """The bodies of ``.. code-block:: python``, without their indentation."""
    found = re.findall(r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text, flags=re.MULTILINE)
    return [re.sub(r"^   ", "", body, flags=re.MULTILINE) for body in found]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
@pytest.mark.long
def test_the_examples_of_a_model_page_give_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples write files
    text = page.read_text(encoding="utf-8")
    assert not rst_blocks(text), "write examples with >>>, so that their output is checked"
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert len(test.examples) > 5
    said = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize(
    ("page", "blocks"),
    [("README.md", markdown_blocks), ("docs/index.rst", rst_blocks)],
    ids=["readme", "index"],
)
def test_the_first_screen_runs(page, blocks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks((ROOT / page).read_text(encoding="utf-8"))
    assert found
    names: dict[str, object] = {}
    for block in found:
        exec(compile(block, page, "exec"), names)


@pytest.mark.slow  # ``make docs`` runs them too
@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_a_script_of_the_gallery_draws_a_picture(script, monkeypatch):
    matplotlib.use("agg")
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "show", lambda: None)
    exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), {})
    assert pyplot.gcf().axes
    pyplot.close("all")


def test_every_public_name_is_in_the_reference():
    text = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    shown = set(re.findall(r"^\.\. auto\w+:: likely\.(\w+)$", text, flags=re.MULTILINE))
    shown |= set(re.findall(r":class:`likely\.(\w+)`", text))  # shown on a page of their own
    assert {name for name in likely.__all__ if name != "__version__"} <= shown


@pytest.mark.parametrize("module", sorted(likely._MODULES - {"data"}))
def test_every_public_name_of_a_module_is_in_the_reference(module):
    """Functions and classes by their docstrings, registries by a line that says what they list."""
    text = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    assert f".. automodule:: likely.{module}\n   :members:\n" in text
    found = getattr(likely, module)
    for name in found.__all__:
        value = getattr(found, name)
        there = value.__doc__ if callable(value) else f"``likely.{module}.{name}``" in text
        assert there, f"likely.{module}.{name}"


@pytest.mark.parametrize("page", [*ALL_PAGES, *GALLERY, *EXAMPLES], ids=lambda page: page.stem)
def test_pages_and_examples_import_public_names(page):
    text = page.read_text(encoding="utf-8")
    for module, names in re.findall(r"from (likely[\w.]*) import \(?([\w, ]+)", text):
        public = module.removeprefix("likely").removeprefix(".")
        if (page.stem, module) in INSIDE:
            continue
        assert public == "" or public in likely._MODULES, f"{module} is not public"
        home = likely if not public else getattr(likely, public)
        assert set(names.replace(" ", "").split(",")) <= set(home.__all__), f"{module}: {names}"


def test_every_model_page_is_in_the_contents_and_shows_its_picture():
    contents = (ROOT / "docs" / "index.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^   models/([\w-]+)$", contents, flags=re.MULTILINE)
    assert sorted(listed) == sorted(page.stem for page in PAGES)
    scripts = {script.stem for script in GALLERY}
    for page in PAGES:
        shown = re.findall(r"sphx_glr_(\w+)_001\.png", page.read_text(encoding="utf-8"))
        assert shown, page
        assert set(shown) <= scripts, page


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.stem)
def test_equations_are_written_as_the_builder_reads_them(page):
    r"""It takes \tfrac12 for 12 over nothing, and stops at commands that it does not know."""
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"\\[td]?frac[^{]", text)
    inline = re.findall(r":math:`([^`]+)`|\.\. math:: (.+)", text)
    blocks = re.findall(r"^( *)\.\. math::\n\n((?:\1   .*\n|\n)+)", text, flags=re.MULTILINE)
    assert len(inline) + len(blocks) == text.count(":math:`") + text.count(".. math::")
    for equation in [*("".join(pair) for pair in inline), *(body for _, body in blocks)]:
        tex2mathml(equation)  # an unknown command raises MathError


def test_every_link_between_pages_leads_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("*/*.md")]
    for page in pages:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            there = (page.parent / link).exists() or link in MADE
            assert there, f"{page.relative_to(ROOT)} links to {link}"


@pytest.mark.long
def test_the_tree_of_the_manual_has_every_file_and_what_it_is():
    drawn = runpy.run_path(str(ROOT / "docs" / "tree.py"))["tree"]()
    lines = [line.lstrip("│├─ ").split(maxsplit=1) for line in drawn.splitlines()[1:]]
    assert [line for line in lines if len(line) < 2] == [], "a docstring is missing"
    assert sum(name.endswith(".py") for name, _ in lines) == sum(
        path.name != "__init__.py" for path in SOURCE.rglob("*.py")
    )


def test_every_room_and_file_that_the_architecture_names_exists():
    """Every folder of the package is a room of the page, and every file it names is there."""
    text = ARCHITECTURE.read_text(encoding="utf-8")
    rooms = text[text.index("## The rooms") : text.index("## How a model is fitted")]
    shown = {
        name for row in re.findall(r"^\| ([^|]*) \|", rooms, re.MULTILINE) for name in words(row)
    }
    there = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert there <= shown
    assert {
        name
        for name in shown
        if not (SOURCE / name).exists() and not (SOURCE / f"{name}.py").exists()
    } == set()
    named = [SOURCE / name for name in re.findall(r"`(\w+/[\w/]+\.py)`", text)]
    assert len(named) > 10
    assert [path for path in named if not path.exists()] == []


def test_the_pages_that_are_read_first_stay_short():
    """README in five minutes, the architecture in ten."""
    for page, most in (
        ("README.md", 10_000),
        ("CHANGELOG.md", 8_000),
        ("docs/architecture.md", 20_000),
    ):
        assert (ROOT / page).stat().st_size <= most, page


def test_the_tests_that_ci_runs_by_name_exist():
    part = runpy.run_path(str(ROOT / ".ci" / "machines"))["PART"]
    named = re.findall(r"\btests/[\w/.]*\w", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert len(named) > 3
    assert [path for path in [*part, *named] if not (ROOT / path).exists()] == []


def test_every_contract_of_the_architecture_is_defined():
    text = ARCHITECTURE.read_text(encoding="utf-8")
    tables = text[text.index("## Contracts") : text.index("## Arrays and speed")]
    names = [n for row in re.findall(r"^\| (`[^|]*) \|", tables, re.MULTILINE) for n in words(row)]
    source = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    defined = set(re.findall(r"^(?:class|def) (\w+)|^(\w+) = ", source, re.MULTILINE))
    assert len(names) > 30
    assert set(names) <= {name for pair in defined for name in pair}


def words(cell):
    """`Solver[Objective, State]` is Solver."""
    return [re.split(r"\W", name)[0] for name in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("verb", VERBS)
def test_the_page_of_the_command_line_names_every_option_of_a_verb(verb):
    """In the verb's row of the table, or in the text that is about all of them."""
    lines = (ROOT / "docs" / "cli.rst").read_text(encoding="utf-8").split("\n")
    others = [f"``likely {other} " for other in VERBS if other != verb]
    page = "\n".join(line for line in lines if not line.startswith(tuple(others)))
    assert re.search(rf"^``likely {verb} ", page, flags=re.MULTILINE)
    command = getattr(import_module(f"likely.cli.{verb}"), verb)
    options = [p.opts for p in command.params if p.param_type_name == "option"]
    for option in [name for names in options for name in names]:
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", page), f"{option} is not there"
