"""XOR by a cascade of logistic units: given weights, trained one by one, and jointly."""

import numpy as np

import likely as lk
from likely.teaching import Cascade

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = np.array([0, 1, 1, 0])


def show(name: str, cascade: Cascade) -> None:
    print(f"{name}: {cascade.nll(X, y):.4f} nats")
    print("  hidden features", cascade.hidden(X).round(2).tolist())
    print("  p(class 1)     ", cascade.probability(X).round(3).tolist())


def unit(features: np.ndarray, target: list[int]) -> np.ndarray:
    """The coefficients and the intercept of a separate logistic regression."""
    model = lk.LogisticRegression(l2=1e-3).fit(features, target)
    return np.append(model.coef_[0], model.intercept_)


show("given", Cascade([[20, 20], [-20, -20]], [-10, 30], coef=[20, 20], intercept=-30))

# One unit learns "or", one "not both"; the last unit learns XOR from their outputs.
either, not_both = unit(X, [0, 1, 1, 1]), unit(X, [1, 1, 1, 0])
first = np.array([either, not_both])
hidden = Cascade(first[:, :2], first[:, 2], coef=np.zeros(2), intercept=0.0).hidden(X)
last = unit(hidden, y.tolist())
show("one by one", Cascade(first[:, :2], first[:, 2], coef=last[:2], intercept=last[2]))

# Trained jointly, the hidden units have no targets of their own, and some end in poor optima.
fits = [Cascade.fit_jointly(X, y, seed=seed) for seed in range(10)]
losses = [fit.nll(X, y) for fit in fits]
print("trained jointly, ten starts:", np.round(losses, 2).tolist())
show("the best of them", fits[int(np.argmin(losses))])
