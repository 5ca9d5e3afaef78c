"""
Texts: believable probabilities, and why
========================================

Docstrings of Python's standard library, labelled by their module; half of them are learned from.
Left: the other half in ten groups, sorted by the probability of the predicted module; a point is
the mean probability of a group and the share that was predicted correctly. Naive Bayes counts
every word as if it were independent of the others, so it is too sure of long documents; a
temperature that grows with the length corrects it. Right: what each word adds to the log-odds of
one module against another.
"""

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa

import likely as lk

rows = lk.dataset("pydoc").table
modules = np.array(rows["module"].to_pylist())
half = np.random.default_rng(0).random(len(modules)) < 0.5
train, test = rows.filter(half).select(["text"]), rows.filter(~half).select(["text"])
models = {
    "naive Bayes": lk.NaiveBayes(),
    'smoothing="auto", calibrate="length"': lk.NaiveBayes(smoothing="auto", calibrate="length"),
    "softmax regression": lk.SoftmaxRegression(),
}

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
left.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, label="perfect calibration")
for name, model in models.items():
    fitted = lk.Prepared(model).fit(train, modules[half])
    probability = fitted.predict_proba(test)
    correct = fitted.classes_[probability.argmax(axis=1)] == modules[~half]
    of_truth = probability[np.arange(len(test)), np.searchsorted(fitted.classes_, modules[~half])]
    loss = -np.log(np.maximum(of_truth, 1e-15)).mean()
    sure = probability.max(axis=1)
    parts = np.array_split(np.argsort(sure, kind="stable"), 10)
    said, found = [sure[part].mean() for part in parts], [correct[part].mean() for part in parts]
    left.plot(said, found, "o-", markersize=4, label=f"{name}: log loss {loss:.2f}")
left.set_xlabel("probability of the predicted module")
left.set_ylabel("share predicted correctly")
left.legend(loc="lower right", fontsize="small")

best = lk.Prepared(lk.NaiveBayes(smoothing="auto", calibrate="length")).fit(train, modules[half])
text = "Send the message to the handlers of this logger and of its parents, in one thread"
why = best.explain(pa.table({"text": [text]}), "threading")
words = [name.removeprefix("text: ") for name in why.names]
adds = why.contributions[0, :, list(why.groups).index("logging")]
order = np.argsort(adds)
colours = np.where(adds[order] > 0, "tab:blue", "tab:red")
right.barh([words[j] for j in order], adds[order], color=colours)
right.axvline(0, color="0.3", linewidth=0.8)
right.set_xlabel("log-odds of logging against threading (nats)")
right.set_title("“Send the message to the handlers of this logger …”", fontsize="medium")

plt.show()
