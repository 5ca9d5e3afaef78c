"""The temperature of a classifier whose fits are not functions of totals: by refits.

    row i is scored by the fit without its fold:   s_ik = log p(x_i, k) − log π_k

The formula and its reasons are in ``likely.objectives.evidence``, which needs no refits.
"""

from typing import Any

import numpy as np
from sklearn.base import clone

from likely._typing import Array, Codes
from likely.data.copies import copies_in
from likely.data.split import FOLD_SEED, fold_of
from likely.inputs.estimators import countable
from likely.inputs.labels import codes_among
from likely.inputs.numbers import check_weight
from likely.inputs.tables import own_columns, rows_at
from likely.objectives.cooled_evidence import CooledEvidence
from likely.objectives.evidence import LOWEST_SCORE, N_FOLDS, ScoredRows, cooled_by_scores


def cooled_by_refits(model: Any, X: Any, y: Any, sample_weight: Any) -> CooledEvidence:
    """The temperature of a fitted model for the rows of its fit, as its fit was given them."""
    X, y, sample_weight = own_columns(X, y, sample_weight)
    X, n_rows = countable(X)
    classes = model.classes_
    unfitted = clone(model).set_params(calibrate=None, target=model.target_)
    codes = codes_among(y, classes, n_rows=n_rows)
    weight = check_weight(sample_weight, n_rows=n_rows)
    parts = scored_by_refits(unfitted, X, codes, classes, weight)
    weights = np.ones(n_rows) if weight is None else weight
    return cooled_by_scores(parts, np.bincount(codes, weights, minlength=len(classes)))


def scored_by_refits(
    unfitted: Any, X: Any, codes: Codes, classes: Array, weight: Array | None
) -> list[ScoredRows]:
    """The rows of each fold, scored by a fit to the others."""
    weights = np.ones(len(codes)) if weight is None else weight
    fold = fold_of(0, len(codes), FOLD_SEED, N_FOLDS)
    copies = copies_in(X)
    fold = fold if copies is None else fold[copies]
    parts = []
    for held in np.unique(fold):
        seen, new = (np.flatnonzero(mask & (weights > 0)) for mask in (fold != held, fold == held))
        new = new[np.isin(codes[new], codes[seen])]
        if len(np.unique(codes[seen])) < 2 or not len(new):
            continue
        given = None if weight is None else weights[seen]
        model = unfitted.fit(rows_at(X, seen), classes[codes[seen]], sample_weight=given)
        known = codes_among(model.classes_, classes)
        score, log_prior = np.full((2, len(new), len(classes)), LOWEST_SCORE)
        log_prior[:, known] = np.maximum(model.class_log_prior_, LOWEST_SCORE)
        joint = model.predict_joint_log_proba(rows_at(X, new))
        impossible = np.isneginf(joint.max(axis=1, keepdims=True))
        evidence = np.where(impossible, 0.0, joint) - log_prior[:, known]
        top = evidence.max(axis=1, keepdims=True)
        score[:, known] = np.maximum(evidence - top, LOWEST_SCORE)
        parts.append(ScoredRows(score, log_prior, codes[new], weights[new]))
    return parts
