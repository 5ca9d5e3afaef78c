"""Sealed rows in 44 disguises, and fresh rows of ten tables of categories.

Each disguise is made of a whole table, sealed rows included, and shown to the recognition of
sealed rows: refused, recorded as a few rows, or unseen.  The same disguise of the training rows
alone must not be refused.  Then ten tables of categories only are sealed, and fresh rows of the
same source, of five sizes each, must not be refused or recorded either.
"""

import io
import tempfile
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pyarrow as pa

import likely
from likely.errors import HonestyRefusal, SomeSealedRows
from likely.sealing.folder import SealFolder, seals_in
from likely.sealing.recognition import refuse_sealed_rows

Frame = pd.DataFrame
AMOUNTS = ["income", "balance", "height"]


def people(n: int = 1000, seed: int = 0) -> Frame:
    """A key, whole numbers, codes, amounts, text, a date, gaps, and a class."""
    rng = np.random.default_rng(seed)
    frame = Frame({"customer": np.arange(n), "age": rng.integers(18, 90, n)})
    frame["income"] = rng.lognormal(10, 1, n)
    frame["balance"] = rng.normal(0, 1000, n)
    frame["height"] = rng.normal(170, 10, n)
    frame["region"] = rng.integers(1, 9, n)
    frame["home town"] = rng.choice(["Ulm", "Bonn", "Kiel", "Jena"], n)
    frame["member"] = rng.random(n) < 0.5
    days = rng.integers(0, 1000, n)
    frame["since"] = pd.Timestamp("2015-01-01") + pd.to_timedelta(days, unit="D")
    frame.loc[rng.random(n) < 0.1, "balance"] = np.nan
    frame["churn"] = rng.choice(["no", "yes"], n)
    return frame


def _rng() -> np.random.Generator:
    return np.random.default_rng(7)


def _csv(frame: Frame) -> Frame:
    return pd.read_csv(io.StringIO(frame.to_csv(index=False)))


def _parquet(frame: Frame) -> Frame:
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return pd.read_parquet(stream)


def _gaps(frame: Frame, share: float) -> Frame:
    rng, holes = _rng(), frame.astype(object)
    return holes.mask(rng.random(holes.shape) < share).infer_objects()


def _permuted(frame: Frame) -> Frame:
    return frame.assign(region=np.roll(np.arange(1, 9), 3)[frame["region"] - 1])


def _standardised(frame: Frame, columns: list[str]) -> Frame:
    some = frame[columns].astype(float)
    return frame.assign(**((some - some.mean()) / some.std()))


DISGUISES: dict[str, Callable[[Frame], Frame]] = {
    "as it is": lambda f: f,
    "age + 1": lambda f: f.assign(age=f["age"] + 1),
    "age shuffled": lambda f: f.assign(age=_rng().permutation(f["age"])),
    "income scaled": lambda f: f.assign(income=f["income"] / 1000),
    "amounts scaled": lambda f: f.assign(**(f[AMOUNTS] * 2.5)),
    "codes permuted": _permuted,
    "towns exchanged": lambda f: f.replace({"home town": {"Ulm": "Bonn", "Bonn": "Ulm"}}),
    "towns as codes": lambda f: f.assign(**{"home town": f["home town"].factorize()[0]}),
    "age + 1, codes permuted": lambda f: _permuted(f.assign(age=f["age"] + 1)),
    "income and height shuffled": lambda f: f.assign(
        income=_rng().permutation(f["income"]), height=_rng().permutation(f["height"])
    ),
    "age + 1, income scaled, member inverted": lambda f: f.assign(
        age=f["age"] + 1, income=f["income"] / 1000, member=~f["member"]
    ),
    "age, codes and member changed": lambda f: _permuted(
        f.assign(age=f["age"] + 1, member=~f["member"])
    ),
    "names in capitals": lambda f: f.rename(columns=str.upper),
    "names with underscores": lambda f: f.rename(columns=lambda c: c.replace(" ", "_")),
    "names with blanks": lambda f: f.rename(columns=lambda c: f" {c} "),
    "two columns renamed": lambda f: f.rename(columns={"age": "a", "income": "b"}),
    "all columns renamed": lambda f: f.rename(columns={c: f"v{i}" for i, c in enumerate(f)}),
    "columns reversed": lambda f: f[f.columns[::-1]],
    "the key dropped": lambda f: f.drop(columns="customer"),
    "the target dropped": lambda f: f.drop(columns="churn"),
    "three columns dropped": lambda f: f.drop(columns=["age", "income", "since"]),
    "all but four dropped": lambda f: f[["age", "income", "region", "member", "churn"]],
    "three columns added": lambda f: f.assign(one=1, two=f["age"] ** 2, three="x"),
    "amounts to two decimals": lambda f: f.assign(**f[AMOUNTS].round(2)),
    "amounts to whole numbers": lambda f: f.assign(**f[AMOUNTS].round(0)),
    "amounts as float32": lambda f: f.astype(dict.fromkeys(AMOUNTS, "float32")),
    "numbers as text": lambda f: f.astype({"age": str, "income": str, "region": str}),
    "whole numbers as floats": lambda f: f.astype({"age": float, "region": float}),
    "text in capitals": lambda f: f.assign(**{"home town": f["home town"].str.upper()}),
    "text with blanks": lambda f: f.assign(**{"home town": " " + f["home town"] + "  "}),
    "text as categories": lambda f: f.astype({"home town": "category", "churn": "category"}),
    "dates as text": lambda f: f.assign(since=f["since"].dt.strftime("%d.%m.%Y")),
    "rows shuffled": lambda f: f.sample(frac=1, random_state=0),
    "a third of the rows": lambda f: f.sample(frac=1 / 3, random_state=0),
    "beside 3,000 other rows": lambda f: pd.concat([f, people(3000, seed=9)]),
    "age + 1, beside 3,000 other rows": lambda f: pd.concat(
        [f.assign(age=f["age"] + 1), people(3000, seed=9)]
    ),
    "each row three times": lambda f: pd.concat([f] * 3),
    "through CSV": _csv,
    "through Parquet": _parquet,
    "gaps filled": lambda f: f.assign(balance=f["balance"].fillna(0.0)),
    "a twentieth of the cells missing": lambda f: _gaps(f, 0.05),
    "a third of the cells missing": lambda f: _gaps(f, 1 / 3),
    "amounts standardised": lambda f: _standardised(f, AMOUNTS),
    "all numbers standardised, text as codes": lambda f: _standardised(
        f.assign(**{"home town": f["home town"].factorize()[0]}).drop(columns="since"),
        ["age", *AMOUNTS, "region", "home town", "member"],
    ),
}


