"""Naive Bayes on a table with numbers, text, Booleans, counts and missing cells."""

import numpy as np
import pyarrow as pa

import likely as lk

rng = np.random.default_rng(0)
n = 1000
ill = rng.random(n) < 0.3
table = pa.table(
    {
        "age": pa.array(rng.normal(np.where(ill, 62, 48), 9), mask=rng.random(n) < 0.1),
        "city": np.where(rng.random(n) < np.where(ill, 0.7, 0.4), "Bonn", "Ulm"),
        "smoker": rng.random(n) < np.where(ill, 0.5, 0.2),
        "visits": rng.poisson(np.where(ill, 5, 2)),
    }
)
label = np.where(ill, "ill", "well")

# The types of the columns determine the event models; only the counts must be declared.
model = lk.NaiveBayes(event={"visits": "poisson"}).fit(table[:800], label[:800])

probability = model.predict_proba(table[800:])
truth = label[800:, None] == model.classes_
log_loss = -np.log(probability[truth]).mean()
share = model.class_count_ / model.class_count_.sum()
constant = -(truth @ np.log(share)).mean()
print(f"log loss {log_loss:.3f}, baseline {constant:.3f}, on 200 held-out rows")

# The contribution of each column to the log-odds; the contributions add up.
print(model.explain(table[800:801], against="well"))
