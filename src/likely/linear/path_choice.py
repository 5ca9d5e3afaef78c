"""Which penalty: the mean held-out deviance over folds, and the rule that chooses by it.

    mean_l = Σ_f W_f D_lf / Σ_f W_f        se_l² = Σ_f W_f (D_lf − mean_l)² / (Σ_f W_f (F − 1))

D_lf is the mean deviance of fold f at penalty l, and W_f the weight of its rows.  The rule of one
standard error takes the largest penalty whose mean is within one of the least.

References
----------
Breiman, Friedman, Olshen & Stone, Classification and Regression Trees, 1984, §3.4.3.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from likely._typing import Array
from likely.data.split import stratified_fold_of
from likely.errors import InvalidInput, UnknownName
from likely.opening import generator
from likely.validate import check_labels, label_array

RULES = ("one-standard-error", "best")
FOLD_SEED = 0

Folds = list[tuple[Array, Array]]  # rows to learn from, rows to predict


class Choice(NamedTuple):
    """The curve and what it says."""

    mean: Array  # (n_penalties,)
    standard_error: Array
    best: int
    chosen: int


def choose(deviance: Array, fold_weight: Array, rule: str) -> Choice:
    """From deviances, (n_penalties, n_folds), penalties falling."""
    mean = np.average(deviance, axis=1, weights=fold_weight)
    spread = np.average((deviance - mean[:, None]) ** 2, axis=1, weights=fold_weight)
    error = np.sqrt(spread / (deviance.shape[1] - 1))
    best = int(np.argmin(mean))
    within = int(np.argmax(mean <= mean[best] + error[best]))
    return Choice(mean, error, best, best if rule == "best" else within)


def check_rule(rule: str) -> None:
    if rule not in RULES:
        raise UnknownName("rule", rule, RULES)


def folds_of(cv: Any, X: Any, y: Any, *, present: Array, classes: bool, random_state: Any) -> Folds:
    """Shuffled folds, of equal shares of each class; or what the splitter gives.

    Rows that are not ``present`` are in no fold.
    """
    if present.sum() < 2:
        raise InvalidInput(
            "X has 1 sample of positive weight (n_samples = 1); folds need 2 or more rows, to "
            "learn from and to predict. Give more rows, or cv=None for the path alone."
        )
    if isinstance(cv, int | np.integer):
        codes = _codes(y, present) if classes else np.where(present, 0, -1)
        return _shuffled(int(cv), codes, random_state)
    folds = check_cv(cv, y, classifier=classes).split(X, y)
    kept = [tuple(np.asarray(rows)[present[rows]] for rows in parts) for parts in folds]
    if len(kept) < 2 or not all(len(rows) for parts in kept for rows in parts):
        raise InvalidInput(
            f"cv={cv!r} gives {len(kept)} folds, or one without rows; expected 2 or more, each "
            "with rows to learn from and to predict. Use 5."
        )
    return [(learn, held) for learn, held in kept]


def _codes(y: Any, present: Array) -> Array:
    """Class codes; −1 where the row is absent."""
    labels = label_array(y)
    codes = np.full(len(labels), -1)
    codes[present] = check_labels(labels[present]).codes
    if (np.bincount(codes[present]) == 1).any():
        raise InvalidInput(
            "A class has one row; folds need two or more of each class, to learn from and to "
            "predict. Give more rows, leave the class out, or use cv=None for the path alone."
        )
    return codes


def _shuffled(n_folds: int, codes: Array, random_state: Any) -> Folds:
    seed = FOLD_SEED if random_state is None else int(generator(random_state).integers(2**31))
    fold = np.full(len(codes), -1)
    fold[codes >= 0] = stratified_fold_of(codes[codes >= 0], seed, n_folds)
    each = [(np.flatnonzero((fold >= 0) & (fold != f)), fold == f) for f in range(n_folds)]
    return [(learn, np.flatnonzero(held)) for learn, held in each if held.any()]


def check_folds(cv: Any) -> None:
    """Before anything is computed."""
    number = isinstance(cv, int | np.integer) and not isinstance(cv, bool)
    if isinstance(cv, str | bool) or (number and cv < 2):
        raise InvalidInput(
            f"cv is {cv!r}; expected a number of folds, 2 or more, a splitter, or None for the "
            "path alone. Use 5."
        )
