"""What look, compare, tune, final and the report say of noise with copies and leaks, and of cells.

    python -m benchmarks.honest_folds

Ten tables of noise: nothing can be predicted, and whoever says "clearly better" is wrong, unless a
leak makes the score true and useless.  Ten tables of few categories: equal rows are no copies,
folds are of equal size, and fresh rows of the same source are no sealed ones.
"""

import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsClassifier

import likely
from likely.workbench.data.opening import dataset


def noise_tables(n: int = 300) -> Iterator[tuple[str, pd.DataFrame, dict]]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    frame["y"] = np.where(rng.random(n) < 0.5, "yes", "no")
    five = pd.concat([frame] * 5, ignore_index=True)
    size = len(five)
    yes = five["y"] == "yes"
    yield "plain noise", frame, {}
    yield "copies", five, {}
    near = five.copy()
    near[list("abcd")] += 1e-6 * rng.normal(size=(size, 4))
    yield "near copies, 1e-6", near, {}
    yield "equal but for a column", five.assign(b=rng.normal(size=size)), {}
    yield "four different rows", five.iloc[np.arange(400) % 4].reset_index(drop=True), {}
    fresh = pd.DataFrame(rng.normal(size=(size, 4)), columns=list("abcd")).assign(y=five["y"])
    yield "a leak of one column", fresh.assign(fee=np.where(yes, 1.0, 3.0) + rng.random(size)), {}
    kinds = rng.integers(0, 150, size)
    means = yes.groupby(kinds).transform("mean")
    yield "target-encoded categories", fresh.assign(mean=means), {}
    counts = pd.DataFrame(rng.poisson(40, (size, 4)), columns=list("abcd"))
    yield (
        "the difference of two columns",
        counts.assign(y=np.where(counts.a > counts.c, "y", "n")),
        {},
    )
    group = np.repeat(np.arange(size // 5), 5)
    person = rng.normal(size=(size // 5, 4))[group] + 0.01 * rng.normal(size=(size, 4))
    ill = np.where(rng.random(size // 5) < 0.5, "yes", "no")[group]
    people = pd.DataFrame(person, columns=list("abcd")).assign(patient=group, y=ill)
    yield "groups, declared", people, {"group": "patient"}
    yield "time", fresh.assign(day=np.arange(size)), {"by_time": "day"}


def cell_tables(n: int = 2201) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Few categories: a table, and as many fresh rows of the same source."""
    for k in range(10):
        rng = np.random.default_rng(k)
        sizes = rng.integers(2, 5, 3 + k % 4)
        shares = [rng.dirichlet(np.ones(size)) for size in sizes]
        columns = {
            f"c{j}": rng.choice([f"v{i}" for i in range(size)], 2 * n, p=share)
            for j, (size, share) in enumerate(zip(sizes, shares, strict=True))
        }
        frame = pd.DataFrame(columns)
        frame["y"] = np.where(rng.random(2 * n) < 0.2 + 0.4 * (frame["c0"] == "v0"), "yes", "no")
        yield "×".join(map(str, sizes)), frame[:n], frame[n:]


def says(text: object, codes: list[str]) -> str:
    """Whether a model is called better, and which findings and notes on copies are repeated."""
    words = " ".join(unescape(re.sub("<[^>]*>", " ", str(text))).split())
    for no in ("not clearly better", "clearly better than the baseline: no", "or clearly better"):
        words = words.replace(no, "")
    found = [code for code in codes if code in words]
    found += ["copies"] * (
        "earlier row in all features, beyond" in words or "different rows)" in words
    )
    return " ".join(["CLEARLY BETTER"] * ("clearly better" in words) + found) or "-"


def main() -> None:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        verbs = ("look", "compare", "tune", "final", "report")
        print(f"{'noise':30}" + "".join(f" {verb:14}" for verb in verbs) + " gain of final")
        for name, frame, roles in noise_tables():
            codes = [c for c in likely.look(frame, "y", **roles).codes if c[2] in "24"]
            os.chdir(tempfile.mkdtemp(dir=folder))  # no seal of another table is near
            found = likely.compare(frame, "y", [KNeighborsClassifier(1)], repeats=1, **roles)
            study = likely.tune(frame, "y", model="logistic", trials=2, **roles)
            made = [found, study]
            try:
                sealed = likely.seal(frame, "y", name=f"noise-{len(name)}", **roles)
                made.append(sealed.final("logistic"))
                gain = made[-1].gain
                last = f"{gain.low:.3f} to {gain.high:.3f}"
            except likely.errors.LikelyError as error:
                made.append("")
                last = f"refused: {error}"[:40]
            told = [says(each, codes) for each in made]
            pages = [likely.report(each, path=None).html for each in made if each]
            told.append(says(" ".join(pages), codes))
            print(f"{name:30}" + "".join(f" {t:14}" for t in (" ".join(codes), *told)), last)
        print(f"\n{'cells':14} {'different':>9} {'copies':>6} {'folds':14} look; fresh rows")
        for k, (name, frame, other) in enumerate(cell_tables()):
            rows = dataset(frame, "y").with_task(None)
            sizes = [len(fold.test) for fold in rows.folds(5)]
            codes = [c for c in likely.look(frame, "y").codes if c[2] in "24"]
            os.chdir(tempfile.mkdtemp(dir=folder))
            likely.seal(frame, "y", name=f"cells-{k}")
            try:
                likely.compare(other, "y", ["naive-bayes"], folds=2, repeats=1)
                fresh = "accepted"
            except likely.errors.LikelyError as error:
                fresh = f"REFUSED: {error}"[:60]
            different = len(frame.drop(columns="y").drop_duplicates())
            copies = 0 if rows.copies is None else int((np.bincount(rows.copies) > 1).sum())
            print(
                f"{name:14} {different:9} {copies:6} {min(sizes)} to {max(sizes):6} "
                f"{' '.join(codes) or 'nothing'}; {fresh}"
            )
        os.chdir(Path(folder).parent)


if __name__ == "__main__":
    main()
