"""Update rules on tensors, for several networks with rates of their own.

The formulas, the kinds and the order of ``hyper`` are those of ``solvers/updates.py``.  θ and each
slot are (n_networks, p).  What depends on the number of the step is computed on the host, for all
steps of an epoch at once, so that a step reads numbers that are on the device already.
"""

from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.solvers.updates import (
    ADAGRAD,
    ADAM,
    ADAMW,
    CLIP_AT,
    MOMENTUM,
    NESTEROV,
    PLAIN,
    RMSPROP,
    Compiled,
)


class StepNumbers(NamedTuple):
    """The factors of one step, or with one more axis before of several."""

    length: Any  # η, for Adam η / (1 − β₁ᵗ), (n_networks, 1)
    root: Any  # √(1 − β₂ᵗ), 1 but for Adam, (1, 1)
    shrink: Any  # η λ, 0 but for AdamW, (n_networks, 1)


def step_numbers(rule: Compiled, rates: Array, first_step: int, n_steps: int) -> StepNumbers:
    """The factors of the steps from ``first_step`` on, which counts from 1, in float64."""
    kind, hyper = rule
    shape = (n_steps, len(rates), 1)
    length = np.broadcast_to(np.asarray(rates, dtype=np.float64)[:, None], shape)
    root, shrink = np.ones((n_steps, 1, 1)), np.zeros(shape)
    if kind in (ADAM, ADAMW):
        step = np.arange(first_step, first_step + n_steps, dtype=np.float64)[:, None, None]
        shrink = length * (hyper[3] if kind == ADAMW else 0.0)
        length, root = length / (1 - hyper[1] ** step), np.sqrt(1 - hyper[2] ** step)
    return StepNumbers(length, root, shrink)


def take_step(rule: Compiled, theta: Any, gradient: Any, slots: Any, now: StepNumbers) -> None:
    """Overwrite θ and the slots (n_slots, n_networks, p); the gradient may be overwritten."""
    kind, hyper = rule.kind, [float(number) for number in rule.hyper]
    if hyper[CLIP_AT] > 0:
        gradient.mul_(_clip_factor(hyper[CLIP_AT], gradient))
    if kind == PLAIN:
        theta.addcmul_(gradient, now.length, value=-1)
    elif kind in (MOMENTUM, NESTEROV):
        _roll(theta, gradient.mul_(now.length), slots[0], hyper[0], ahead=kind == NESTEROV)
    elif kind in (ADAGRAD, RMSPROP):
        if kind == RMSPROP:
            slots[0].mul_(hyper[1])
        slots[0].addcmul_(gradient, gradient, value=1.0 if kind == ADAGRAD else 1 - hyper[1])
        theta.addcdiv_(gradient.mul_(now.length), slots[0].sqrt().add_(hyper[0]), value=-1)
    else:
        assert kind in (ADAM, ADAMW)
        if kind == ADAMW:
            theta.addcmul_(theta, now.shrink, value=-1)
        mean, squares = slots[0], slots[1]
        mean.mul_(hyper[1]).add_(gradient, alpha=1 - hyper[1])
        squares.mul_(hyper[2]).addcmul_(gradient, gradient, value=1 - hyper[2])
        below = squares.sqrt().div_(now.root).add_(hyper[0])
        theta.addcdiv_(mean * now.length, below, value=-1)


def _roll(theta: Any, move: Any, delta: Any, momentum: float, *, ahead: bool) -> None:
    """Δ ← ν Δ − η g, and θ ← θ + Δ, or θ − η g + ν Δ; ``move`` is η g."""
    delta.mul_(momentum).sub_(move)
    if ahead:
        theta.add_(delta, alpha=momentum).sub_(move)
    else:
        theta.add_(delta)


def _clip_factor(norm: float, gradient: Any) -> Any:
    """c / ‖g‖ where the gradient of a network is longer than c, else 1; (n_networks, 1)."""
    length = gradient.double().square().sum(dim=1, keepdim=True).sqrt()
    return (norm / length).clamp(max=1.0).to(gradient.dtype)
