"""A hidden Markov model: the calm and the volatile weeks of two series, and of a new one."""

import numpy as np

import likely as lk

emission = lk.distributions.DiagonalGaussian([[0.5], [-0.2]], [[1.0], [9.0]])
truth = lk.HiddenMarkovModel.from_parameters([1, 0], [[0.97, 0.03], [0.1, 0.9]], emission)
lengths = [170, 120]  # two series, one after the other
X, state = truth.sample(lengths, random_state=0)

model = lk.HiddenMarkovModel(n_states=2, random_state=0).fit(X, lengths=lengths)
print(model.describe())

calm, volatile = model.parameters(0)["variance"].argsort()
agreement = np.mean((model.predict(X, lengths) == volatile) == (state == 1))
print(f"\nstates found: {agreement:.0%}")

new, _ = truth.sample(50, random_state=1)
print(f"log-likelihood of a new series, per row: {model.score(new):.2f}")
print(f"in its last row, p(volatile) = {model.predict_proba(new)[-1, volatile]:.2f}")
