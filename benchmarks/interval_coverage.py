"""How often the 95 % interval of each metric contains its expected value, by simulation.

    python -m benchmarks.interval_coverage [--samples 2000] [--cases TEXT] [--metrics NAME …]

A model is fixed, as a model is when sealed rows are scored.  Each sample draws n rows of its
population, and the interval is computed as ``likely final`` computes it.  The expected value of a
metric is its value on a million rows of the same population.

rows         logit of the truth                             what the model says
usual        N(0, 1.5²)                                     the truth
overconfident  N(0, 1.5²)                                   2 × the logit
rare         N(−3, 1), about 7 % of the second class        the truth
nearly perfect   ±N(7, 1)                                   the truth: it is wrong once in 700 rows
                 of wrong classes once in 200 rows          ±N(9, 1): far too certain
three classes  N(0, 1.5²) for each class                    the truth

Numbers are a mean exp(N(1, 0.6²)), with Gaussian errors, with errors of Student's t with 5 degrees
of freedom, nearly without errors, Poisson counts and gamma amounts.  In groups, the logit or the
mean has an effect of the group (standard deviation 1 and 0.5) that the model does not know.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, gammaln, log_expit, log_softmax

from likely.metrics import METRICS, BestConstant, Prediction, Truth
from likely.metrics.score import score_of

SAMPLES = 2000  # the standard error of a share of 0.95 is 0.005
POPULATION = 1_000_000
SIZES = (50, 100, 500, 5000)
GROUPS = ((10, 20), (30, 20), (100, 20))  # groups, and rows of each
WITHIN = (0.93, 0.99)
GAIN = "gain"
OF_CLASSES = ("log-loss", "brier", "accuracy", "auc", "f1")
OF_SEVERAL = ("log-loss", "brier", "accuracy", "auc", "macro-f1")
OF_NUMBERS = ("log-likelihood", "rmse", "mae", "r2")
OF_COUNTS = (*OF_NUMBERS, "poisson-deviance", "poisson-deviance-explained")
OF_AMOUNTS = (*OF_NUMBERS, "gamma-deviance", "gamma-deviance-explained")

Rows = tuple[Truth, Prediction]
Draw = Callable[[np.random.Generator, int, Any], Rows]  # with the effect of each row's group


class Case(NamedTuple):
    """A population of rows, and the metrics of its predictions."""

    draw: Draw
    metrics: tuple[str, ...]
    effect: float = 0.0  # standard deviation of the effects of groups


def two_classes(truth: Any, said: Any, rng: np.random.Generator) -> Rows:
    y = (rng.random(len(truth)) < expit(truth)).astype(np.int64)
    log_p = np.stack([log_expit(-said), log_expit(said)], axis=1)
    return Truth(y, None, ("no", "yes"), "binary"), Prediction.of_classes(log_p)


def usual(rng: np.random.Generator, n: int, effect: Any) -> Rows:
    eta = rng.normal(0, 1.5, n)
    return two_classes(eta + effect, eta, rng)


def overconfident(rng: np.random.Generator, n: int, effect: Any) -> Rows:
    eta = rng.normal(0, 1.5, n)
    return two_classes(eta + effect, 2 * eta, rng)


def rare(rng: np.random.Generator, n: int, effect: Any) -> Rows:
    eta = rng.normal(-3, 1, n)
    return two_classes(eta + effect, eta, rng)


def nearly_perfect(rng: np.random.Generator, n: int, effect: Any) -> Rows:
    eta = rng.choice([-1.0, 1.0], n) * rng.normal(7, 1, n)
    return two_classes(eta + effect, eta, rng)


def too_certain(rng: np.random.Generator, n: int, effect: Any) -> Rows:
    """The model is wrong once in 200 rows, and says once in 5,000."""
    side = rng.choice([-1.0, 1.0], n)
    return two_classes(side * 5.3 + effect, side * rng.normal(9, 1, n), rng)


def three_classes(rng: np.random.Generator, n: int, effect: Any) -> Rows:
    eta = rng.normal(0, 1.5, (n, 3))
    drawn = eta + rng.gumbel(size=eta.shape)
    drawn[:, 0] += effect
    truth = Truth(drawn.argmax(axis=1), None, ("a", "b", "c"), "classes")
    return truth, Prediction.of_classes(log_softmax(eta, axis=1))


def gaussian(rng: np.random.Generator, n: int, effect: Any, spread: float = 1.0) -> Rows:
    mean = np.exp(rng.normal(1, 0.6, n))
    return _measured(mean + effect + spread * rng.normal(size=n), mean, spread)


def heavy_tails(rng: np.random.Generator, n: int, effect: Any) -> Rows:
    mean = np.exp(rng.normal(1, 0.6, n))
    return _measured(mean + effect + rng.standard_t(5, n), mean, np.sqrt(5 / 3))


def nearly_exact(rng: np.random.Generator, n: int, effect: Any) -> Rows:
    return gaussian(rng, n, effect, 0.01)


def counts(rng: np.random.Generator, n: int, effect: Any) -> Rows:
    mean = np.exp(rng.normal(1, 0.6, n))
    y = rng.poisson(mean * np.exp(effect)).astype(float)
    log_p = y * np.log(mean) - mean - gammaln(y + 1)
    return Truth(y, kind="count"), Prediction.of_numbers(mean, log_p)


def amounts(rng: np.random.Generator, n: int, effect: Any) -> Rows:
    mean = np.exp(rng.normal(1, 0.6, n))
    y = mean * np.exp(effect) * rng.gamma(2.0, 0.5, n)
    log_p = 2 * np.log(2 / mean) + np.log(y) - 2 * y / mean
    return Truth(y, kind="positive"), Prediction.of_numbers(mean, log_p)


def _measured(y: Any, mean: Any, spread: float) -> Rows:
    log_p = -0.5 * np.log(2 * np.pi * spread**2) - np.square((y - mean) / spread) / 2
    return Truth(y, kind="real"), Prediction.of_numbers(mean, log_p)


CASES = {
    "usual": Case(usual, OF_CLASSES, 1.0),
    "overconfident": Case(overconfident, OF_CLASSES),
    "rare": Case(rare, OF_CLASSES),
    "nearly perfect": Case(nearly_perfect, OF_CLASSES, 1.0),
    "nearly perfect, too certain": Case(too_certain, OF_CLASSES),
    "three classes": Case(three_classes, OF_SEVERAL),
    "Gaussian": Case(gaussian, OF_NUMBERS, 0.5),
    "heavy tails": Case(heavy_tails, OF_NUMBERS),
    "nearly exact": Case(nearly_exact, OF_NUMBERS),
    "counts": Case(counts, OF_COUNTS, 0.5),
    "amounts": Case(amounts, OF_AMOUNTS),
}


def coverage(
    name: str,
    n: int,
    *,
    n_groups: int | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    metrics: Sequence[str] = (),
    population: int = POPULATION,
) -> dict[str, float]:
    """The share of intervals that contain the expected value, by metric, and of the gain."""
    case, rng = CASES[name], np.random.default_rng(seed)
    wanted = [METRICS[m] for m in case.metrics if not metrics or m in metrics]
    expected = _expected(name, population, n_groups is not None)
    hits = dict.fromkeys([*(m.name for m in wanted), GAIN], 0)
    for _ in range(samples):
        groups = None if n_groups is None else np.arange(n) % n_groups
        truth, prediction = _sample(case, rng, groups, n)
        score = score_of(
            wanted, truth, prediction, expected.constant.prediction(truth), groups=groups
        )
        found = {**score.estimates, GAIN: score.gain}
        for metric, each in found.items():
            hits[metric] += bool(each.low <= expected.values[metric] <= each.high)
    return {metric: n_hit / samples for metric, n_hit in hits.items()}


class Expected(NamedTuple):
    """What holds in the whole population."""

    constant: BestConstant
    values: dict[str, float]  # by metric


@cache
def _expected(name: str, n: int, grouped: bool) -> Expected:
    case, rng = CASES[name], np.random.default_rng(1)
    groups = np.arange(n) % (n // 20) if grouped else None
    truth, prediction = _sample(case, rng, groups, n)
    best = BestConstant.of(truth)
    found = {}
    for name in case.metrics:
        metric = METRICS[name]
        found[name] = metric.value(metric.statistics(truth, prediction))
    gain = prediction.gain_over(best.prediction(truth), truth)
    return Expected(best, {**found, GAIN: float(gain.mean())})


def _sample(case: Case, rng: np.random.Generator, groups: Any, n: int) -> Rows:
    if groups is None:
        return case.draw(rng, n, 0.0)
    return case.draw(rng, n, rng.normal(0, case.effect, int(groups.max()) + 1)[groups])


def table(
    samples: int, cases: Iterable[str], metrics: Sequence[str]
) -> Iterable[tuple[str, str, dict[str, float]]]:
    for name in cases:
        for n in SIZES:
            yield name, f"{n:,} rows", coverage(name, n, samples=samples, metrics=metrics)
        for n_groups, size in GROUPS if CASES[name].effect else ():
            found = coverage(
                name, n_groups * size, n_groups=n_groups, samples=samples, metrics=metrics
            )
            yield name, f"{n_groups} groups of {size}", found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    parser.add_argument("--metrics", nargs="*", default=[])
    given = parser.parse_args()
    for name, size, found in table(given.samples, given.cases, given.metrics):
        marked = (
            f"{metric} {share:.3f}{'' if WITHIN[0] <= share <= WITHIN[1] else '*'}"
            for metric, share in found.items()
        )
        print(f"{name:28} {size:16} {'  '.join(marked)}", flush=True)


if __name__ == "__main__":
    main()
