"""What a fit on iris (150 × 4, three classes) costs, in a fresh process and in a warm one.

Cold: the wall time of a process that imports the estimator, reads the data and fits, above
that of ``python -c pass``.  Warm: the median of many fits, taken in turns.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, final

import numpy as np

from benchmarks import ours
from benchmarks.against import scikit_learn
from benchmarks.objectives import Array, GaussianMix
from benchmarks.problems import Labelled, iris
from benchmarks.report import Report, Row
from benchmarks.workbench import Work, best_process_times, clocked

COLD_REPEATS, WARM_REPEATS = 10, 300
ITERATIONS = 20  # of EM

SCRIPT = """
import numpy as np
{imports}
X, y = np.load({X!r}), np.load({y!r})
{fit}
"""


@final
@dataclass(frozen=True)
class Case:
    """The same fit in both libraries: as a script, as a call, and its answer."""

    work: str
    our_import: str
    our_fit: str
    their_import: str
    their_fit: str
    calls: Callable[[Labelled], tuple[Work, Work]]
    answer: Callable[[Any, Labelled], float]


def measure(shrink: int) -> Report:
    problem = iris()
    cold, warm = max(2, COLD_REPEATS // shrink), max(10, WARM_REPEATS // shrink)
    rows = []
    for case in CASES:
        rows.append(_cold(case, problem, cold))
        rows.append(_warm(case, problem, warm))
    return Report(
        "Small fits",
        "iris, 150 × 4. Cold: a process that imports, reads two arrays and fits, above "
        f"`python -c pass`; the best of {cold}. Warm: the median of {warm} fits. "
        "Nothing is compiled at this size.",
        rows,
        answer="the model's log score, nats per row",
        sizes={"rows": len(problem.X), "features": problem.X.shape[1]},
    )


def _cold(case: Case, problem: Labelled, repeats: int) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        X, y = str(Path(folder) / "X.npy"), str(Path(folder) / "y.npy")
        np.save(X, problem.X)
        np.save(y, problem.y)
        mine = SCRIPT.format(imports=case.our_import, X=X, y=y, fit=case.our_fit)
        other = SCRIPT.format(imports=case.their_import, X=X, y=y, fit=case.their_fit)
        best = best_process_times(
            repeats,
            {"pass": ["-c", "pass"], "theirs": ["-c", other], "ours": ["-c", mine]},
        )
    return Row(
        work=f"{case.work}, cold",
        ours=1e3 * (best["ours"] - best["pass"]),
        theirs=1e3 * (best["theirs"] - best["pass"]),
        unit="ms",
    )


def _warm(case: Case, problem: Labelled, repeats: int) -> Row:
    our_fit, their_fit = case.calls(problem)
    our_answer, their_answer = (case.answer(fit(), problem) for fit in (our_fit, their_fit))
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(repeats):
        seconds["theirs"].append(clocked(their_fit).seconds)
        seconds["ours"].append(clocked(our_fit).seconds)
    return Row(
        work=f"{case.work}, warm",
        ours=1e3 * median(seconds["ours"]),
        theirs=1e3 * median(seconds["theirs"]),
        unit="ms",
        our_answer=our_answer,
        their_answer=their_answer,
    )


def _naive_bayes_calls(problem: Labelled) -> tuple[Work, Work]:
    return (
        lambda: ours.gaussian_classes(ours.gaussian_naive_bayes(*problem)),
        lambda: scikit_learn.gaussian_classes(scikit_learn.gaussian_naive_bayes(*problem)),
    )


def _discriminant_calls(problem: Labelled) -> tuple[Work, Work]:
    return lambda: ours.discriminant(*problem), lambda: scikit_learn.discriminant(*problem)


def _mixture_calls(problem: Labelled) -> tuple[Work, Work]:
    X, start = problem.X, _mixture_start(problem.X)
    return (
        lambda: ours.gaussian_mix(ours.gaussian_mixture(X, start, ITERATIONS)),
        lambda: scikit_learn.gaussian_mix(scikit_learn.gaussian_mixture(X, start, ITERATIONS)),
    )


def _mixture_start(X: Array) -> GaussianMix:
    """Three rows as means, all with the covariance of the data."""
    return GaussianMix(np.full(3, 1 / 3), X[[0, 75, 140]], np.tile(np.cov(X.T), (3, 1, 1)))


def _log_posterior(model: Any, problem: Labelled) -> float:
    """(1/n) Σ log p(y_i | x_i)."""
    log_posterior = model.predict_log_proba(problem.X)
    return float(log_posterior[np.arange(len(problem.y)), problem.y].mean())


MIXTURE_SCRIPT_START = (
    "mixing, mean, covariance = np.full(3, 1 / 3), X[[0, 75, 140]], "
    "np.tile(np.cov(X.T), (3, 1, 1))\nimport warnings\nwarnings.simplefilter('ignore')\n"
)

CASES = (
    Case(
        "Gaussian naive Bayes",
        "from likely import NaiveBayes",
        "NaiveBayes(event='gaussian', variance_floor=0.0).fit(X, y)",
        "from sklearn.naive_bayes import GaussianNB",
        "GaussianNB(var_smoothing=0.0).fit(X, y)",
        _naive_bayes_calls,
        lambda parameters, problem: parameters.value(*problem),
    ),
    Case(
        "discriminant analysis, tied covariance",
        "from likely import DiscriminantAnalysis",
        "DiscriminantAnalysis().fit(X, y)",
        "from sklearn.discriminant_analysis import LinearDiscriminantAnalysis",
        "LinearDiscriminantAnalysis().fit(X, y)",
        _discriminant_calls,
        _log_posterior,
    ),
    Case(
        f"Gaussian mixture, {ITERATIONS} iterations",
        "from likely import GaussianMixture",
        MIXTURE_SCRIPT_START
        + "GaussianMixture(3, start=dict(mixing=mixing, mean=mean, covariance=covariance), "
        f"regularisation=0.0, tol=0.0, max_iter={ITERATIONS}).fit(X)",
        "from sklearn.mixture import GaussianMixture",
        MIXTURE_SCRIPT_START + "GaussianMixture(3, weights_init=mixing, means_init=mean, "
        "precisions_init=np.linalg.inv(covariance), reg_covar=0.0, tol=0.0, "
        f"max_iter={ITERATIONS}).fit(X)",
        _mixture_calls,
        lambda parameters, problem: parameters.value(problem.X),
    ),
)
