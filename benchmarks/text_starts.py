"""Steps of linear models of words from the constant model, and from naive Bayes.

    python -m benchmarks.text_starts FOLDER [--corpora NAME …]

FOLDER holds the files of ``benchmarks.text_quality``.  Naive Bayes starts as it is, and with its
evidence divided by its temperature at the mean length of a document.
"""

import argparse
import time
import warnings
from pathlib import Path

import likely as lk
from benchmarks.text_quality import documents

CORPORA = ("sms", "20news")


def steps(folder: Path, corpus: str, l2: float = 1.0) -> None:
    """Print how one model is fitted from each start."""
    given, words = documents(folder, corpus), lk.BagOfWords(min_df=2)
    X = words.fit_transform(given.train)
    bayes = lk.NaiveBayes("multinomial", smoothing="auto", calibrate="length").fit(X, given.y)
    form, prior = bayes.logistic_form(), bayes.class_log_prior_
    length = float(X.sum(axis=1).mean())
    beta = 1 / (bayes.temperature_ * (1 + bayes.length_rate_ * length))
    cooled = form._replace(coef=beta * form.coef, intercept=prior + beta * (form.intercept - prior))
    kind = lk.LogisticRegression if len(bayes.classes_) == 2 else lk.SoftmaxRegression
    for name, start in (("constant", None), ("naive Bayes", form), ("cooled", cooled)):
        began = time.process_time()
        found = kind(l2=l2, start=start).fit(X, given.y).solution_
        print(
            f"{corpus:8}{name:14}{found.n_iter:6} steps{time.process_time() - began:8.1f} s, "
            f"objective {found.trace[0]:.6g} to {found.trace[-1]:.6g}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--corpora", nargs="*", default=CORPORA, choices=CORPORA)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for corpus in given.corpora:
        steps(given.folder, corpus)


if __name__ == "__main__":
    main()
