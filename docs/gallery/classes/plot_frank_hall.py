"""
Four ordered grades from three binary classifiers
=================================================

Frank and Hall's reduction for ordered grades, with one column. Above: P(grade > j | x),
estimated by one binary classifier for each j. Below: their differences, the probabilities of the
grades. The logistic regressions do not cross here, although nothing prevents it. The trees cross
in several places (grey), and the differences that would be negative are set to 0.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import likely as lk

rng = np.random.default_rng(3)
grades = ["poor", "fair", "good", "fine"]
x = rng.uniform(-3, 3, 400)[:, None]
y = np.array(grades)[np.digitize(2 * x[:, 0] + rng.logistic(size=400), [-3.0, 0.0, 3.0])]
line = np.linspace(-3, 3, 600)[:, None]

bases = {
    "logistic regression": LogisticRegression(),
    "tree of depth 3": DecisionTreeClassifier(max_depth=3),
}
figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True, layout="constrained")
for (name, base), (above, below) in zip(bases.items(), axes.T, strict=True):
    model = lk.FrankHall(base, order=grades).fit(x, y)
    for grade, cut in zip(grades, model.estimators_, strict=False):
        above.plot(line, cut.predict_proba(line)[:, 1], label=f"above {grade}")
    for row in model.crossings(line):
        above.axvspan(line[row, 0] - 0.005, line[row, 0] + 0.005, color="0.85", linewidth=0)
    for grade, probability in zip(grades, model.predict_proba(line).T, strict=True):
        below.plot(line, probability, label=grade)
    above.set_title(name, loc="left")
    below.set_xlabel("x")
axes[0, 0].set_ylabel("P(grade > j | x)")
axes[0, 0].legend(loc="upper left")
axes[1, 0].set_ylabel("P(grade | x)")
axes[1, 0].legend(loc="center left")

plt.show()
