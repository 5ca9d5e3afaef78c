"""Update rules: torch's steps, their definitions, and the compiled twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import InvalidInput, UnknownName
from likely.fast.network import update as compiled_update
from likely.solvers.gradient_descent import FixedStep
from likely.solvers.minimise import minimise
from likely.solvers.updates import (
    UPDATES,
    AdaGrad,
    Adam,
    AdamW,
    Clip,
    Momentum,
    Nesterov,
    Plain,
    RMSProp,
    update_of,
)
from tests.solver_objectives import random_quadratic

seeds = st.integers(0, 9999)
RULES = {
    **UPDATES,
    "clip": Clip(0.5),
    "clip-adam": Clip(0.5) | Adam(0.8, 0.95, 1e-6),
    "clip-momentum": Clip(2.0) | Clip(0.7) | Momentum(0.5),
    "by-epoch": Momentum((0.5, 0.9)),
}


def steps(rule, gradients, rate=0.05, dtype=float, apply=None):
    """θ after each step, from 1, 2, 3, …."""
    theta = np.arange(1.0, gradients.shape[1] + 1).astype(dtype)
    slots, trace = rule.slots_for(theta), []
    for step, gradient in enumerate(gradients.astype(dtype), start=1):
        (apply or rule.apply)(theta, gradient, slots, step, rate)
        trace.append(theta.copy())
    return np.array(trace)


def torch_steps(make, gradients, *, clip=None):
    torch = pytest.importorskip("torch")
    theta = torch.arange(1.0, gradients.shape[1] + 1, dtype=torch.float64, requires_grad=True)
    optimiser, trace = make(torch.optim, [theta]), []
    for gradient in gradients:
        theta.grad = torch.tensor(gradient)
        if clip is not None:
            torch.nn.utils.clip_grad_norm_([theta], clip)
        optimiser.step()
        trace.append(theta.detach().numpy().copy())
    return np.array(trace)


SAME_IN_TORCH = {
    "sgd": (Plain(), lambda o, p: o.SGD(p, lr=0.05)),
    "momentum": (Momentum(0.8), lambda o, p: o.SGD(p, lr=0.05, momentum=0.8)),
    "nesterov": (Nesterov(0.8), lambda o, p: o.SGD(p, lr=0.05, momentum=0.8, nesterov=True)),
    "adagrad": (AdaGrad(), lambda o, p: o.Adagrad(p, lr=0.05)),
    "rmsprop": (RMSProp(0.95), lambda o, p: o.RMSprop(p, lr=0.05, alpha=0.95)),
    "adam": (Adam(0.85, 0.99), lambda o, p: o.Adam(p, lr=0.05, betas=(0.85, 0.99))),
    "adamw": (AdamW(weight_decay=0.1), lambda o, p: o.AdamW(p, lr=0.05, weight_decay=0.1)),
}


@pytest.mark.parametrize("name", SAME_IN_TORCH)
def test_every_step_is_that_of_torch(name):
    rule, make = SAME_IN_TORCH[name]
    gradients = np.random.default_rng(0).normal(size=(40, 5))
    gradients[3] = 0.0
    assert_allclose(steps(rule, gradients), torch_steps(make, gradients), rtol=1e-12)


def test_a_clipped_gradient_is_that_of_torch():
    gradients = np.random.default_rng(1).normal(size=(40, 5)) * np.geomspace(0.01, 100, 40)[:, None]
    expected = torch_steps(lambda o, p: o.Adam(p, lr=0.05), gradients, clip=0.5)
    # torch divides by ‖g‖ + 1e-6
    assert_allclose(steps(Clip(0.5) | Adam(), gradients), expected, rtol=1e-5)


@given(seed=seeds, name=st.sampled_from(sorted(RULES)), d=st.integers(1, 9))
def test_the_compiled_twin_takes_the_same_steps(seed, name, d):
    rule = RULES[name].at(1)
    gradients = np.random.default_rng(seed).normal(size=(12, d))
    kind, hyper = rule.compiled()
    assert hyper.shape == (8,)

    def apply(theta, gradient, slots, step, rate):
        compiled_update(kind, hyper, theta, gradient, slots, step, rate)

    for dtype, rtol in ((np.float64, 1e-13), (np.float32, 2e-6)):
        readable = steps(rule, gradients, dtype=dtype)
        twin = steps(rule, gradients, dtype=dtype, apply=apply)
        assert readable.dtype == twin.dtype == dtype
        assert_allclose(twin, readable, rtol=rtol, atol=rtol)


def test_without_clipping_the_twins_agree_bit_for_bit():
    gradients = np.random.default_rng(2).normal(size=(30, 7))
    for rule in UPDATES.values():
        kind, hyper = rule.compiled()

        def apply(*arguments, kind=kind, hyper=hyper):
            compiled_update(kind, hyper, *arguments)

        for dtype in (np.float32, np.float64):
            assert_array_equal(
                steps(rule, gradients, dtype=dtype),
                steps(rule, gradients, dtype=dtype, apply=apply),
                err_msg=f"{rule} {dtype}",
            )


@given(seed=seeds, d=st.integers(1, 5))
def test_momentum_0_is_gradient_descent(seed, d):
    objective, theta = random_quadratic(seed, d), np.ones(d)
    rate, rule = 0.5 / np.linalg.eigvalsh(objective.Q)[-1], Momentum(0.0)
    visited = []
    minimise(FixedStep(rate), objective, theta, tol=0, max_iter=10, watch=visited.append)
    slots = rule.slots_for(theta)
    for step in range(1, 11):
        rule.apply(theta, objective.first_order(theta).gradient, slots, step, rate)
        assert_allclose(theta, visited[step].theta, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("momentum", [0.5, 0.9])
def test_a_constant_gradient_leads_to_the_limiting_step(momentum):
    trace = steps(Momentum(momentum), np.tile([1.0, -2.0], (400, 1)), rate=0.1)
    limit = -0.1 * np.array([1.0, -2.0]) / (1 - momentum)
    assert_allclose(trace[-1] - trace[-2], limit, rtol=1e-9)


def test_momentum_may_change_by_epoch_and_the_last_holds_on():
    rule = Momentum((0.0, 0.5, 0.9))
    assert [rule.at(epoch).momentum for epoch in range(5)] == [0.0, 0.5, 0.9, 0.9, 0.9]
    assert (Clip(1.0) | rule).at(1) == Clip(1.0) | Momentum(0.5)
    assert Adam().at(3) == Adam()


def test_a_clipped_gradient_keeps_its_direction_and_a_short_one_is_untouched():
    gradient = np.array([3.0, 4.0])
    assert_allclose(Clip(1.0).clipped(gradient), [0.6, 0.8])
    assert Clip(5.0).clipped(gradient) is gradient
    assert_allclose(Clip(1.0).clipped(gradient.astype(np.float32) * 1e25), [0.6, 0.8], rtol=1e-6)


def test_a_gradient_that_is_no_number_reaches_theta_and_is_not_clipped_away():
    for rule in (Clip(1.0), Clip(1.0) | Adam()):
        theta, kind_and_hyper = np.ones(2), rule.compiled()
        for gradient in ([np.nan, 1.0], [np.inf, 1.0]):
            with np.errstate(invalid="ignore"):
                rule.apply(theta, np.array(gradient), rule.slots_for(theta), 1, 0.1)
            assert np.isnan(theta).any()
            theta = np.ones(2)
            compiled_update(
                *kind_and_hyper, theta, np.array(gradient), rule.slots_for(theta), 1, 0.1
            )
            assert np.isnan(theta).any()


@pytest.mark.parametrize("name", RULES)
def test_a_zero_gradient_from_the_start_moves_nothing_but_adamw(name):
    rule = RULES[name]
    trace = steps(rule, np.zeros((3, 2)))
    assert (trace[-1] == [1.0, 2.0]).all() == (name != "adamw")


def test_rules_by_name_and_the_order_of_a_chain():
    assert update_of("adam") == Adam()
    assert update_of(Clip(1.0)) == Clip(1.0)
    with pytest.raises(UnknownName, match="rmsprop"):
        update_of("rmsprob")
    with pytest.raises(InvalidInput, match="only Clip changes a gradient"):
        Adam() | Clip(1.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Momentum(1.0),
        lambda: Momentum(-0.1),
        lambda: Nesterov(np.nan),
        lambda: Momentum(()),
        lambda: Momentum((0.5, 1.5)),
        lambda: Adam(beta1=1.0),
        lambda: Adam(beta2=-0.1),
        lambda: Adam(epsilon=0.0),
        lambda: AdamW(weight_decay=-1.0),
        lambda: RMSProp(decay=2.0),
        lambda: AdaGrad(epsilon=-1.0),
        lambda: Clip(0.0),
        lambda: Clip(np.inf),
        lambda: update_of(0.9),
    ],
)
def test_settings_that_make_no_rule_are_refused(make):
    with pytest.raises(InvalidInput, match="expected"):
        make()
