"""Scores of several predictors: they total the gradient, and leverage is an example's share."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks, Block
from likely.data.layouts.dense import Dense
from likely.likelihoods.ordinal import Ordinal
from likely.links import LINKS
from likely.objectives.maxent import MaxEntropyObjective
from likely.objectives.ordinal import OrdinalObjective
from likely.objectives.scores import (
    CHUNK_CELLS,
    block_scores_meat,
    block_scores_of_clusters,
    without_leverage,
)
from likely.objectives.softmax import SoftmaxObjective, block_class_weight
from likely.penalties import L2, NoPenalty

N, K, P = 40, 3, 2


def objectives(weighted=True):
    rng = np.random.default_rng(0)
    X, y = Dense(rng.normal(size=(N, P))), rng.integers(0, K, N)
    F = Dense(rng.normal(size=(N, K * P)))
    weight = rng.integers(1, 4, N).astype(float) if weighted else None
    group = rng.integers(0, 7, N)
    blocks = ArrayBlocks(X, y, weight, group=group)
    features = ArrayBlocks(F, y, weight, group=group)
    soft = ArrayBlocks(X, rng.dirichlet(np.ones(K), N), weight, group=group)
    return {
        "softmax": (SoftmaxObjective(K, NoPenalty(), blocks, Serial()), np.arange(6.0) / 5),
        "reference": (SoftmaxObjective(K, NoPenalty(), blocks, Serial(), 1), np.arange(4.0) / 5),
        "soft": (SoftmaxObjective(K, NoPenalty(), soft, Serial()), np.arange(6.0) / 5),
        "maxent": (MaxEntropyObjective(K, NoPenalty(), features, Serial()), np.array([0.3, -0.4])),
        **{
            f"ordinal {name}": (
                OrdinalObjective(Ordinal(K, LINKS[name]), NoPenalty(), blocks, Serial()),
                np.array([0.5, -0.3, 1.0, -0.7]),
            )
            for name in ("logit", "probit", "cauchit")
        },
    }


NAMES = list(objectives())


def row_derivatives(objective, theta):
    """u_i and J_i of each row, from the objective of that row alone."""
    blocks = objective.blocks
    rows = ArrayBlocks(blocks.X, blocks.y, None, rows_per_block=1)
    parts = [objective.terms.second_order(theta, block) for block in rows]
    return np.array([p.gradient for p in parts]), np.array([p.hessian for p in parts])


@pytest.mark.parametrize("name", NAMES)
def test_the_scores_of_clusters_total_the_gradient(name):
    objective, theta = objectives()[name]
    clusters = block_scores_of_clusters(objective.scoring, theta, next(iter(objective.blocks)))
    assert clusters.codes.tolist() == list(range(7))
    assert_allclose(
        clusters.scores.sum(axis=0), objective.first_order(theta).gradient, rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name != "soft"])
@pytest.mark.parametrize("exponent", [0, 1, 2])
def test_the_meat_is_that_of_rows_left_out_one_by_one(name, exponent):
    """HC3: (H − J_i)⁻¹u_i = B ũ_i.  HC2 by the power series of (I − J_iB)^(−½)."""
    objective, theta = objectives()[name]
    u, J = row_derivatives(objective, theta)
    weight, p = objective.blocks.weight, theta.size
    H = objective.total(objective.terms.second_order, theta).hessian + 30.0 * np.eye(p)
    moved = []
    for score, part in zip(u, J, strict=True):
        if exponent == 2:
            score = H @ np.linalg.solve(H - part, score)
        elif exponent == 1:
            values, vectors = np.linalg.eig(np.eye(p) - part @ np.linalg.inv(H))
            score = np.real(vectors @ (np.linalg.solve(vectors, score + 0j) / np.sqrt(values + 0j)))
        moved.append(score)
    expected = np.einsum("n,ni,nj->ij", weight, moved, moved)
    root = np.linalg.cholesky(np.linalg.inv(H))
    term = partial(block_scores_meat, objective.scoring, theta, root, exponent)
    found = np.asarray(objective.executor.sum(term, objective.blocks).value)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_a_soft_label_is_the_row_in_each_class_by_its_share():
    objective, theta = objectives()["soft"]
    y, weight = objective.blocks.y, objective.blocks.weight
    X = np.repeat(objective.blocks.X.stored(), K, axis=0)
    rows = Block(Dense(X), np.tile(np.arange(K), N), (weight[:, None] * y).ravel())
    root = np.eye(theta.size) / 9
    (block,) = objective.blocks
    for exponent in (0, 1, 2):
        term = partial(block_scores_meat, objective.scoring, theta, root, exponent)
        assert_allclose(term(block).value, term(rows).value, rtol=1e-12, atol=1e-12)
    assert_allclose(block_class_weight(K, block).value, block_class_weight(K, rows).value)


def test_a_block_is_read_in_runs_of_rows(monkeypatch):
    objective, theta = objectives()["softmax"]
    (block,) = objective.blocks
    term = partial(block_scores_meat, objective.scoring, theta, np.eye(6), 2)
    whole = np.asarray(term(block).value)
    assert N * theta.size < CHUNK_CELLS
    monkeypatch.setattr("likely.objectives.scores.CHUNK_CELLS", 60)
    assert_allclose(term(block).value, whole, rtol=1e-12)


def test_an_example_that_fixes_its_own_fit_is_passed_as_it_is():
    slope, curvature = np.array([[0.5]]), np.array([[[4.0]]])
    for exponent in (1, 2):
        alone = without_leverage(slope, curvature, np.array([[[0.5]]]), exponent)  # h = 1
        assert_allclose(alone, slope)
        half = without_leverage(slope, curvature, np.array([[[np.sqrt(0.125)]]]), exponent)
        assert_allclose(half, slope / 0.5 ** (exponent / 2))


def test_a_penalty_is_no_part_of_the_scores():
    rng = np.random.default_rng(1)
    blocks = ArrayBlocks(Dense(rng.normal(size=(9, 2))), rng.integers(0, K, 9), group=np.arange(9))
    plain, ridged = (SoftmaxObjective(K, p, blocks, Serial()) for p in (NoPenalty(), L2(1.0)))
    (block,) = blocks
    theta = np.ones(6)
    assert_allclose(
        block_scores_of_clusters(ridged.scoring, theta, block).scores,
        block_scores_of_clusters(plain.scoring, theta, block).scores,
    )
