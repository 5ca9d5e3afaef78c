"""
What 400 evaluations of a test set can do
=========================================

The labels are 1,000 coin flips, so the true error of every classifier is one half. An analyst
evaluates one random classifier after another, negates those that seem worse than chance, and
lets all of them vote. The judge is the rule that decides what each evaluation reports. ``plain``
reports every score, and the vote overfits the test set. ``ladder`` reports only improvements of
at least one step. ``thresholdout`` reports the score on the training rows as long as the two
scores agree; the vote then overfits the training rows, and the disagreement reveals it.
"""

import matplotlib.pyplot as plt
import numpy as np

from likely.sealing.judges import JUDGES, LossEvidence

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
    return JUDGES[judge].rule(LossEvidence(losses, CHANCE, on_training, best, 0.95, noise)).value


def apparent_error(judge):
    """The error of the vote that the judge reports after each evaluation."""
    best, votes, errors = None, np.zeros((2, ROWS)), []
    for number, guess in enumerate(guesses):
        value = shown(judge, guess, best, number)
        hurdle = best if judge == "ladder" and best is not None else CHANCE
        votes += (1 if value < hurdle else -1) * (2 * guess - 1)
        best = value if best is None else min(best, value)
        errors.append(shown(judge, (votes > 0).astype(int), best, EVALUATIONS + number))
    return errors


figure, axis = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
axis.axhline(CHANCE, color="0.2", linestyle="--", linewidth=1, label="true error", zorder=3)
for judge in JUDGES:
    axis.plot(range(1, EVALUATIONS + 1), apparent_error(judge), linewidth=1.2, label=judge)
axis.set_xlabel("evaluations of the test set")
axis.set_ylabel("reported error of the vote")
axis.set_ylim(0.25, 0.6)
axis.legend(loc="lower left")

plt.show()
