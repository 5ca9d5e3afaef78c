"""Threads against one core, on the fits that pass over many rows.

One core is the serial executor with BLAS held to one thread; threads is this machine's cores,
each with one BLAS thread.  Both must give the same answer.
"""

from collections.abc import Callable
from typing import Any

from threadpoolctl import ThreadpoolController

from benchmarks import ours
from benchmarks.bench_gaussian_mixture import CASES
from benchmarks.objectives import Array, GaussianMix
from benchmarks.problems import Clustered, Labelled, categorical_classes, clusters, gaussian_classes
from benchmarks.report import Report, Row
from benchmarks.workbench import Timed, Work, best_of
from likely.compute.executor import usable_cores

ROWS, FEATURES, CLASSES = 2_000_000, 50, 2
ITERATIONS = 5
REPEATS = 5

Fit = Callable[[Array, Array, str], Any]


def measure(shrink: int) -> Report:
    n = ROWS // shrink
    case = CASES[0].sizes(shrink)
    return Report(
        "Threads",
        f"`executor='threads'` on {usable_cores()} cores against `executor='serial'` with BLAS "
        "on one thread; the ratio is the speed-up.",
        [
            _classifier(
                "Gaussian",
                gaussian_classes(n, FEATURES, CLASSES),
                ours.gaussian_naive_bayes,
                ours.gaussian_classes,
            ),
            _classifier(
                "categorical",
                categorical_classes(n, FEATURES, CLASSES),
                ours.categorical_naive_bayes,
                ours.categorical_classes,
            ),
            _mixture(clusters(case["rows"], case["features"], case["components"])),
        ],
        theirs="one core",
        sizes={"rows": n, "features": FEATURES, "mixture": dict(case)},
    )


def _classifier(name: str, problem: Labelled, fit: Fit, parameters: Callable[[Any], Any]) -> Row:
    def work(executor: str) -> Work:
        own = problem.copy()
        return lambda: parameters(fit(own.X, own.y, executor))

    best = _both(work)
    values = {side: timed.answer.value(*problem) for side, timed in best.items()}
    n, d = problem.X.shape
    return _row(f"{name} naive Bayes, {n:,} × {d}", best, values)


def _mixture(problem: Clustered) -> Row:
    def work(executor: str) -> Work:
        X = problem.X.copy()

        def fit() -> GaussianMix:
            return ours.gaussian_mix(ours.gaussian_mixture(X, problem.start, ITERATIONS, executor))

        return fit

    best = _both(work)
    values = {name: timed.answer.value(problem.X) for name, timed in best.items()}
    k = len(problem.start.mixing)
    n, d = problem.X.shape
    return _row(f"Gaussian mixture, {n:,} × {d}, k = {k}, {ITERATIONS} iterations", best, values)


def _both(work: Callable[[str], Work]) -> dict[str, Timed]:
    controller = ThreadpoolController()  # made before the clock runs: it costs milliseconds

    def one_core() -> Work:
        fit = work("serial")

        def held() -> Any:
            with controller.limit(limits=1, user_api="blas"):
                return fit()

        return held

    return best_of(REPEATS, {"theirs": one_core, "ours": lambda: work("threads")})


def _row(work: str, best: dict[str, Timed], values: dict[str, float]) -> Row:
    return Row(
        work=work,
        ours=best["ours"].seconds,
        theirs=best["theirs"].seconds,
        our_answer=values["ours"],
        their_answer=values["theirs"],
    )
