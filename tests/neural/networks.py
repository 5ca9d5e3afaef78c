"""Small networks, targets and outputs of every kind."""

import numpy as np

from likely.neural.architecture import Architecture, initial_parameters
from likely.neural.formulas import NetworkRows
from likely.neural.outputs import output_of

N, D = 6, 3

# name: (arguments of output_of, y)
OUTPUTS = {
    "categorical": ({"n_classes": 3}, [0, 2, 1, 2, 0, 0]),
    "soft labels": (
        {"response": "categorical", "n_classes": 2},
        [[0.2, 0.8], [1, 0], [0.5, 0.5], [0, 1], [0.3, 0.7], [0.9, 0.1]],
    ),
    "bernoulli": ({"n_classes": 2}, [0, 1, 1, 0, 1, 0]),
    "bernoulli probit": ({"n_classes": 2, "link": "probit"}, [0, 1, 1, 0, 1, 0]),
    "bernoulli cloglog": ({"n_classes": 2, "link": "cloglog"}, [0, 1, 1, 0, 1, 0]),
    "gaussian": ({}, [0.3, -1.0, 2.0, 0.0, 1.5, 0.7]),
    "two gaussians": ({"n_outputs": 2}, np.linspace(-1, 1, 12).reshape(6, 2)),
    "poisson": ({"response": "poisson"}, [0, 3, 1, 0, 7, 2]),
    "gamma log": ({"response": "gamma", "link": "log"}, [0.3, 1.0, 2.0, 0.1, 1.5, 0.7]),
    "negative binomial": ({"response": "negative-binomial(0.5)"}, [0, 3, 1, 0, 7, 2]),
    "tweedie": ({"response": "tweedie(1.5)"}, [0, 3.5, 1, 0, 7.1, 2]),
    "ordinal": ({"response": "ordinal", "n_classes": 4}, [0, 3, 1, 2, 2, 0]),
    "ordinal probit": (
        {"response": "ordinal", "n_classes": 3, "link": "probit"},
        [0, 2, 1, 2, 2, 0],
    ),
    "square error, sigmoid": (
        {"response": "square-error-sigmoid", "n_classes": 2},
        [0, 1, 1, 0, 1, 0],
    ),
    "square error, softmax": (
        {"response": "square-error-softmax", "n_classes": 3},
        [0, 2, 1, 2, 0, 0],
    ),
}
COMPILED = ("categorical", "bernoulli", "gaussian", "two gaussians", "poisson")


def output_and_target(name):
    arguments, y = OUTPUTS[name]
    output = output_of(**arguments)
    return output, output.target(np.asarray(y))


def some_rows(output, y, *, seed=0, d=D, weighted=True):
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.2, 3.0, size=len(y)) if weighted else None
    return NetworkRows(rng.normal(size=(len(y), d)), y, weight)


def some_network(output, hidden=(4,), activation="tanh", *, d=D, seed=1, bias=True):
    architecture = Architecture.of(
        d,
        hidden,
        output.n_outputs,
        activation=activation,
        bias=bias,
        output_bias=bias and output.has_bias,
        n_extra=output.n_extra,
    )
    rng = np.random.default_rng(seed)
    extra = rng.normal(scale=0.5, size=output.n_extra)
    theta = initial_parameters(architecture, "glorot-normal", seed=seed, extra=extra)
    return architecture, theta + 0.1 * rng.normal(size=theta.size)  # biases are not 0


def many_rows(output_name, n, *, d=5, seed=0):
    """X, y and weights of any size, for an output of ``OUTPUTS``."""
    rng = np.random.default_rng(seed)
    output, y = output_and_target(output_name)
    return output, rng.normal(size=(n, d)), y[rng.integers(0, len(y), n)], rng.uniform(0, 3, n)
