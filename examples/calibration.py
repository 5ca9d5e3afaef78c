"""Scores as probabilities: three calibrations of an overconfident classifier."""

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import likely as lk

split = train_test_split(*load_breast_cancer(return_X_y=True), test_size=0.5, random_state=0)
X, held, y, held_y = split
bayes = lk.NaiveBayes()
models = {
    "not calibrated": bayes,
    "Platt": lk.PlattScaling(bayes),
    "temperature": lk.TemperatureScaling(bayes),
    "isotonic": lk.IsotonicScaling(bayes),
    "logistic regression": lk.LogisticRegression(),
}
for name, model in models.items():
    proba = model.fit(X, y).predict_proba(held)
    right = (model.predict(held) == held_y).mean()
    print(f"{name:>19}: held-out log loss {log_loss(held_y, proba):.3f}, accuracy {right:.3f}")
