"""What every linear model says of constant, nearly constant and nearly collinear columns.

    python -m benchmarks.near_collinear [--kernels Haswell Nehalem …] [--every 1]

The columns are x₁, x₂ and a third: x₁ + δz (nearly collinear), o + δz (nearly constant), or o
(constant), in units of ``scale``, with offsets and with weights or without.  y depends on z.  A fit
is compared with the same model on x₁, x₂ and z̃, which is the third column minus x₁ (or o) over δ,
computed in extended precision from the cells as they are; its coefficients are those of the nearly
dependent columns after an exact change of variables.

A fit is *right* if no coefficient is further from it than 0.001 of its standard error, or of its
size; *said* if a true warning was given: that columns are dependent (they are within rounding),
nearly dependent, with the digits that are left, or that a search did not converge; and *wrong*
otherwise.  Each BLAS kernel runs in a process of its own, and must decide as the others do.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import likely
from likely.errors import RedundantColumns

N = 120
DISTANCES = tuple(10.0**-k for k in range(3, 16))
SCALES = (1e-8, 1.0, 1e8)
OFFSETS = (0.0, 1e3, 1e9)
KERNELS = ("Haswell", "Zen", "Nehalem", "Prescott")
NEAR = 1e-3  # of a standard error
ROUNDING = 16.0  # ulps of the largest cell: a column that close to others is dependent on them


class Case(NamedTuple):
    """A third column."""

    kind: str  # collinear, constant
    distance: float  # 0 for a constant
    scale: float
    offset: float
    weighted: bool

    def __str__(self) -> str:
        weights = ", weights" if self.weighted else ""
        where = f"scale {self.scale:g}, offset {self.offset:g}{weights}"
        return f"{self.kind} {self.distance:.0e}, {where}"


class Data(NamedTuple):
    """The design of a case, the one it is compared with, and the responses."""

    X: Any
    plain: Any  # x₁, x₂, z̃, all of size 1 and centred
    weight: Any
    eta: Any
    dependent: bool  # whether the third column is within rounding of others


def cases() -> Iterator[Case]:
    for scale, weighted in product(SCALES, (False, True)):
        for offset, distance in product(OFFSETS, DISTANCES):
            yield Case("collinear", distance, scale, offset, weighted)
        for distance in (*DISTANCES, 0.0):
            yield Case("constant", distance, scale, 1.0, weighted)


def data_of(case: Case) -> Data:
    rng = np.random.default_rng(7)
    x, z, weight = rng.normal(size=(N, 2)), rng.normal(size=N), rng.uniform(0.2, 2.0, N)
    X = case.scale * (np.column_stack([x, np.zeros(N)]) + case.offset)
    base = X[:, 0].copy() if case.kind == "collinear" else np.full(N, case.scale * case.offset)
    X[:, 2] = base + case.scale * case.distance * z
    rest = (X[:, 2].astype(np.longdouble) - base) / case.scale
    size = float(np.sqrt(np.mean((rest - rest.mean()) ** 2)))
    ulps = ROUNDING * np.finfo(float).eps * float(np.abs(X[:, [0, 2]]).max()) / case.scale
    plain = np.column_stack([x, z])
    if size > 0:
        inner = (X[:, :2] - case.scale * case.offset) / case.scale
        plain = np.column_stack([inner, (rest / case.distance).astype(float)])
    given = weight if case.weighted else None
    return Data(X, plain, given, 0.3 + 0.5 * x[:, 0] + 0.8 * z, size <= ulps)


class Model(NamedTuple):
    """A model with its settings and the draw of its responses."""

    make: Callable[..., Any]
    draw: Callable[[Any, Any], Any]
    solvers: tuple[str, ...]


SEARCHES = ("newton", "lbfgs", "proximal-newton", "coordinate-descent", "fista", "gradient-descent")


def _binary(eta: Any, rng: Any) -> Any:
    return (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(int)


def _ordered(eta: Any, rng: Any) -> Any:
    return np.digitize(eta + rng.logistic(size=N), [-0.7, 1.0])


MODELS: dict[str, Model] = {
    "linear": Model(
        likely.LinearRegression,
        lambda eta, rng: eta + rng.normal(size=N),
        ("auto", "normal-equations", "qr", "minimum-norm", *SEARCHES),
    ),
    "logit": Model(lambda **k: likely.LogisticRegression(l2=0.0, **k), _binary, SEARCHES),
    "firth": Model(
        lambda **k: likely.LogisticRegression(l2=0.0, firth=True, **k), _binary, ("auto",)
    ),
    "probit": Model(lambda **k: likely.GLM("bernoulli", "probit", **k), _binary, ("auto", "lbfgs")),
    "poisson": Model(
        lambda **k: likely.GLM("poisson", **k),
        lambda eta, rng: rng.poisson(np.exp(eta)),
        ("auto", "lbfgs"),
    ),
    "gamma": Model(
        lambda **k: likely.GLM("gamma", "log", **k),
        lambda eta, rng: rng.gamma(2.0, np.exp(eta) / 2),
        ("auto", "lbfgs"),
    ),
    "negative binomial": Model(
        lambda **k: likely.GLM("negative-binomial", **k),
        lambda eta, rng: rng.negative_binomial(2, 2 / (2 + np.exp(eta))),
        ("auto",),
    ),
    "softmax": Model(
        lambda **k: likely.SoftmaxRegression(l2=0.0, **k), _ordered, ("newton", "lbfgs", "fista")
    ),
    "ordinal": Model(
        lambda **k: likely.OrdinalRegression(l2=0.0, **k), _ordered, ("newton", "lbfgs")
    ),
}


class Outcome(NamedTuple):
    """What a fit did: right, said or wrong, and what was decided."""

    verdict: str
    decision: str


def outcome(name: str, solver: str, case: Case) -> Outcome:
    model, data = MODELS[name], data_of(case)
    y = model.draw(data.eta, np.random.default_rng(11))
    slow = (
        {"max_iter": 300} if solver in ("coordinate-descent", "fista", "gradient-descent") else {}
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = model.make(solver=solver, **slow).fit(data.X, y, data.weight)
    about = [each for each in caught if issubclass(each.category, RedundantColumns)]
    dropped = any("can be computed" in str(each.message) for each in about)
    nearly = any("can nearly" in str(each.message) for each in about)
    gave_up = any(issubclass(each.category, ConvergenceWarning) for each in caught)
    if name == "linear" and solver == "minimum-norm":  # which does not warn by its own wish
        dropped = fit.rank_ < 3
    decision = "dropped" if dropped else "nearly" if nearly else "kept"
    if gave_up:
        return Outcome("said", "not converged")
    if dropped:
        return Outcome("said" if data.dependent else "wrong", decision)
    reference = reference_fit(name, case)
    far = distance_between(fit, reference, case)
    verdict = "right" if far <= NEAR else "said" if nearly else "wrong"
    return Outcome(verdict, decision)


@cache
def reference_fit(name: str, case: Case) -> Any:
    """The model on the columns x₁, x₂ and z̃."""
    model, data = MODELS[name], data_of(case)
    y = model.draw(data.eta, np.random.default_rng(11))
    return model.make(solver="auto").fit(data.plain, y, data.weight)


def distance_between(fit: Any, reference: Any, case: Case) -> float:
    """The largest error of a coefficient in standard errors, after the change of variables."""
    found, wanted = np.atleast_2d(fit.coef_) * case.scale, np.atleast_2d(reference.coef_)
    moved = found.copy()
    moved[:, 2] *= case.distance
    if case.kind == "collinear":
        moved[:, 0] += found[:, 2]
    inference = reference.inference_
    error = np.nanmin(inference.standard_errors) if inference is not None else 0.1
    return float(np.abs(moved - wanted).max() / error)


def table(every: int = 1) -> dict[str, Outcome]:
    """The outcomes of all fits, or of every so many cases."""
    chosen = list(cases())[::every]
    return {
        f"{name} | {solver} | {case}": outcome(name, solver, case)
        for name, model in MODELS.items()
        for solver in model.solvers
        for case in chosen
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", nargs="*", default=list(KERNELS), help="of OpenBLAS")
    parser.add_argument("--every", type=int, default=1, help="run every so many cases [1]")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        json.dump(table(given.every), sys.stdout)
        return
    found = {}
    command = [
        sys.executable,
        "-m",
        "benchmarks.near_collinear",
        "--child",
        "--every",
        str(given.every),
    ]
    for kernel in given.kernels:
        environment = {**os.environ, "OPENBLAS_CORETYPE": kernel}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found[kernel] = {key: Outcome(*each) for key, each in json.loads(ran.stdout).items()}
    show(found)


def show(found: dict[str, dict[str, Outcome]]) -> None:
    first = next(iter(found.values()))
    print("| model | solver | fits | right | said | wrong | decided differently |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, model in MODELS.items():
        for solver in model.solvers:
            keys = [key for key in first if key.startswith(f"{name} | {solver} | ")]
            counts = Counter(each[key].verdict for each in found.values() for key in keys)
            other = [k for k in keys if len({each[k].decision for each in found.values()}) > 1]
            row = (
                len(keys) * len(found),
                counts["right"],
                counts["said"],
                counts["wrong"],
                len(other),
            )
            print(f"| {name} | {solver} | " + " | ".join(map(str, row)) + " |")
    for kernel, each in found.items():
        for key, one in each.items():
            if one.verdict == "wrong":
                print(f"wrong on {kernel}: {key}: {one.decision}")
    for key in first:
        decisions = {kernel: each[key].decision for kernel, each in found.items()}
        if len(set(decisions.values())) > 1:
            print(f"differs: {key}: {decisions}")


if __name__ == "__main__":
    main()
