"""Threads against one core, on the fits that pass over many rows.

One core is the serial executor with BLAS held to one thread; threads is this machine's cores,
each with one BLAS thread.  Both must give the same answer.
"""

from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks import ours
from benchmarks.bench_gaussian_mixture import CASES
from benchmarks.objectives import GaussianMix
from benchmarks.problems import Clustered, Labelled, categorical_classes, clusters, gaussian_classes
from benchmarks.report import Report, Row
from benchmarks.workbench import Timed, Work, best_of
from likely.compute.threads import usable_cores

ROWS, FEATURES, CLASSES = 2_000_000, 50, 2
ITERATIONS = 5
REPEATS = 5


def measure(shrink: int) -> Report:
    n = ROWS // shrink
    case = CASES[0].sizes(shrink)
    return Report(
        "Threads",
        f"`executor='threads'` on {usable_cores()} cores against `executor='serial'` with BLAS "
        "on one thread; the ratio is the speed-up.",
        [
            _gaussian(gaussian_classes(n, FEATURES, CLASSES)),
            _categorical(categorical_classes(n, FEATURES, CLASSES)),
            _mixture(clusters(case["rows"], case["features"], case["components"])),
        ],
        theirs="one core",
        sizes={"rows": n, "features": FEATURES, "mixture": dict(case)},
    )


def _gaussian(problem: Labelled) -> Row:
    def work(executor: str) -> Work:
        own = problem.copy()
        return lambda: ours.gaussian_classes(ours.gaussian_naive_bayes(*own, executor))

    best = _both(work)
    values = {name: timed.answer.value(*problem) for name, timed in best.items()}
    return _row(f"Gaussian naive Bayes, {_shape(problem)}", best, values)


def _categorical(problem: Labelled) -> Row:
    def work(executor: str) -> Work:
        own = problem.copy()
        return lambda: ours.categorical_classes(ours.categorical_naive_bayes(*own, executor))

    best = _both(work)
    values = {name: timed.answer.value(*problem) for name, timed in best.items()}
    return _row(f"categorical naive Bayes, {_shape(problem)}", best, values)


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
    def one_core() -> Work:
        fit = work("serial")

        def held() -> Any:
            with threadpool_limits(1, user_api="blas"):
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


def _shape(problem: Labelled) -> str:
    n, d = problem.X.shape
    return f"{n:,} × {d}"
