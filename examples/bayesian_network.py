"""A Bayesian network: from tables to beliefs, for one case and for a table, and back from data."""

import pandas as pd

import likely as lk

alarm = lk.BayesianNetwork.from_tables(
    {"burglary": ["no", "yes"], "earthquake": ["no", "yes"], "alarm": ["off", "on"]},
    {
        "burglary": [0.99, 0.01],
        "earthquake": [0.98, 0.02],
        "alarm": [[[0.999, 0.001], [0.71, 0.29]], [[0.06, 0.94], [0.05, 0.95]]],
    },
    {"alarm": ["burglary", "earthquake"]},
)
print(alarm.query("burglary", {"alarm": "on"}))
told = alarm.query("burglary", {"alarm": "on", "earthquake": "yes"})["burglary"]["yes"]
print(f"after news of an earthquake: {told:.3f}")
print(alarm.most_probable({"alarm": "on"}))

nights = pd.DataFrame({"alarm": ["on", "off", None], "earthquake": [None, "no", "yes"]})
print(alarm.query("burglary", nights).to_frame())

rows = alarm.sample(50_000, random_state=0, library="pandas")
rows.loc[::3, "earthquake"] = None  # not recorded
learned = lk.BayesianNetwork.from_edges(alarm.edges, {v.name: v.states for v in alarm.variables})
learned = learned.fit(rows)
print(learned.fit_report)
print("P(earthquake):", learned.tables["earthquake"].table.round(4))
