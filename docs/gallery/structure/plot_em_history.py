"""
EM from several starts
======================

The penalised log-likelihood of eight random starts of a mixture of six Gaussians, step by step.
It never decreases. Some starts approach a worse optimum; only the best one is continued to
convergence.
"""

import matplotlib.pyplot as plt
import numpy as np

import likely as lk

rng = np.random.default_rng(3)
centres = rng.uniform(-6, 6, (6, 2))
X = np.concatenate([rng.normal(centre, 0.9, (150, 2)) for centre in centres])
model = lk.GaussianMixture(n_components=6, n_init=8, random_state=0).fit(X)

best = max(trace[-1] for trace in model.log_likelihood_traces_)
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for trace in model.log_likelihood_traces_:
    assert (np.diff(trace) >= -1e-9).all()
    kept = trace[-1] == best
    color = "C0" if kept else "0.65"
    axis.plot(trace, color=color, zorder=2 + kept, label="the best" if kept else None)
    axis.plot(len(trace) - 1, trace[-1], "o", color=color, markersize=4, zorder=2 + kept)
axis.set_xscale("symlog", linthresh=10)
axis.set_xlabel("step of EM")
axis.set_ylabel("penalised log-likelihood, nats")
axis.legend(loc="lower right")

plt.show()
