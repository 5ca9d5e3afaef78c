"""
Calm and volatile states
========================

A sequence switches between two states with the same mean. A single row says little about its state;
the rows around it say much. The model learns both variances and how long a state lasts.
"""

import matplotlib.pyplot as plt
import numpy as np

import likely as lk

emission = lk.distributions.DiagonalGaussian([[0.0], [0.0]], [[1.0], [9.0]])
market = lk.HiddenMarkovModel.from_parameters([1, 0], [[0.985, 0.015], [0.02, 0.98]], emission)
X, state = market.sample(400, random_state=5)
model = lk.HiddenMarkovModel(2, random_state=0).fit(X)
volatile = model.parameters(0)["variance"].argmax()

figure, (above, below) = plt.subplots(
    2, sharex=True, figsize=(7, 4.5), layout="constrained", height_ratios=(2, 1)
)
time = np.arange(len(X))
above.plot(time, X[:, 0], color="0.3", linewidth=0.9)
above.set_ylabel("x")
below.fill_between(time, state, step="mid", color="0.85", label="true state")
below.plot(time, model.predict_proba(X)[:, volatile], color="C3", label="p(volatile | x)")
below.set_ylim(0, 1.05)
below.set_xlabel("row")
figure.legend(loc="outside upper right", ncols=2)

plt.show()
