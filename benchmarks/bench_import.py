"""What starting costs: ``import likely`` and ``likely --help``, above ``python -c pass``."""

from benchmarks.report import Report, Row, at_most
from benchmarks.workbench import best_process_times

REPEATS = 20
IMPORT_LIMIT, HELP_LIMIT = 150, 300  # ms

COMMANDS = {
    "pass": ["-c", "pass"],
    "import": ["-c", "import likely"],
    "their import": ["-c", "import sklearn"],
    "class": ["-c", "from likely import NaiveBayes"],
    "their class": ["-c", "from sklearn.naive_bayes import GaussianNB"],
    "help": ["-c", "from likely.cli.main import main; main()", "--help"],  # the installed script
}


def measure(shrink: int) -> Report:
    repeats = max(3, REPEATS // shrink)
    best = best_process_times(repeats, COMMANDS)
    above = {name: 1e3 * (seconds - best["pass"]) for name, seconds in best.items()}
    return Report(
        "Starting",
        f"Wall time of a process above `python -c pass`, the best of {repeats} in turns.",
        [
            Row(
                work="`import likely` (theirs: `import sklearn`)",
                unit="ms",
                ours=above["import"],
                theirs=above["their import"],
                goal=at_most(IMPORT_LIMIT, "ms"),
            ),
            Row(
                work="`from likely import NaiveBayes` (theirs: `GaussianNB`)",
                unit="ms",
                ours=above["class"],
                theirs=above["their class"],
            ),
            Row(
                work="`likely --help`",
                unit="ms",
                ours=above["help"],
                goal=at_most(HELP_LIMIT, "ms"),
            ),
        ],
    )
