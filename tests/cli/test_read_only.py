"""Every verb in a hardened container: another user, a read-only installation, no home.

Only the output folder, and a folder for temporary files, can be written.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import likely as lk
from tests.cli.conftest import patients

SOURCE = Path(lk.__file__).parent
NOBODY = 65534
READS = "-all,+dac_read_search"  # the capability to read what others own, and no other
AS_NOBODY = [
    "setpriv",
    *(f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *(f"--bounding-set={READS}", f"--inh-caps={READS}", f"--ambient-caps={READS}"),
]
MAIN = "from likely.cli.main import main; main()"
VERBS = [  # in an order in which each has its input
    "look {out}/rows.csv --target ill",
    "seal {out}/rows.csv --target ill -o {out}/rows.seal",
    "compare {out}/rows.seal logistic bayesian-network naive-bayes",
    "train {out}/rows.seal logistic --set l1=1 -o {out}/run",
    "tune {out}/rows.seal naive-bayes --trials 2 -o {out}/search",
    "curve {out}/rows.seal naive-bayes -o {out}/curve.png",
    "predict {out}/run {out}/rows.csv -o {out}/predicted.csv",
    "explain {out}/run",
    "final {out}/run",
    "report {out}/run -o {out}/report.html",
    "ledger verify {out}/rows.seal",
    "models",
    "graph {out}/graph.uai",
]

pytestmark = pytest.mark.slow  # a process for each verb, which compiles its loops


@pytest.fixture(scope="module")
def container():
    """Run a command line as another user: exit code, and what it printed."""
    if os.getuid() or subprocess.run([*AS_NOBODY, "true"], capture_output=True).returncode:
        pytest.skip("needs root and setpriv, to become another user")
    place = Path(tempfile.mkdtemp(prefix="container-"))  # pytest's folders are closed to others
    place.chmod(0o755)
    shutil.copytree(SOURCE, place / "lib/likely", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("out", "tmp", "here"):
        (place / name).mkdir()
    (place / "out/rows.csv").write_text(patients(120))
    (place / "out/graph.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n")
    for name in ("out", "tmp"):
        os.chown(place / name, NOBODY, NOBODY)

    def run(words, **more):
        return subprocess.run(
            [
                *AS_NOBODY,
                sys.executable,
                "-B",
                "-c",
                MAIN,
                *words.format(out=place / "out").split(),
            ],
            cwd=place / "here",
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(place / "lib"),
                "TMPDIR": str(place / "tmp"),
                **more,
            },
            capture_output=True,
            text=True,
        )

    yield run
    shutil.rmtree(place)


def test_every_verb_works_without_a_home(container):
    notes = 0
    for verb in VERBS:
        done = container(verb)
        assert done.returncode == 0, (verb, done.stderr)
        assert "Traceback" not in done.stderr and "matplotlib" not in done.stderr, verb
        notes += "NUMBA_CACHE_DIR" in done.stderr
    assert notes  # where a loop was compiled and could not be kept


def test_a_folder_that_cannot_be_used_is_an_error_in_words(container):
    done = container("report {out}/run -o {out}/page.html", TMPDIR="/nonexistent")
    assert done.returncode == 0 or "MPLCONFIGDIR" in done.stderr
    done = container("predict {out}/run {out}/rows.csv -o predicted.csv")
    assert done.returncode == 2 and "permissions of the folder" in done.stderr
