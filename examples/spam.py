"""Sort documents into classes: words in, believable probabilities out, with reasons.

Without an argument, docstrings of Python's standard library are sorted by module.  For your own
documents, give a file (or a folder for each class), the column of text and the column of labels:

    python examples/spam.py messages.csv message label
"""

import sys

import numpy as np

import likely as lk

path, text, label = sys.argv[1:4] if len(sys.argv) == 4 else ("pydoc", "text", "module")
documents = lk.dataset(path, label, text=[text] if path != "pydoc" else [])
print(lk.look(documents))

table = documents.table
labels = np.array(table[label].to_pylist())
held_out = np.arange(len(labels)) % 4 == 0  # a quarter is kept for the score
train, test = table.select([text]).filter(~held_out), table.select([text]).filter(held_out)

model = lk.Prepared(lk.NaiveBayes(smoothing="auto", calibrate="length"))
model.fit(train, labels[~held_out])
probability = model.predict_proba(test)
known = np.searchsorted(model.classes_, labels[held_out])
log_loss = -np.log(probability[np.arange(len(known)), known]).mean()
shares = np.array([np.mean(labels[~held_out] == each) for each in model.classes_])
baseline = -np.log(shares[known]).mean()
print(
    f"\n{len(known):,} documents held out: accuracy {model.score(test, labels[held_out]):.3f}, "
    f"log loss {log_loss:.3f}; the best constant has {baseline:.3f}."
)

least_sure = int(probability.max(axis=1).argmin())
one = test.slice(least_sure, 1)
second, first = np.argsort(probability[least_sure])[-2:]
shares = f"{probability[least_sure, first]:.2f}, {probability[least_sure, second]:.2f}"
print(f"\nThe least sure: {one[text][0].as_py()[:150]!r}")
print(f"{model.classes_[first]} or {model.classes_[second]} ({shares})? By words, in nats:")
why = model.explain(one, model.classes_[second])
words = sorted(
    zip(why.contributions[0, :, first], why.names, strict=True), key=lambda each: -abs(each[0])
)
for adds, word in words[:8]:
    print(f"  {adds:+.2f}  {word}")
