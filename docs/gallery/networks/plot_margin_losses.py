"""
Surrogates for the zero-one loss
================================

The derivative of the zero-one loss is 0 almost everywhere, so an upper bound of it, as a
function of the margin, is minimised instead. The logistic loss is an upper bound only after
division by ln 2 = 0.693; without it (dotted) it is below 1 for margins between −0.54 and 0, which
are errors (shaded). The squared error of the sigmoid is not an upper bound, and it is flat where
the margin is worst.
"""

import matplotlib.pyplot as plt

from likely.teaching import plot_margin_losses

plot_margin_losses()
plt.show()