def answer(frame: Frame, seal: SealFolder) -> str:
    """What a fit to the rows would be told: refused, recorded or unseen."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            refuse_sealed_rows(table, [seal], label="rows", doing="train")
        except HonestyRefusal:
            return "refused"
    return "recorded" if any(w.category is SomeSealedRows for w in told) else "unseen"


def category_tables() -> Iterator[tuple[str, Callable[[int, int], Frame], int]]:
    """Ten tables of categories: a name, a source of n rows from a seed, and how many are sealed."""
    titanic = [4, 2, 2]
    for levels, n in (
        (titanic, 2201),
        ([2] * 6, 600),
        ([2] * 16, 435),
        ([3] * 9, 958),
        ([4, 4, 4, 3, 3, 3], 1728),
        ([30, 30], 1000),
        ([10, 10, 10], 800),
        ([5] * 7, 3000),
        ([100, 20, 3, 2], 1500),
        ([6] * 4, 150),
    ):
        yield f"{n:,} rows, levels {levels}", _source(levels), n


def _source(levels: list[int]) -> Callable[[int, int], Frame]:
    """Dependent categories of unequal shares: each leans on the one before it."""

    def drawn(n: int, seed: int) -> Frame:
        rng = np.random.default_rng(seed)
        u = rng.beta(1, 2, (n, len(levels)))
        for j in range(1, len(levels)):
            u[:, j] = np.where(rng.random(n) < 0.3, u[:, j - 1], u[:, j])
        cells = {f"c{j}": [f"v{int(k)}" for k in u[:, j] * m] for j, m in enumerate(levels)}
        return Frame(cells | {"y": rng.choice(["no", "yes"], n)})

    return drawn


def main() -> None:
    print(f"{'disguise':44} {'all rows':>10} {'training rows':>14}")
    for name, disguise in DISGUISES.items():
        with tempfile.TemporaryDirectory() as folder:
            sealed = likely.seal(people(), "churn", name="people", folder=folder)
            (seal,) = seals_in([folder])
            train = sealed.train
            alone = answer(disguise(train), seal)
            print(f"{name:44} {answer(disguise(people()), seal):>10} {alone:>14}")
    print(
        f"\n{'fresh rows of a table of categories':52} {'whole file':>10}  fresh: refused, recorded"
    )
    for name, drawn, n in category_tables():
        with tempfile.TemporaryDirectory() as folder:
            table = drawn(n, 0)
            likely.seal(table, "y", name="cells", folder=folder)
            (seal,) = seals_in([folder])
            answers = [
                answer(drawn(size, seed), seal)
                for size in (n // 20, n // 5, n // 2, n, 5 * n)
                for seed in (1, 2, 3, 4)
            ]
            whole = answer(table, seal)
            counts = [answers.count(word) for word in ("refused", "recorded")]
            print(f"{name:52} {whole:>10}  {counts[0]}, {counts[1]} of {len(answers)}")


if __name__ == "__main__":
    main()
