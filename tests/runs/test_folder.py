"""The names of the files of a RUN are spelled in one place."""

import re
from pathlib import Path

import likely
from likely.persist import MODEL_FILE
from likely.runs import folder, records

SOURCE = Path(likely.__file__).parent
NAMES = {
    MODEL_FILE,
    folder.FACTS,
    folder.LOOK,
    folder.FINAL,
    folder.STUDY,
    folder.COMMAND,
    folder.VALIDATION,
    folder.VALIDATION_FACTS,
    records.COMPARISONS,
    records.CURVES,
}
ELSEWHERE = {
    ("persist/model_file.py", MODEL_FILE),  # save and load know it, and no RUN
    ("workbench/search/trials.py", folder.STUDY),  # a study, of a RUN or not, has its own
}
LITERAL = re.compile(r"""["']([^"'\n]*)["']""")


def spelled(path):
    """The names of files in the literals of a module, without its docstrings."""
    text = re.sub(r'""".*?"""', "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {name for literal in LITERAL.findall(text) for name in NAMES if name in literal}


def test_no_other_module_spells_the_name_of_a_file_of_a_run():
    found = {
        (path.relative_to(SOURCE).as_posix(), name)
        for path in SOURCE.rglob("*.py")
        if path.parent.name != "runs"
        for name in spelled(path)
    }
    assert found == ELSEWHERE


def test_each_name_is_spelled_once_inside():
    found = [name for path in (SOURCE / "runs").glob("*.py") for name in spelled(path)]
    assert sorted(found) == sorted(NAMES - {MODEL_FILE})
