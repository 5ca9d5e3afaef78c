"""
Surrogates for the zero-one loss
================================

The derivative of the zero-one loss is 0 almost everywhere, so an upper bound of it, as a
function of the margin, is minimised instead. The logistic loss is an upper bound only after
division by ln 2; without it (dotted) it is below 1 for margins between −0.54 and 0, which are
errors (shaded). The squared error of the sigmoid is not an upper bound, and it is flat where the
margin is worst.
"""

import matplotlib.pyplot as plt
import numpy as np

from likely.teaching import MARGIN_LOSSES

m = np.linspace(-4, 4, 1601)
labels = {
    "zero-one": "zero-one",
    "logistic": "logistic / ln 2",
    "hinge": "hinge",
    "squared": "squared",
    "sigmoid-squared": "sigmoid squared",
}

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for k, (name, label) in enumerate(labels.items()):
    loss = MARGIN_LOSSES[name]
    scale = loss.scale if name == "logistic" else 1.0
    color, width = ("black", 2.0) if name == "zero-one" else (f"C{k - 1}", 1.5)
    value, slope = loss.value(m) / scale, loss.slope(m) / scale
    left.plot(m, value, color=color, linewidth=width, label=label)
    if name != "zero-one":
        slope[np.append(np.abs(np.diff(slope)) > 0.5, False)] = np.nan  # no line across a jump
        right.plot(m, slope, color=color)
logistic = MARGIN_LOSSES["logistic"].value(m)
left.plot(m, logistic, ":", color="C0", label="logistic, in nats")
below = (m < 0) & (logistic < 1)
left.fill_between(m[below], logistic[below], 1, color="C0", alpha=0.3, linewidth=0)
left.set(ylim=(-0.1, 4), xlabel="margin s·a", ylabel="loss", title="value")
right.axhline(0, color="0.7", linewidth=0.8, zorder=0)
right.set(ylim=(-3, 1.5), xlabel="margin s·a", ylabel="d loss / d margin", title="slope")
figure.legend(loc="outside right upper")

plt.show()
