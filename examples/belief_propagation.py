"""Belief propagation on the board: the messages of the lectures, checked in three other ways."""

import numpy as np

import likely as lk

network = lk.examples.five_variables()
given = {"x4": 1}

messages = network.messages("x3", given)
print(messages)
print(
    f"P(x3 | x4 = 1) = {messages.beliefs()['x3']}, P(x4 = 1) = {np.exp(messages.log_partition):.3f}"
)

print(lk.graphical.eliminate(network, "x3", given, order=["x5", "x2", "x1"]))
for method in ("tree", "junction-tree", "elimination", "enumeration"):
    print(f"{method:>13}: {network.query('x3', given, method=method).marginal('x3')}")

best = network.messages(given=given, semiring="max-sum").most_probable()
print(f"the most probable states, followed back: {best.states}, score {np.exp(best.log_score):.5f}")

# Four variables on a cycle have no such messages; their junction tree has two cliques.
field = lk.examples.four_cycle()
print(field.junction_tree())
print(field.query())
