"""What mgcv finds in ten of its own simulated examples, and the rows that it was given.

The rows are drawn here by NumPy, after the functions of ``mgcv::gamSim``.  The numbers of R are
frozen in ``mgcv.json``; ``python -m tests.references.mgcv`` makes them again, where Rscript has
mgcv: it writes each table as CSV, and runs the call in ``EXAMPLES`` on it.
"""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

FROZEN = Path(__file__).with_suffix(".json")
AT = (0.1, 0.3, 0.5, 0.7, 0.9)  # where curves are compared
N = 400
SMOOTHS = "s(x0) + s(x1) + s(x2) + s(x3)"


def f0(x):
    return 2 * np.sin(np.pi * x)


def f1(x):
    return np.exp(2 * x)


def f2(x):
    return 0.2 * x**11 * (10 * (1 - x)) ** 6 + 10 * (10 * x) ** 3 * (1 - x) ** 10


def rows(seed, *, correlated=False):
    """The four columns of Gu and Wahba, and the sum of their functions; the fourth has none."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.uniform(size=(N, 4)), columns=["x0", "x1", "x2", "x3"])
    if correlated:
        frame["x1"] = 0.7 * frame["x0"] + 0.3 * frame["x1"]
        frame["x3"] = 0.9 * frame["x2"] + 0.1 * frame["x3"]
    return frame, f0(frame["x0"]) + f1(frame["x1"]) + f2(frame["x2"]), rng


def gaussian(seed=1, *, correlated=False):
    frame, f, rng = rows(seed, correlated=correlated)
    return frame.assign(y=f + 2 * rng.normal(size=N))


def correlated():
    return gaussian(7, correlated=True)


def poisson():
    frame, f, rng = rows(2)
    return frame.assign(y=rng.poisson(np.exp(0.1 * f)))


def gamma():
    frame, f, rng = rows(3)
    return frame.assign(y=rng.gamma(3.0, np.exp(0.1 * f) / 3.0))


def binary():
    frame, f, rng = rows(4)
    return frame.assign(y=(rng.random(N) < 1 / (1 + np.exp(5 - f))).astype(int))


def factor():
    frame, f, rng = rows(5)
    frame["g"] = np.array(["a", "b", "c", "d"])[np.arange(N) % 4]
    return frame.assign(y=2.0 * (np.arange(N) % 4) + f - f0(frame["x0"]) + 2 * rng.normal(size=N))


def cyclic():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"x0": rng.uniform(size=N), "x1": rng.uniform(size=N)})
    wave = np.sin(2 * np.pi * frame["x0"]) + 0.5 * np.cos(4 * np.pi * frame["x0"])
    return frame.assign(y=wave + f1(frame["x1"]) / 2 + 0.7 * rng.normal(size=N))


def tweedie():
    frame, f, rng = rows(8)
    mean = np.exp(0.1 * f)
    n = rng.poisson(mean**0.5 / 0.5)  # power 1.5, dispersion 1
    draw = rng.gamma(np.maximum(n, 1), 0.5 * mean**0.5)
    return frame.assign(y=np.where(n > 0, draw, 0.0))


def negative_binomial():
    frame, f, rng = rows(9)
    return frame.assign(y=rng.negative_binomial(3, 3 / (3 + np.exp(0.2 * f))))


def ordered():
    frame, f, rng = rows(10)
    score = f - f.mean() + rng.logistic(size=N)
    return frame.assign(y=1 + np.digitize(score, [-3, 0, 3]))


@dataclass(frozen=True)
class Example:
    """Rows, and the call of mgcv on them."""

    make: Callable[[], pd.DataFrame]
    call: str
    smooths: tuple[str, ...] = ("x0", "x1", "x2", "x3")


def gam(family, terms=SMOOTHS, more=""):
    return f'gam(y ~ {terms}, family = {family}, data = d, method = "REML"{more})'


EXAMPLES = {
    "gaussian": Example(gaussian, gam("gaussian()")),
    "correlated": Example(correlated, gam("gaussian()")),
    "poisson": Example(poisson, gam("poisson()")),
    "gamma": Example(gamma, gam("Gamma(link = log)")),
    "binary": Example(binary, gam("binomial()")),
    "factor": Example(factor, gam("gaussian()", "g + s(x1) + s(x2) + s(x3)"), ("x1", "x2", "x3")),
    "cyclic": Example(
        cyclic,
        gam("gaussian()", 's(x0, bs = "cc", k = 20) + s(x1)', ", knots = list(x0 = c(0, 1))"),
        ("x0", "x1"),
    ),
    "tweedie": Example(tweedie, gam('Tweedie(p = 1.5, link = "log")')),
    "negative-binomial": Example(negative_binomial, gam("nb()")),
    "ordered": Example(ordered, gam("ocat(R = 4)")),
}

SCRIPT = """
suppressMessages(library(mgcv))
d <- read.csv("{name}.csv", stringsAsFactors = TRUE)
m <- {call}
s <- summary(m)
new <- d[rep(1, {n}), ]
for (x in c({smooths})) new[[x]] <- c({at})
p <- predict(m, new, type = "terms", se.fit = TRUE)
cat("scale", m$sig2, "\\n")
cat("deviance_explained", s$dev.expl, "\\n")
for (x in c({smooths})) {{
  j <- paste0("s(", x, ")")
  cat("edf", x, s$s.table[j, "edf"], "\\n")
  cat("p", x, s$s.table[j, "p-value"], "\\n")
  cat("fit", x, p$fit[, j], "\\n")
  cat("se", x, p$se.fit[, j], "\\n")
}}
for (x in c({plain})) {{
  without <- update(m, as.formula(paste0(". ~ . - s(", x, ")")))
  cat("aic", x, AIC(m) - AIC(without), "\\n")
}}
"""


def made_by_r(name, folder):
    """The numbers of mgcv for one example."""
    example = EXAMPLES[name]
    example.make().to_csv(Path(folder) / f"{name}.csv", index=False)
    smooths = ", ".join(f'"{x}"' for x in example.smooths)
    plain = ", ".join(f'"{x}"' for x in example.smooths if f"s({x})" in example.call)
    at = ", ".join(map(str, AT))
    script = SCRIPT.format(
        name=name, call=example.call, smooths=smooths, plain=plain, n=len(AT), at=at
    )
    out = subprocess.run(
        ["Rscript", "-"], input=script, cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    found = {"call": example.call, "edf": {}, "p": {}, "fit": {}, "se": {}, "aic": {}}
    for line in out.splitlines():
        what, *rest = line.split()
        if what in ("scale", "deviance_explained"):
            found[what] = float(f"{float(rest[0]):.6g}")
        elif what in found:
            values = [float(f"{float(value):.6g}") for value in rest[1:]]
            found[what][rest[0]] = values if len(values) > 1 else values[0]
    return found


def main():
    with TemporaryDirectory() as folder:
        found = {name: made_by_r(name, folder) for name in EXAMPLES}
    version = subprocess.run(
        ["Rscript", "-e", 'cat(as.character(packageVersion("mgcv")))'],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    FROZEN.write_text(json.dumps({"mgcv": version, "examples": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
