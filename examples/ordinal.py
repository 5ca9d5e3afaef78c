"""Ordered grades: one predictor and four thresholds, compared with more flexible models."""

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import likely as lk

rng = np.random.default_rng(0)
n = 2000
table = pd.DataFrame(
    {
        "hours": rng.gamma(4, 2, n).round(1),
        "attended": rng.uniform(0, 1, n).round(2),
        "course": rng.choice(["day", "evening"], n),
    }
)
latent = 0.35 * table["hours"] + 1.5 * table["attended"] + rng.logistic(size=n)
grades = ["fail", "pass", "fair", "good", "excellent"]
y = np.array(grades)[np.searchsorted([2.0, 3.0, 4.0, 5.5], latent)]

seen, held, y_seen, y_held = train_test_split(table, y, train_size=100, random_state=0)
models = {
    "OrdinalRegression": lk.OrdinalRegression(order=grades),
    "FrankHall": lk.FrankHall(lk.LogisticRegression(), order=grades),
    "SoftmaxRegression": lk.SoftmaxRegression(),
}
for name, model in models.items():
    model.fit(seen, y_seen)
    loss = log_loss(y_held, model.predict_proba(held)[:, np.argsort(model.classes_)])
    print(f"{name:>17}: held-out log loss {loss:.3f}")

ordinal = lk.OrdinalRegression(order=grades, l2=0.0).fit(seen, y_seen)
print(ordinal.summary())
student = pd.DataFrame({"hours": [4.0, 12.0], "attended": [0.5, 0.9], "course": ["day", "day"]})
print(
    "grades:", ordinal.predict(student), "expected ranks:", ordinal.expected_rank(student).round(2)
)
print("P(above each grade except the last):")
print(ordinal.survival(student).round(2))
