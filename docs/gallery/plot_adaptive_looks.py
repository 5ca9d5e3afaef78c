"""
What 400 evaluations on a test set can do
=========================================

Labels are 1,000 coin flips, so that no classifier is better than one half.  An analyst asks a
judge about one random classifier after another, turns each to the side on which it seemed to be
right, and lets them vote.  The plain judge shows every score, and the vote learns the test set by
heart.  The ladder shows only gains of a step.  Thresholdout repeats the score on other rows while
the two agree; the vote learns those rows instead, and is found out.
"""

import matplotlib.pyplot as plt
import numpy as np

from likely.sealing.judges import JUDGES, Evidence

ROWS, EVALUATIONS, CHANCE = 1000, 400, 0.5
rng = np.random.default_rng(0)
sealed, training = rng.integers(0, 2, (2, ROWS))
guesses = rng.integers(0, 2, (EVALUATIONS, 2, ROWS))


def shown(judge, guess, best, number):
    losses = (guess[0] != sealed).astype(float)
    if JUDGES[judge] is None:  # plain
        return losses.mean()
    on_training = float(np.mean(guess[1] != training))
    noise = np.random.default_rng([1, number])
    return JUDGES[judge].rule(Evidence(losses, CHANCE, on_training, best, 0.95, noise)).value


def apparent_error(judge):
    """The error of the vote that the judge shows after each evaluation."""
    best, votes, errors = None, np.zeros((2, ROWS)), []
    for number, guess in enumerate(guesses):
        value = shown(judge, guess, best, number)
        hurdle = best if judge == "ladder" and best is not None else CHANCE
        votes += (1 if value < hurdle else -1) * (2 * guess - 1)
        best = value if best is None else min(best, value)
        errors.append(shown(judge, (votes > 0).astype(int), best, EVALUATIONS + number))
    return errors


figure, axis = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
axis.axhline(CHANCE, color="0.2", linestyle="--", linewidth=1, label="the truth", zorder=3)
for judge in JUDGES:
    axis.plot(range(1, EVALUATIONS + 1), apparent_error(judge), linewidth=1.2, label=judge)
axis.set_xlabel("evaluations on the test set")
axis.set_ylabel("error of the vote, as the judge shows it")
axis.set_ylim(0.25, 0.6)
axis.legend(loc="lower left")

plt.show()
