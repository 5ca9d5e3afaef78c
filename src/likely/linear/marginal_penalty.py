"""``l2="auto"``: one strength for all coefficients, by the marginal likelihood of the rows.

    β ~ N(0, φ/λ I)        p(y | X, λ) = ∫ p(y | X, β) p(β | λ) dβ

The largest one is found from totals (``fitting/smoothing.py``), with the dispersion φ estimated, of
counts too.  Several classes have a rule of their own, which keeps to the constant unless the
evidence for the columns is strong (``softmax.py``).
"""

import numpy as np

from likely.data.block import ArrayBlocks
from likely.errors import InvalidInput
from likely.fitting.driver import DesignRows
from likely.fitting.smoothing import smooth
from likely.likelihoods.base import Likelihood
from likely.linear.fit import Penalised, Specify, is_auto, is_penalised

USUAL = 1.0  # λ where there is nothing to choose
MOST_CHOSEN = 2_000  # coefficients whose λ is sought: each step factorises their Hessian


def forget_choice(model: Penalised) -> None:
    """Forget the λ of an earlier fit; one that is to be chosen is the usual one at first."""
    if is_auto(model.l2):
        model.l2_ = USUAL  # type: ignore[attr-defined]  # as a fit stores it
    elif "l2_" in vars(model):
        del model.l2_  # type: ignore[attr-defined]


def choose_strength(
    model: Penalised, specify: Specify, rows: DesignRows, likelihood: Likelihood | None
) -> None:
    """Store the one λ that the marginal likelihood of the rows prefers, where it is to be chosen.

    ``likelihood`` is that of one predictor, whose dispersion is estimated, also of counts.
    """
    if not is_auto(model.l2):
        return
    refuse_l1_beside_auto(model)
    several = isinstance(rows.blocks, ArrayBlocks) and np.ndim(rows.blocks.target) > 1
    if several and likelihood is not None:
        raise InvalidInput(
            "y has several columns and l2='auto'; the marginal likelihood is that of one. "
            "Give l2 as a number, or fit one column at a time."
        )
    if rows.blocks.n_features > MOST_CHOSEN:
        return
    classes = likelihood is None or likelihood.response.has_trials
    with rows.executor.session():
        specification = specify(rows)
        problem, start = specification.begin(specification.problem())
        group = np.where(problem.penalty.curvature(np.zeros(start.size)) > 0, 0, -1)
        if (group == 0).any():
            found = smooth(problem, start, group, likelihood=likelihood, quasi=not classes)
            model.l2_ = float(found.strength[0])  # type: ignore[attr-defined]


def refuse_l1_beside_auto(model: Penalised) -> None:
    if is_penalised(model.l1):
        raise InvalidInput(
            f"l1={model.l1!r} and l2='auto' were given; the marginal likelihood that chooses l2 is "
            "that of a ridge alone. Give l2 as a number, or leave l1 out."
        )
