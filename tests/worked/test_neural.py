"""Worked examples of neural networks.

Each test is named after its entry of ``worked_examples.json``, whose numbers are repeated here.
"""

import numpy as np
from numpy.testing import assert_allclose

from likely.neural.architecture import Architecture
from likely.neural.formulas import backward, forward
from likely.neural.outputs import output_of

EXACT = 1e-12
PRINTED = 1.5e-3  # the document rounds to three digits, some of them from rounded values


def test_mlp_2_2_3_tanh_softmax_step():
    """NN-8: one gradient step of a 2-2-3 network without biases, for the true class 3."""
    network = Architecture.of(2, (2,), 3, activation="tanh", bias=False)
    output = output_of(n_classes=3)
    W1, W2 = [[0.4, 0.87], [0.58, 0.34]], [[0.12, 0.87], [0.82, 0.31], [0.77, 0.9]]
    theta, x, y = network.pack([(W1, None), (W2, None)]), np.array([[0.3, 0.7]]), np.array([2])

    trace = forward(network, theta, x)
    loss, slope, _ = output.loss_and_slope(y, trace.eta, np.zeros(0))
    deltas, gradient = backward(network, theta, trace, slope)
    first, second = network.unpack(gradient)
    new = theta - 0.05 * gradient
    after = forward(network, new, x)

    assert_allclose(trace.a[0][0], [0.729, 0.412], rtol=EXACT, atol=EXACT)
    assert_allclose(
        trace.h[1][0], [0.6224531787838493, 0.39016953754161027], rtol=EXACT, atol=EXACT
    )
    eta = [0.41414187911526285, 0.6313641632406556, 0.8304415314510132]
    assert_allclose(trace.eta[0], eta, rtol=EXACT, atol=EXACT)
    p = [0.2660309971709184, 0.3305755138437882, 0.4033934889852934]
    assert_allclose(output.mean(trace.eta, np.zeros(0))[0], p, rtol=EXACT, atol=EXACT)
    assert_allclose(loss, 0.9078427939361262, rtol=EXACT, atol=EXACT)
    delta2 = [0.2660309971709184, 0.3305755138437882, -0.5966065110147065]
    assert_allclose(deltas[1][0], delta2, rtol=EXACT, atol=EXACT)
    assert_allclose(
        deltas[0][0], [-0.09579785427892948, -0.17211421448762393], rtol=EXACT, atol=EXACT
    )
    assert_allclose(
        first.weight[0], [-0.02873935628367884, -0.06705849799525063], rtol=EXACT, atol=EXACT
    )
    assert_allclose(
        first.weight[1], [-0.05163426434628718, -0.12047995014133674], rtol=EXACT, atol=EXACT
    )
    assert_allclose(
        second.weight[0], [0.16559183984407538, 0.10379719113791065], rtol=EXACT, atol=EXACT
    )
    assert_allclose(
        second.weight[2], [-0.37135961926424566, -0.23277768649692165], rtol=EXACT, atol=EXACT
    )
    new_loss = output.loss(y, after.eta, np.zeros(0))
    assert_allclose(new_loss, 0.8922676605145726, rtol=EXACT, atol=EXACT)

    printed = [0.401, 0.873, 0.583, 0.346, 0.112, 0.865, 0.81, 0.304, 0.789, 0.912]
    assert_allclose(new, printed, atol=PRINTED)
    assert_allclose([loss[0], new_loss[0], gradient[4]], [0.909, 0.892, 0.165], atol=PRINTED)


def test_network_weight_count():
    """NN-2: 15 weights of a 4-3-1 network without biases, 16 of a 3-3-1 network with them."""
    plain = Architecture.of(4, (3,), 1, activation="sigmoid", bias=False)
    assert plain.n_parameters_by_layer == (12, 3)
    assert plain.n_parameters == 15
    assert sum(plain.sizes[1:]) == 4  # vectors of weights, one for each unit after the input
    with_biases = Architecture.of(3, (3,), 1, activation="sigmoid")
    assert with_biases.n_parameters_by_layer == (12, 4)
    assert with_biases.n_parameters == 16


def test_xor_cascaded_logistic():
    """LR-15 as a network: two hidden sigmoid units, "or" and "not both", and an output "and"."""
    network = Architecture.of(2, (2,), 1, activation="sigmoid")
    theta = network.pack([([[20, 20], [-20, -20]], [-10, 30]), ([[20, 20]], [-30])])
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    trace = forward(network, theta, X)
    low, high, top = 4.5397868702434395e-05, 0.9999546021312976, 0.9999999999999065
    hidden = [[low, top], [high, high], [high, high], [top, low]]
    assert_allclose(trace.h[1], hidden, rtol=EXACT, atol=EXACT)
    mean = output_of(n_classes=2).mean(trace.eta, np.zeros(0))[:, 1]
    near_0, near_1 = 4.543910487654591e-05, 0.999954519621495
    assert_allclose(mean, [near_0, near_1, near_1, 4.543910487654575e-05], rtol=EXACT, atol=EXACT)
    assert (mean >= 0.5).tolist() == [False, True, True, False]
